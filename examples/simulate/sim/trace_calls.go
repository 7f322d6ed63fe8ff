package sim

import (
	"fmt"
	"strconv"
	"time"
)

// ask is what is asked, and when: gap is the time to the one before, over the mean.
type ask struct {
	gap            float64
	prompt, output int
}

// asks are the calls of a file, in its order.
func (t *table) asks(when, prompt, output string, parse func(string) (time.Duration, error)) ([]ask, error) {
	var list []ask
	var before, first time.Duration
	for i, row := range t.rows {
		at, err := parse(t.cell(row, when))
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		in, err := strconv.Atoi(t.cell(row, prompt))
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		out, err := strconv.Atoi(t.cell(row, output))
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		if i == 0 {
			first, before = at, at
		}
		list = append(list, ask{max(0, (at - before).Seconds()), in, out})
		before = max(before, at)
	}
	mean := (before - first).Seconds() / float64(len(list))
	if mean <= 0 {
		return nil, fmt.Errorf("all calls come at once")
	}
	for i := range list {
		list[i].gap /= mean
	}
	return list, nil
}

func azureTime(s string) (time.Duration, error) {
	t, err := time.Parse("2006-01-02 15:04:05.999999999", s)
	return t.Sub(time.Unix(0, 0)), err
}

func mooncakeTime(s string) (time.Duration, error) {
	n, err := strconv.ParseFloat(s, 64)
	return time.Duration(n * float64(ms)), err
}

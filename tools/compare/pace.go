package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// measurePace is when the first piece of an answer reaches the application, where the
// server takes its time.
func measurePace(s *server, p plan) ([]table, error) {
	const concurrent = 32
	t := table{
		title: fmt.Sprintf("First content at the application, ms; the server sends it after %d ms and the rest %d ms apart, %d at once",
			pacedFirst.Milliseconds(), pacedNext.Milliseconds(), concurrent),
		command: "pace", head: []string{"client", "p50", "p99", "p50 more than openai-go", "p99 more"},
	}
	all, err := inRounds(s, paced, p.rounds, clients(), func(name string, call caller) (times, error) {
		progress("pace: %s", name)
		return firsts(call, concurrent, p.paced)
	})
	if err != nil {
		return nil, err
	}
	at := func(i int, q float64) float64 {
		var of []float64
		for _, ts := range all[i] {
			of = append(of, ts.at(q))
		}
		return median(of)
	}
	for i, subject := range clients() {
		p50, p99 := at(i, 0.5), at(i, 0.99)
		t.add(subject.name, fmt.Sprintf("%.2f", p50), fmt.Sprintf("%.2f", p99),
			fmt.Sprintf("%+.2f", p50-at(0, 0.5)), fmt.Sprintf("%+.2f", p99-at(0, 0.99)))
	}
	return []table{t}, nil
}

// times are sorted, in ms.
type times []float64

func (t times) at(q float64) float64 { return t[min(len(t)-1, int(q*float64(len(t))))] }

// firsts makes calls and returns the times to their first content.
func firsts(call caller, concurrent, calls int) (times, error) {
	if err := repeat(call, concurrent, 2*concurrent); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var all times
	timed := func(ctx context.Context, _ func()) error {
		start, first := time.Now(), time.Duration(0)
		err := call(ctx, func() {
			if first == 0 {
				first = time.Since(start)
			}
		})
		mu.Lock()
		defer mu.Unlock()
		all = append(all, float64(first.Microseconds())/1000)
		return err
	}
	err := repeat(timed, concurrent, calls)
	slices.Sort(all)
	return all, err
}

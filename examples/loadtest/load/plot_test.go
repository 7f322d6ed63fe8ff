package load

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/chart"
)

// No two intervals of a load lie on one another, where they would look like one.
func TestBarsStandSideBySide(t *testing.T) {
	const ms = Span(time.Millisecond)
	var r Report
	for _, name := range []string{"near", "far"} {
		s := Series{Subject: name, Load: Load{Concurrency: 4}}
		f := Figure{Metric: "TTFT"}
		for i, p := range []float64{50, 95, 99} {
			at := Span(i+1) * 10 * ms
			f.Quantiles = append(f.Quantiles, Quantile{Percentile: p, Known: true, Value: at, Low: at - 5*ms, High: at + 5*ms})
		}
		s.Figures = []Figure{f}
		r.Series = append(r.Series, s)
		r.Setup.Subjects = append(r.Setup.Subjects, SubjectInfo{Subject: name})
	}
	_, bars := r.growth(metrics[0])
	places := make(map[float64]bool)
	for _, b := range bars {
		places[b.beside] = true
	}
	if len(bars) != 6 || len(places) != 6 {
		t.Errorf("%d bars at %d places, want 6 at 6", len(bars), len(places))
	}
}

// What never came keeps the curve up to the edge of the picture.
func TestWaiting(t *testing.T) {
	const ms = Span(time.Millisecond)
	x := chart.Axis{Low: 0.9, High: 11}
	for _, c := range []struct {
		values []Span
		want   [][2]float64
	}{
		{[]Span{1 * ms, 2 * ms}, [][2]float64{{1, 1}, {2, 0.5}}},
		{[]Span{1 * ms, 2 * ms, Never, Never}, [][2]float64{{1, 1}, {2, 0.75}, {2, 0.5}, {11, 0.5}}},
		{[]Span{Never, Never}, [][2]float64{{0.9, 1}, {11, 1}}},
		{nil, nil},
	} {
		if diff := cmp.Diff(c.want, waiting(c.values, 0.005, x)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.values, diff)
		}
	}
}

package load

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/chart"
)

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

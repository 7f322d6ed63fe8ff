package load

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestArrivals(t *testing.T) {
	const n, rate = 20_000, 50.0
	times := Arrivals(n, rate, 7)
	if diff := cmp.Diff(times, Arrivals(n, rate, 7)); diff != "" {
		t.Errorf("the same seed gives other times: %s", diff)
	}
	if slices.Equal(times, Arrivals(n, rate, 8)) {
		t.Error("another seed gives the same times")
	}
	if !slices.IsSorted(times) {
		t.Error("a call arrives before the one before it")
	}
	// Gaps of a Poisson process have mean and standard deviation 1/rate, and a share
	// 1-1/e of them is shorter than that; the mean is off by 1/sqrt(n) or so.
	gaps := make([]float64, n)
	before, sum, short := time.Duration(0), 0.0, 0
	for i, at := range times {
		gaps[i] = (at - before).Seconds()
		if sum += gaps[i]; gaps[i] < 1/rate {
			short++
		}
		before = at
	}
	mean, squares := sum/n, 0.0
	for _, g := range gaps {
		squares += (g - mean) * (g - mean)
	}
	deviation := math.Sqrt(squares / (n - 1))
	for _, tt := range []struct {
		name            string
		got, want, slip float64
	}{
		{"mean", mean, 1 / rate, 0.03 / rate},
		{"standard deviation", deviation, 1 / rate, 0.05 / rate},
		{"share below the mean", float64(short) / n, 1 - 1/math.E, 0.015},
	} {
		if math.Abs(tt.got-tt.want) > tt.slip {
			t.Errorf("%s of the gaps: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	// How many arrive in a second is Poisson: variance and mean are the same.
	counts := make([]float64, int(times[n-1].Seconds()))
	for _, at := range times {
		if s := int(at.Seconds()); s < len(counts) {
			counts[s]++
		}
	}
	average, spread := 0.0, 0.0
	for _, c := range counts {
		average += c / float64(len(counts))
	}
	for _, c := range counts {
		spread += (c - average) * (c - average) / float64(len(counts)-1)
	}
	if ratio := spread / average; ratio < 0.75 || ratio > 1.3 {
		t.Errorf("the number in a second has variance %.1f and mean %.1f", spread, average)
	}
}

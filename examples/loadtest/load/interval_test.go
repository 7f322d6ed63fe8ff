package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Against the sum itself.
func TestAtLeast(t *testing.T) {
	for _, tt := range []struct {
		n, k int
		p    float64
		want float64
	}{
		{10, 0, 0.5, 1},
		{10, 11, 0.5, 0},
		{2, 1, 0.5, 0.75},
		{10, 10, 0.9, 0.3486784401}, // 0.9^10
		{10, 9, 0.9, 0.7360989291},  // and 10 * 0.1 * 0.9^9 more
		{3, 2, 0.2, 0.104},          // 3*0.04*0.8 + 0.008
	} {
		if got := atLeast(tt.n, tt.k, tt.p); math.Abs(got-tt.want) > 1e-10 {
			t.Errorf("P(Bin(%d, %v) >= %d) = %v, want %v", tt.n, tt.p, tt.k, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n, p := rapid.IntRange(1, 60).Draw(t, "n"), rapid.Float64Range(0.01, 0.99).Draw(t, "p")
		k := rapid.IntRange(0, n).Draw(t, "k")
		sum := 0.0
		for i := k; i <= n; i++ {
			sum += math.Exp(-logBeta(float64(i+1), float64(n-i+1))-math.Log(float64(n+1))) *
				math.Pow(p, float64(i)) * math.Pow(1-p, float64(n-i))
		}
		if got := atLeast(n, k, p); math.Abs(got-sum) > 1e-9 {
			t.Errorf("P(Bin(%d, %v) >= %d) = %v, want %v", n, p, k, got, sum)
		}
	})
}

// The ranks that tables have, and the least samples that have an interval: 0.95^59 < 5%
// and 0.99^299 < 5%, 0.5^5 is more than 2.5% a side.
func TestRanks(t *testing.T) {
	type result struct {
		low, high int
		ok        bool
	}
	for _, tt := range []struct {
		n    int
		q    float64
		want result
	}{
		{100, 0.5, result{40, 61, true}}, // Hahn and Meeker's example has the same
		{20, 0.5, result{6, 15, true}},
		{5, 0.5, result{}},
		{6, 0.5, result{1, 6, true}},
		{58, 0.95, result{}},
		{298, 0.99, result{}},
		{0, 0.5, result{}},
	} {
		low, high, ok := ranks(tt.n, tt.q)
		if !ok {
			low, high = 0, 0
		}
		if diff := cmp.Diff(tt.want, result{low, high, ok}, cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("%d values, q = %v: -want +got\n%s", tt.n, tt.q, diff)
		}
	}
	for _, least := range []struct {
		n int
		q float64
	}{{59, 0.95}, {299, 0.99}} {
		if _, high, ok := ranks(least.n, least.q); !ok || high != least.n {
			t.Errorf("%d values are enough for q = %v, up to the last one: %d, %t", least.n, least.q, high, ok)
		}
	}
}

// Whatever the size, the interval has its confidence and cannot be drawn closer on a side
// by one without that side losing its share.
func TestRanksCover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "n")
		q := rapid.SampledFrom([]float64{0.5, 0.9, 0.95, 0.99}).Draw(t, "q")
		low, high, ok := ranks(n, q)
		if !ok {
			if math.Pow(q, float64(n))+math.Pow(1-q, float64(n)) < 0.05 && n > 300 {
				t.Errorf("no interval of %d values for %v", n, q)
			}
			return
		}
		if cover := atLeast(n, low, q) - atLeast(n, high, q); cover < Confidence-1e-9 {
			t.Errorf("%d to %d of %d hold %v with %v", low, high, n, q, cover)
		}
		if at := rank(n, q); low > at || high < at {
			t.Errorf("%d to %d of %d does not hold the value, %d", low, high, n, at)
		}
	})
}

// In samples from a distribution with stragglers the intervals contain its own quantile as
// often as they say, whatever the shape.
func TestCoverage(t *testing.T) {
	const samples, size = 2000, 400
	luck := rand.New(rand.NewPCG(1, 2))
	draw := func() Span { return Span(math.Exp(luck.NormFloat64()) * float64(100*time.Millisecond)) }
	// Quantiles of exp(z): z is 0, 1.28155, 1.64485 and 2.32635.
	truth := [...]float64{1, 3.60222, 5.18024, 10.24047}
	var hit [len(Percentiles)]int
	for range samples {
		values := make([]Span, size)
		for i := range values {
			values[i] = draw()
		}
		for i, q := range Quantiles(values) {
			want := Span(truth[i] * float64(100*time.Millisecond))
			if q.Low <= want && want <= q.High {
				hit[i]++
			}
		}
	}
	for i, n := range hit {
		// At least 95%, and not much more: 1.5% is three standard deviations.
		if share := float64(n) / samples; share < 0.935 || share > 0.985 {
			t.Errorf("p%v was inside %.1f%% of the intervals", Percentiles[i], 100*share)
		}
	}
}

func TestQuantilesOfFew(t *testing.T) {
	values := make([]Span, 100)
	for i := range values {
		values[i] = Span(time.Duration(i+1) * time.Millisecond)
	}
	ms := func(n int) Span { return Span(time.Duration(n) * time.Millisecond) }
	want := []Quantile{
		{50, true, ms(50), ms(40), ms(61)},
		{90, true, ms(90), ms(84), ms(96)},
		{95, true, ms(95), ms(90), ms(100)},
		{Percentile: 99}, // 0.99^100 = 37% of such samples lie below it altogether
	}
	if diff := cmp.Diff(want, Quantiles(values)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := Quantiles(nil); got[0].Known {
		t.Errorf("a percentile of nothing: %v", got[0])
	}
}

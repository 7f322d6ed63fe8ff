package latency_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ontime-llm/ontime/internal/latency"
	"pgregory.net/rapid"
)

// An observation: n that ended after v, or were censored there.
type observation struct {
	v        float64
	n        float64
	censored bool
}

func counts(observations ...observation) *latency.Counts {
	c := latency.NewCounts(1)
	for _, o := range observations {
		if o.censored {
			c.Censor(o.v, o.n)
		} else {
			c.Record(o.v, o.n)
		}
	}
	return c
}

// The values are powers of two, upper bounds of their buckets, so that what is
// computed by hand on them is exact.
func TestKaplanMeier(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name      string
		counts    *latency.Counts
		survival  map[float64]float64
		quantiles map[float64]float64
		n         float64
	}{
		{
			name:      "nothing known",
			counts:    counts(),
			survival:  map[float64]float64{-1: 1, 0: 1, 1: 1, 1e9: 1, inf: 1},
			quantiles: map[float64]float64{0: 0, 0.001: inf, 1: inf},
		},
		{
			name:      "no unit either",
			counts:    &latency.Counts{},
			survival:  map[float64]float64{0: 1, 1e-300: 1, 1: 1, inf: 1},
			quantiles: map[float64]float64{0: 0, 1e-15: inf, 1: inf},
		},
		{
			name:      "all ended",
			counts:    counts(observation{v: 2, n: 3}, observation{v: 4, n: 1}),
			survival:  map[float64]float64{1: 1, 2: 0.25, 3: 0.25, 4: 0, 1e9: 0, inf: 0, math.NaN(): 1},
			quantiles: map[float64]float64{0: 0, 0.75: 2, 1: 4, math.NaN(): 0},
			n:         4,
		},
		{
			// In floats 0.9*(1 - 1/9) is a little above 0.8, but a fifth must not slip to
			// the next occupied bucket.
			name:      "share met exactly",
			counts:    counts(observation{v: 2, n: 1}, observation{v: 4, n: 1}, observation{v: 4096, n: 8}),
			quantiles: map[float64]float64{0.1: 2, 0.2: 4, 1: 4096},
			n:         10,
		},
		{
			// Half is met within the rounding at 4, by a bucket narrower than that.
			name:      "next to nothing in a bucket",
			counts:    counts(observation{v: 2, n: 0.499999999}, observation{v: 4, n: 8e-10}, observation{v: 4096, n: 0.5000000002}),
			quantiles: map[float64]float64{0.5: 4},
			n:         1,
		},
		{
			name: "censored ones were at risk until they left",
			counts: counts(
				observation{v: 2, n: 1}, // of 4, 1 ends: S = 3/4
				observation{v: 2, n: 1, censored: true},
				observation{v: 4, n: 1}, // of 2, 1 ends: S = 3/8
				observation{v: 8, n: 1, censored: true},
			),
			survival:  map[float64]float64{1: 1, 2: 0.75, 3: 0.75, 4: 0.375, 8: 0.375, 1e9: 0.375, inf: 0.375},
			quantiles: map[float64]float64{0.25: 2, 0.625: 4, 0.63: inf, 1: inf},
			n:         2,
		},
		{
			// Nine quick answers, and one that hangs since 1024: left out, all would
			// seem to end by 2.
			name:      "a hang",
			counts:    counts(observation{v: 2, n: 9}, observation{v: 1024, n: 1, censored: true}),
			survival:  map[float64]float64{2: 0.1, 4096: 0.1},
			quantiles: map[float64]float64{0.9: 2, 0.95: inf},
			n:         9,
		},
		{
			name:      "only hangs",
			counts:    counts(observation{v: 1024, n: 5, censored: true}),
			survival:  map[float64]float64{2: 1, 4096: 1},
			quantiles: map[float64]float64{0.5: inf},
		},
		{
			name:      "fractions of an observation",
			counts:    counts(observation{v: 2, n: 0.25}, observation{v: 8, n: 0.25, censored: true}, observation{v: 16, n: 0.5}),
			survival:  map[float64]float64{2: 0.75, 8: 0.75, 16: 0},
			quantiles: map[float64]float64{0.25: 2, 1: 16},
			n:         0.75,
		},
		{
			// The last bucket begins at 2^(319/16) = 1004134.4, and has no end.
			name:      "beyond the last bound",
			counts:    counts(observation{v: 2, n: 1}, observation{v: 1e7, n: 1}, observation{v: inf, n: 2}),
			survival:  map[float64]float64{2: 0.75, 1004135: 0.75, 1e9: 0.75, inf: 0.75},
			quantiles: map[float64]float64{0.25: 2, 0.3: inf},
			n:         4,
		},
		{
			// Bucket 0 reaches from 0 to 2^(1/16).
			name:      "first bucket",
			counts:    counts(observation{v: 0, n: 1}, observation{v: -5, n: 1}),
			survival:  map[float64]float64{0: 1, 0x1p-4 * 1.0442737824274138: 1 - 0x1p-4, 1.0442737824274138: 0},
			quantiles: map[float64]float64{0.5: 0.5 * 1.0442737824274138, 1: 1.0442737824274138},
			n:         2,
		},
		{
			// Half way through the bucket between 2^(31/16) and 4, half have ended.
			name:      "inside a bucket",
			counts:    counts(observation{v: 4, n: 1}),
			survival:  map[float64]float64{3.8304131227942945: 1, (3.8304131227942945 + 4) / 2: 0.5},
			quantiles: map[float64]float64{0.5: (3.8304131227942945 + 4) / 2},
			n:         1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.counts.Dist()
			for v, want := range c.survival {
				if got := d.Survival(v); !cmp.Equal(want, got, near) {
					t.Errorf("Survival(%v) = %v, want %v", v, got, want)
				}
			}
			for q, want := range c.quantiles {
				if got := d.Quantile(q); !cmp.Equal(want, got, near) {
					t.Errorf("Quantile(%v) = %v, want %v", q, got, want)
				}
			}
			if d.N() != c.n {
				t.Errorf("N() = %v, want %v", d.N(), c.n)
			}
		})
	}
}

var near = cmpopts.EquateApprox(1e-12, 1e-12)

func TestZeroDistKnowsNothing(t *testing.T) {
	var d latency.Dist
	if s, q, n := d.Survival(1), d.Quantile(0.5), d.N(); s != 1 || !math.IsInf(q, 1) || n != 0 {
		t.Errorf("survival %v, median %v, n %v; want 1, +Inf, 0", s, q, n)
	}
}

// raw draws observations as they might be made: log-uniform over the range and a
// little beyond, each with weight 1.
func raw(t *rapid.T, censoring bool) []observation {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) observation {
		o := observation{v: math.Exp2(rapid.Float64Range(-1, 21).Draw(t, "log2 v")), n: 1}
		o.censored = censoring && rapid.Bool().Draw(t, "censored")
		return o
	}), 1, 200).Draw(t, "observations")
}

// textbook is the Kaplan-Meier estimate of P(X > upper bound of the bucket),
// straight from the observations.
func textbook(observations []observation, bounds []float64, upTo int) float64 {
	s := 1.0
	for i := 0; i <= upTo; i++ {
		var ended, atRisk float64
		for _, o := range observations {
			if at := bucket(bounds, o.v); at >= i {
				atRisk++
				if at == i && !o.censored {
					ended++
				}
			}
		}
		if atRisk > 0 {
			s *= 1 - ended/atRisk
		}
	}
	return s
}

func TestSurvivalIsTheTextbooks(t *testing.T) {
	bounds := bounds(1)
	rapid.Check(t, func(t *rapid.T) {
		observations := raw(t, true)
		d := counts(observations...).Dist()
		i := rapid.IntRange(0, latency.Buckets-2).Draw(t, "bucket")
		if got, want := d.Survival(bounds[i+1]), textbook(observations, bounds, i); math.Abs(got-want) > 1e-9 {
			t.Fatalf("P(X > %v) = %v, want %v", bounds[i+1], got, want)
		}
	})
}

func TestQuantileIsNearTheExactOne(t *testing.T) {
	bounds := bounds(1)
	rapid.Check(t, func(t *rapid.T) {
		var values []float64
		for _, o := range raw(t, false) {
			values = append(values, o.v)
		}
		slices.Sort(values)
		rank := rapid.IntRange(0, len(values)-1).Draw(t, "rank")
		exact := values[rank]
		c := latency.NewCounts(1)
		for _, v := range values {
			c.Record(v, 1)
		}
		d := c.Dist()
		got := d.Quantile((float64(rank) + 0.5) / float64(len(values)))
		switch {
		case exact > bounds[latency.Buckets-1]:
			if !math.IsInf(got, 1) {
				t.Fatalf("quantile %v, want +Inf: %v is beyond the last bound", got, exact)
			}
		case exact <= bounds[1]: // all that is known there
			if got > bounds[1] {
				t.Fatalf("quantile %v, want at most the first bound: %v is below", got, exact)
			}
		case math.Abs(got-exact) > 2*0.0222*exact:
			t.Fatalf("quantile %v, want %v within 4.4%%", got, exact)
		}
	})
}

func TestSurvivalAndQuantileAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := counts(raw(t, true)...).Dist()
		q := rapid.Float64Range(1e-6, 1).Draw(t, "q")
		v := d.Quantile(q)
		if math.IsInf(v, 1) {
			if s := d.Survival(math.MaxFloat64); s < 1-q-1e-9 {
				t.Fatalf("no quantile of %v, though only %v is longer than anything", q, s)
			}
			return
		}
		if s := d.Survival(v); math.Abs(s-(1-q)) > 1e-8 {
			t.Fatalf("Survival(Quantile(%v)) = %v, want %v", q, s, 1-q)
		}
	})
}

func TestSurvivalNeverRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := counts(raw(t, true)...).Dist()
		v := rapid.Float64Range(0, 4e6).Draw(t, "v")
		w := v * rapid.Float64Range(1, 1.2).Draw(t, "ratio")
		if a, b := d.Survival(v), d.Survival(w); b > a+1e-15 || a > 1 || b < 0 {
			t.Fatalf("Survival(%v) = %v, Survival(%v) = %v", v, a, w, b)
		}
	})
}

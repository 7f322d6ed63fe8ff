package budget_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Where the chance of a miss stays below the allowed share less the reserve the debt is
// next to none, however long; above it the debt rises to the clip and stays there.
func TestDebtOfAStationaryChance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom([]float64{0.05, 0.2, 0.5}).Draw(t, "allowed share")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		l := totalOf(100 * (1 - e))
		sum, n := 0.0, int(500/e)
		for range n {
			enter(l, rnd.Float64() < 0.4*e)
			sum += l.Debt(0)
		}
		// Half of what makes no debt: a queue with a load of a half, which holds half a
		// miss of 0.05 on average.
		if mean := sum / float64(n); mean > 0.1 {
			t.Fatalf("%v of %v missed: mean debt %v", 0.4*e, e, mean)
		}
		// Each call adds 0.05*(1.6-0.8)*e on average, 50 in 1250/e; for a p50 that is 0.8.
		for range int(1500 / e) {
			enter(l, rnd.Float64() < 1.6*e)
		}
		if debt := l.Debt(0); debt < 48 {
			t.Fatalf("%v of %v missed: debt %v, want nearly 50", 1.6*e, e, debt)
		}
	})
}

// A controller that does with a debt what a router does, which is to go from a route
// that misses too often to one that does not once the debt is deep enough, ends up at
// four fifths of what is allowed, whatever its routes are like and however deep that is.
func TestDebtMakesAControllerKeepTheLayer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Float64Range(0.01, 0.3).Draw(t, "allowed share")
		cheap := e * rapid.Float64Range(1.2, 3).Draw(t, "cheap misses, in parts of it")
		good := e * rapid.Float64Range(0, 0.5).Draw(t, "good misses, in parts of it")
		enough := rapid.Float64Range(0.5, 5).Draw(t, "debt from which on the good one is taken")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		l := totalOf(100 * (1 - e))
		missed, calls := 0, int(1000/e)
		for range calls {
			chance := cheap
			if l.Debt(0) > enough {
				chance = good
			}
			miss := rnd.Float64() < chance
			if enter(l, miss); miss {
				missed++
			}
		}
		// The misses beyond the share are those that have made the debt, 20 for each unit
		// of it; it stays within one unit of enough but for a chance of nothing.
		share, want := float64(missed)/float64(calls), 0.8*e
		if extra := 20 * (enough + 1) / float64(calls); share < want-extra || share > want+extra {
			t.Fatalf("%v of %v allowed missed, want %v within %v", share, e, want, extra)
		}
	})
}

package budget_test

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/budget"
)

// totalOf is a ledger with one layer, p<percentile> total 1s, at index 0.
func totalOf(percentile float64) *budget.Ledger {
	return budget.NewLedger(budget.Budget{Total: budget.Layers{percentile: time.Second}})
}

// enter has one call keep or miss a limit of 1s.
func enter(l *budget.Ledger, miss bool) {
	total := time.Second
	if miss {
		total++
	}
	call := l.Tally(false)
	call.Completed(0, total)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestDebt(t *testing.T) {
	// e = 0.05: a miss adds 0.05*(1 - 0.8*0.05) = 0.048, a kept call 0.05*(-0.04) = -0.002.
	l := totalOf(95)
	for i, step := range []struct {
		miss bool
		want float64
	}{
		{false, 0}, // clipped
		{true, 0.048},
		{true, 0.096},
		{false, 0.094},
		{false, 0.092},
		{true, 0.140},
	} {
		enter(l, step.miss)
		near(t, fmt.Sprintf("debt after call %d", i+1), l.Debt(0), step.want)
	}
	near(t, "answered: debt", l.Debt(1), 0)
}

func TestDebtStepsByPercentile(t *testing.T) {
	for percentile, want := range map[float64]struct{ up, down float64 }{
		50:   {up: 0.03, down: 0.02},       // 0.05*(1-0.4), 0.05*0.4
		99:   {up: 0.0496, down: 0.0004},   // 0.05*(1-0.008), 0.05*0.008
		99.9: {up: 0.04996, down: 0.00004}, // 0.05*(1-0.0008), 0.05*0.0008
	} {
		l := totalOf(percentile)
		enter(l, true)
		near(t, "debt after a miss", l.Debt(0), want.up)
		enter(l, false)
		near(t, "debt after a kept call", l.Debt(0), want.up-want.down)
	}
}

func TestDebtIsBounded(t *testing.T) {
	// A p95 miss adds 0.048: 50 is reached by the 1,042nd (1041*0.048 = 49.968).
	l := totalOf(95)
	for range 1041 {
		enter(l, true)
	}
	if math.Abs(l.Debt(0)-49.968) > 1e-9 {
		t.Errorf("debt after 1041 misses = %v, want 49.968", l.Debt(0))
	}
	enter(l, true)
	enter(l, true)
	near(t, "debt after 1043 misses", l.Debt(0), 50)
	enter(l, false)
	near(t, "debt after a kept call", l.Debt(0), 49.998)
}

func TestStatus(t *testing.T) {
	l := budget.NewLedger(budget.Budget{
		TTFT:  budget.Layers{95: 600 * ms},
		Total: budget.Layers{50: 2 * time.Second},
	})
	// Four streamed calls and one that is not: TTFT judges 4 and misses 1 (the
	// failure), total judges 5 and misses 3, answered judges 5 and misses 1.
	for _, total := range []time.Duration{time.Second, 3 * time.Second, 3 * time.Second} {
		call := l.Tally(true)
		call.Content(500 * ms)
		call.Completed(0, total)
	}
	whole := l.Tally(false)
	whole.Completed(0, 2*time.Second)
	failed := l.Tally(true)
	failed.Failed()

	ttft := budget.Layer{Metric: budget.TTFT, Percentile: 95, Limit: 600 * ms}
	total := budget.Layer{Metric: budget.Total, Percentile: 50, Limit: 2 * time.Second}
	answered := budget.Layer{Metric: budget.Answered, Percentile: 99.9}
	want := []budget.LayerStatus{
		{Layer: ttft, Calls: 4, Missed: 1, Debt: 0.048},
		// kept 0, missed 0.03, missed 0.06, kept 0.04, missed 0.07
		{Layer: total, Calls: 5, Missed: 3, Debt: 0.07},
		{Layer: answered, Calls: 5, Missed: 1, Debt: 0.04996},
	}
	got := l.Status()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Fatalf("Status (-want +got):\n%s", diff)
	}
	near(t, "TTFT attainment", got[0].Attainment(), 0.75)
	near(t, "TTFT burn", got[0].Burn(), 5) // 0.25 / 0.05
	near(t, "total attainment", got[1].Attainment(), 0.4)
	near(t, "total burn", got[1].Burn(), 1.2)          // 0.6 / 0.5
	near(t, "answered burn/200", got[2].Burn()/200, 1) // 0.2 / 0.001
	if diff := cmp.Diff([]budget.Layer{ttft, total, answered}, l.Layers()); diff != "" {
		t.Errorf("Layers (-want +got):\n%s", diff)
	}
}

func TestStatusBeforeTheFirstCall(t *testing.T) {
	for _, s := range budget.NewLedger(budget.Budget{TTFT: budget.Layers{95: ms}}).Status() {
		if s.Attainment() != 1 || s.Burn() != 0 || s.Debt != 0 {
			t.Errorf("%v: attainment %v, burn %v, debt %v, want 1, 0, 0", s.Layer, s.Attainment(), s.Burn(), s.Debt)
		}
	}
}

func TestLayersIsACopy(t *testing.T) {
	l := totalOf(95)
	l.Layers()[0].Limit = 0
	enter(l, false)
	if s := l.Status()[0]; s.Missed != 0 || s.Limit != time.Second {
		t.Errorf("a changed copy changed the ledger: %+v", s)
	}
}

// All calls miss, so that a reader who took calls before misses would soon see
// more misses than calls.
func TestStatusWhileCallsEnter(t *testing.T) {
	const workers, each = 4, 100_000
	l := totalOf(99)
	var writers sync.WaitGroup
	for range workers {
		writers.Go(func() {
			for range each {
				enter(l, true)
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		if s := l.Status()[0]; s.Missed > s.Calls || s.Debt < 0 || s.Debt > 50 {
			t.Fatalf("inconsistent: %+v", s)
		}
	}
	if s := l.Status()[0]; s.Calls != workers*each || s.Missed != workers*each {
		t.Errorf("calls %d, missed %d, want %d of each", s.Calls, s.Missed, workers*each)
	}
}

// Far from both ends the order of calls does not matter, so that any lost
// update shows: 800 misses make 800*0.048 = 38.4, and each round of one miss
// and 24 kept calls, 0.048 - 24*0.002, leaves that as it is.
func TestDebtLosesNoUpdate(t *testing.T) {
	const workers, rounds = 4, 5000
	l := totalOf(95)
	for range 800 {
		enter(l, true)
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range rounds * 25 {
				enter(l, i%25 == 0)
			}
		})
	}
	wg.Wait()
	if got := l.Debt(0); math.Abs(got-38.4) > 1e-6 {
		t.Errorf("debt = %v, want 38.4", got)
	}
}

// The recurrence itself, on any layer and any sequence of calls.
func TestDebtFollowsItsRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		percentile := rapid.Float64Range(0.1, 99.99).Draw(t, "percentile")
		l := totalOf(percentile)
		e := 1 - percentile/100
		want := 0.0
		for _, run := range rapid.SliceOfN(rapid.IntRange(-500, 1500), 1, 20).Draw(t, "runs of misses (>0) and kept calls (<0)") {
			miss, n := run > 0, max(run, -run)
			for range n {
				enter(l, miss)
				if miss {
					want += 0.05 * (1 - 0.8*e)
				} else {
					want -= 0.05 * 0.8 * e
				}
				want = math.Min(math.Max(want, 0), 50)
			}
			got := l.Debt(0)
			if got < 0 || got > 50 || math.Abs(got-want) > 1e-6 {
				t.Fatalf("debt = %v, want %v", got, want)
			}
		}
	})
}

// spread enters n calls of which a share misses, as evenly as can be.
func spread(l *budget.Ledger, n int, share float64) {
	owed := 0.0
	for range n {
		owed += share
		enter(l, owed >= 1)
		if owed >= 1 {
			owed--
		}
	}
}

func TestDebtConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Float64Range(0.005, 0.5).Draw(t, "allowed share")
		part := rapid.Float64Range(0, 0.7).Draw(t, "missed part of it")
		l := totalOf(100 * (1 - e))
		for range rapid.IntRange(0, 30).Draw(t, "misses before") {
			enter(l, true)
		}
		// From at most 1.5, each call takes off 0.05*(0.8-part)*e on average.
		spread(l, int(l.Debt(0)/(0.05*(0.8-part)*e))+200, part*e)
		if debt := l.Debt(0); debt > 0.05 {
			t.Fatalf("debt = %v, want no more than the latest miss", debt)
		}
	})
}

func TestDebtGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := rapid.Float64Range(0.005, 0.5).Draw(t, "allowed share")
		part := rapid.Float64Range(0.9, 2).Draw(t, "missed part of it")
		n := rapid.IntRange(1, 5000).Draw(t, "calls")
		l := totalOf(100 * (1 - e))
		spread(l, n, part*e)
		// At most one miss is still owed. Clipping at 0 only adds; at 50 the calls
		// kept between two misses take off 0.04*e each, 0.07 in all.
		least := min(50-0.07, 0.05*(float64(n)*(part-0.8)*e-1))
		if debt := l.Debt(0); debt < least-1e-9 {
			t.Fatalf("debt = %v, want at least %v", debt, least)
		}
	})
}

package router_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// fleet is several replicas of a router in virtual time, over one store.
type fleet struct {
	t     *testing.T
	store *memory
}

// inFleet runs a test in virtual time. The replicas that it adds end with it.
func inFleet(t *testing.T, test func(f fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(fleet{t: t, store: new(memory)}) })
}

// add starts a replica.
func (f fleet) add(c router.Config) world {
	f.t.Helper()
	c.Shared = f.store
	r, err := router.New(c)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Share(ctx)
	}()
	f.t.Cleanup(func() { cancel(); <-ended })
	return world{r, f.t}
}

var tailBudget = budget.Budget{TTFT: budget.Layers{95: 600 * ms}}

// What one replica has seen is what another, cold, goes by: of both metrics, of answers in
// one piece, and of failures.
func TestReplicasLearnFromEachOther(t *testing.T) {
	inFleet(t, func(f fleet) {
		a := f.add(two(tailBudget))
		for range 60 {
			a.stream("a", chat, 900*ms, 30*ms)
			a.stream("b", chat, 200*ms, 10*ms)
		}
		for range 20 {
			a.whole("b", chat, 3*time.Second, 100)
		}
		time.Sleep(8 * time.Second)
		c := f.add(two(tailBudget))
		time.Sleep(2 * time.Second)
		c.always("b", chat)
		s, own := c.route("a", "m"), a.route("a", "m")
		if !near(s.TTFT.P50, own.TTFT.P50) || !near(s.TPOT.P50, own.TPOT.P50) {
			t.Errorf("c expects TTFT %v and TPOT %v of a, which was seen to take %v and %v", s.TTFT.P50, s.TPOT.P50, own.TTFT.P50, own.TPOT.P50)
		}
		s, own = c.route("b", "m"), a.route("b", "m")
		if s.Total.N < 15 || !near(s.Total.P50, own.Total.P50) {
			t.Errorf("c expects a total of %v of b, by %.1f answers; it was seen to take %v", s.Total.P50, s.Total.N, own.Total.P50)
		}
		if s.Attempts != (router.Attempts{}) {
			t.Errorf("c counts attempts of others as its own: %+v", s.Attempts)
		}
		if got := c.Snapshot().Shared; got.Lost || got.Replicas != 1 || got.Merged == 0 || got.Ignored != 0 {
			t.Errorf("c shares: %+v", got)
		}
	})
}

// Others' evidence counts half in the fast layer and in full in the slow one, and one's own
// is not counted again.
func TestSharedWeights(t *testing.T) {
	inFleet(t, func(f fleet) {
		a, b := f.add(two(tailBudget)), f.add(two(tailBudget))
		time.Sleep(time.Second)
		for range 10 {
			a.quick("a", chat, 200*ms)
		}
		time.Sleep(8 * time.Second)
		own, theirs := a.route("a", "m").TTFT.N, b.route("a", "m").TTFT.N
		// Of 15 minutes 8.6 s are over: 10 * 2^(-8.6/900) = 9.934.
		if own < 9.9 || own > 10 || theirs < 9.9 || theirs > 10 {
			t.Errorf("a rests on %.3f attempts of its own, b on %.3f of a's; want 9.934 each", own, theirs)
		}
	})
}

func TestSharedFailures(t *testing.T) {
	inFleet(t, func(f fleet) {
		a, b := f.add(two(tailBudget)), f.add(two(tailBudget))
		for range 4 {
			a.fails("a", 1)
			a.quick("a", chat, 200*ms)
		}
		time.Sleep(8 * time.Second)
		if own, theirs := a.route("a", "m").Failures, b.route("a", "m").Failures; theirs < 0.2 || theirs > own {
			t.Errorf("b expects %.2f of a's attempts to fail; the replica that has seen it %.2f", theirs, own)
		}
	})
}

// A prompt's size, and what it adds, are learned from others as well.
func TestSharedSizes(t *testing.T) {
	inFleet(t, func(f fleet) {
		a, b := f.add(two(tailBudget)), f.add(two(tailBudget))
		for _, bytes := range []int{2000, 40000} {
			req := chat
			req.PromptBytes = bytes
			for range 30 { // 2 bytes to the token; 0.1 s and 0.2 ms for each token
				fl := a.start("a", req)
				ttft := 100*ms + time.Duration(bytes/2)*200*time.Microsecond
				fl.Content(ttft)
				a.Report(router.Report{Flight: fl, Elapsed: ttft, PromptTokens: bytes / 2})
				time.Sleep(time.Second)
			}
		}
		time.Sleep(8 * time.Second)
		own, theirs := a.route("a", "m"), b.route("a", "m")
		if !near(theirs.PerToken, own.PerToken) || !near(theirs.Fixed, own.Fixed) {
			t.Errorf("b expects %v and %v a token, a %v and %v", theirs.Fixed, theirs.PerToken, own.Fixed, own.PerToken)
		}
		if theirs.BytesPerToken > 2.3 || theirs.PromptTokens < own.PromptTokens*9/10 || theirs.PromptTokens > own.PromptTokens*11/10 {
			t.Errorf("b reckons with %.2f bytes a token and %d tokens, a with %.2f and %d", theirs.BytesPerToken, theirs.PromptTokens, own.BytesPerToken, own.PromptTokens)
		}
	})
}

// A cooldown is known everywhere within a second or so, and ends everywhere at once.
func TestSharedCooldown(t *testing.T) {
	inFleet(t, func(f fleet) {
		a, b := f.add(two(tailBudget)), f.add(two(tailBudget))
		time.Sleep(2 * time.Second)
		a.Report(router.Report{Flight: a.start("a", chat), Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: 20 * time.Second})
		until := a.status("a").Until
		time.Sleep(1500 * ms)
		b.state("a", router.StateCooling)
		if got := b.status("a").Until.Sub(until).Abs(); got > 10*ms {
			t.Errorf("b waits %v longer or shorter than a", got)
		}
		time.Sleep(20 * time.Second)
		b.state("a", router.StateNoData)
	})
}

// Debt is that of the fleet: misses of one are made up for by all, and counted by one.
func TestSharedDebt(t *testing.T) {
	inFleet(t, func(f fleet) {
		a, b := f.add(two(tailBudget)), f.add(two(tailBudget))
		miss := func(w world) {
			tally := w.Ledger("chat").Tally(true)
			tally.Content(time.Second)
			tally.Completed(0, time.Second)
		}
		for range 10 {
			miss(a)
			miss(b)
		}
		time.Sleep(8 * time.Second)
		for _, w := range []world{a, b} {
			l := w.Ledger("chat").Status()[0]
			// 20 * 0.05*(1 - 0.8*0.05) = 0.96
			if l.Debt < 0.959 || l.Debt > 0.961 || l.Calls != 10 || l.Missed != 10 {
				t.Errorf("debt %.3f with %d of %d calls missed; want 0.960 with 10 of 10", l.Debt, l.Missed, l.Calls)
			}
		}
	})
}

// What hedges have come to is learned from others.
func TestSharedPairs(t *testing.T) {
	inFleet(t, func(f fleet) {
		a, b := f.add(two(tailBudget)), f.add(two(tailBudget))
		h := a.hedgeOnce(t)
		time.Sleep(8 * time.Second)
		own, theirs := a.Snapshot().Pairs[2], b.Snapshot().Pairs[2]
		if !h || own.Predicted == 0 {
			t.Fatalf("there was no hedge: %+v", own)
		}
		if diff := theirs.Factor - own.Factor; diff > 0.01 || diff < -0.01 {
			t.Errorf("b reckons with k = %.3f, a, which has seen it, with %.3f", theirs.Factor, own.Factor)
		}
	})
}

// hedgeOnce runs a call whose hedge wins.
func (w world) hedgeOnce(t *testing.T) bool {
	t.Helper()
	for range 30 {
		w.quick("a", chat, 200*ms)
		w.quick("b", chat, 200*ms)
		time.Sleep(200 * ms)
	}
	plan := w.Plan(chat)
	first, err := w.Start(plan.Choices[0], chat)
	if err != nil {
		t.Fatal(err)
	}
	for age := 50 * ms; age < 5*time.Second; age += 50 * ms {
		time.Sleep(50 * ms)
		h := plan.Hedge(first, 1)
		if h.Choice.Target == "" || h.At > age {
			continue
		}
		second, err := w.Start(h.Choice, chat)
		if err != nil {
			t.Fatal(err)
		}
		second.Content(100 * ms)
		w.Report(router.Report{Flight: second, Elapsed: 100 * ms})
		w.Report(router.Report{Flight: first, Outcome: router.Lost})
		return true
	}
	return false
}

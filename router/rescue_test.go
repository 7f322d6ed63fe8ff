package router_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ontime-llm/ontime/router"
)

// The price of a hedge follows the tokens, and what none is left for is refused.
func TestHedgeAllowance(t *testing.T) {
	in(t, two(tails), func(w world) {
		status := func() router.HedgeStatus { return w.Snapshot().Endpoints[0].Hedge }
		check := func(what string, want router.HedgeStatus) {
			t.Helper()
			if diff := cmp.Diff(want, status(), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		p, f := w.waitsFor("a", chat, 700*ms)
		h := p.Hedge(f, 0)
		var all []*router.Flight
		for range 10 {
			one, err := w.Start(h.Choice, chat)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		check("ten", router.HedgeStatus{Share: 0.05, Tokens: 10, Burst: 20, Price: 0.5, Started: 10})
		if h := p.Hedge(f, 0); h.At <= 700*ms {
			t.Errorf("due at a price of 1: %+v", h)
		}
		for range 10 {
			w.Start(h.Choice, chat)
		}
		_, err := w.Start(h.Choice, chat)
		if no, ok := errors.AsType[*router.UnavailableError](err); !ok || no.Why != router.WhyAllowance {
			t.Errorf("a hedge without a token: %v", err)
		}
		check("all", router.HedgeStatus{Share: 0.05, Burst: 20, Price: 50, Started: 20, Refused: 1})
		if h := p.Hedge(f, 0); h.At != router.Unbounded || h.Again == 0 || h.Choice != (router.Choice{}) {
			t.Errorf("without tokens: %+v", h)
		}

		// A hedge that has no result gives its token back.
		for _, cause := range []router.Cause{router.CauseCaller, router.CauseRateLimit, router.CauseRoute} {
			w.Report(router.Report{Flight: all[cause], Outcome: router.Failed, Cause: cause, RetryAfter: time.Millisecond})
		}
		check("two without a result", router.HedgeStatus{Share: 0.05, Tokens: 2, Burst: 20, Price: 19.905358528, Started: 20, Refused: 1})
	})
}

// Only first attempts of calls earn, and hedges do not.
func TestCallsEarnHedges(t *testing.T) {
	in(t, two(tails), func(w world) {
		p, f := w.waitsFor("a", chat, 700*ms)
		for range 10 {
			w.Start(p.Hedge(f, 0).Choice, chat)
		}
		before := w.Snapshot().Endpoints[0].Hedge.Tokens
		again := chat
		again.Attempts = 1
		for range 20 {
			w.start("a", chat)
			w.start("b", again)
		}
		if got := w.Snapshot().Endpoints[0].Hedge.Tokens - before; !cmp.Equal(got, 1.0, cmpopts.EquateApprox(1e-9, 0)) {
			t.Errorf("20 calls and 20 second attempts earn %v, want 1", got)
		}
	})
}

// What becomes of a pair, by what its attempts come to: the first, the hedge.
func TestPairs(t *testing.T) {
	type legs struct{ first, hedge *router.Flight }
	end := func(w world, f *router.Flight, o router.Outcome, c router.Cause) {
		w.Report(router.Report{Flight: f, Outcome: o, Cause: c})
	}
	content := func(w world, f *router.Flight) { f.Content(100 * ms) }
	tests := []struct {
		name       string
		do         func(w world, l legs)
		inTime     float64 // hedges won in time
		known, won bool
	}{
		{"the hedge is first", func(w world, l legs) { content(w, l.hedge); end(w, l.first, router.Lost, 0) }, 1, true, true},
		{"it is too late", func(w world, l legs) { l.hedge.Content(6 * time.Second); end(w, l.first, router.Lost, 0) }, 0, true, true},
		{"the other is first", func(w world, l legs) { content(w, l.first); end(w, l.hedge, router.Lost, 0) }, 0, true, false},
		{"the loser is told first", func(w world, l legs) { end(w, l.hedge, router.Lost, 0); content(w, l.first) }, 0, true, false},
		{"the other way round", func(w world, l legs) { end(w, l.first, router.Lost, 0); content(w, l.hedge) }, 1, true, true},
		{"the first fails", func(w world, l legs) { end(w, l.first, router.Failed, 0); content(w, l.hedge) }, 1, true, true},
		{"the hedge fails", func(w world, l legs) { end(w, l.hedge, router.Failed, 0); content(w, l.first) }, 0, true, false},
		{"both are given up", func(w world, l legs) {
			end(w, l.first, router.TimedOut, 0)
			end(w, l.hedge, router.TimedOut, 0)
		}, 0, true, false},
		{"the caller goes away", func(w world, l legs) {
			end(w, l.first, router.Cancelled, 0)
			end(w, l.hedge, router.Cancelled, 0)
		}, 0, false, false},
		{"a 429 is no result", func(w world, l legs) { end(w, l.hedge, router.Failed, router.CauseRateLimit); content(w, l.first) }, 0, false, false},
		{"nor is the caller's own mistake", func(w world, l legs) {
			end(w, l.first, router.Failed, router.CauseCaller)
			end(w, l.hedge, router.Lost, 0)
		}, 0, false, false},
		{"a third is first", func(w world, l legs) {
			end(w, l.first, router.Failed, 0)
			end(w, l.hedge, router.Lost, 0)
		}, 0, false, false},
	}
	for _, test := range tests {
		in(t, two(tails), func(w world) {
			p, f := w.waitsFor("a", chat, 700*ms)
			hedge, err := w.Start(p.Hedge(f, 0).Choice, chat)
			if err != nil {
				t.Fatal(err)
			}
			test.do(w, legs{f, hedge})
			w.Report(router.Report{Flight: f})
			w.Report(router.Report{Flight: hedge})
			s := w.Snapshot()
			pair, won := s.Pairs[2], s.Endpoints[0].Hedge.Won
			if pair.Won != test.inTime || pair.Predicted > 0 != test.known || (won == 1) != test.won || pair.Pair != "another provider" {
				t.Errorf("%s: %+v, won %d", test.name, pair, won)
			}
			if (pair.Factor > 1) != (test.inTime == 1) && test.known {
				t.Errorf("%s: factor %v", test.name, pair.Factor)
			}
		})
	}
}

// Both attempts of a pair come to their ends at once, of many calls at once: each pair
// is settled once, and no token is lost. Of use under -race.
func TestPairsAtOnce(t *testing.T) {
	const calls = 15
	in(t, two(tails), func(w world) {
		for range 20 { // so that it is worth something
			tally := w.Ledger("chat").Tally(true)
			tally.Content(5 * time.Second)
		}
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				p, f := w.waitsFor("a", chat, 2*time.Second)
				if p.Hedge(f, 0).At > 2*time.Second { // the others make it dear
					w.Report(router.Report{Flight: f, Outcome: router.Cancelled})
					return
				}
				hedge, err := w.Start(p.Hedge(f, 0).Choice, chat)
				if err != nil {
					t.Error(err)
					return
				}
				for _, one := range []*router.Flight{f, hedge} {
					all.Go(func() { one.Content(700 * ms) })
					all.Go(func() { w.Report(router.Report{Flight: one, Outcome: router.Lost}) })
				}
			})
		}
		all.Wait()
		s := w.Snapshot()
		if h := s.Endpoints[0].Hedge; h.Started < 5 || h.Won > h.Started || h.Tokens != 20-float64(h.Started) {
			t.Errorf("%+v", h)
		}
	})
}

package router_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

func TestReloadAndKeys(t *testing.T) {
	c := two(p95)
	c.Targets[0].Keys = 2
	rotated := all
	rotated.Key = func(target string, key int) int { return map[int]int{0: 1, 1: -1}[key] } // the first is gone
	for name, test := range map[string]struct {
		keep router.Keep
		want []string // the states of a's keys
	}{
		"kept":    {all, []string{router.StateKeyRefused, router.StateCooling}},
		"rotated": {rotated, []string{router.StateCooling, router.StateOK}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, c, func(w world) {
				for range 2 { // one key each
					f := w.start("a", chat)
					rep := router.Report{Flight: f, Outcome: router.Failed, Cause: router.CauseKey}
					if w.status("a").Keys[1].InFlight == 1 {
						rep.Cause, rep.RetryAfter = router.CauseRateLimit, time.Minute
					}
					w.Report(rep)
				}
				w.reload(c, test.keep)
				var got []string
				for _, k := range w.status("a").Keys {
					got = append(got, k.State)
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("keys are %q, want %q", got, test.want)
				}
			})
		})
	}
}

// A target's limits hold for the old and the new router together, and those who wait
// are served in the order in which they came.
func TestReloadAndLimits(t *testing.T) {
	c := two(p95)
	c.Targets = c.Targets[:1]
	c.Targets[0].Limits = router.Limits{Concurrent: 1}
	wider := c
	wider.Targets = slices.Clone(c.Targets)
	wider.Targets[0].Limits.RequestsPerMinute = 1000
	for name, next := range map[string]router.Config{"same": c, "changed": wider} {
		t.Run(name, func(t *testing.T) {
			in(t, c, func(w world) {
				first := w.start("a", chat)
				var order []string
				var calls sync.WaitGroup
				wait := func(who string, r *router.Router) {
					calls.Go(func() {
						p, err := r.Wait(w.t.Context(), chat)
						if err != nil {
							t.Errorf("%s: %v", who, err)
							return
						}
						order = append(order, who)
						f, err := r.Start(p.Choices[0], chat)
						if err != nil {
							t.Errorf("%s: %v", who, err)
							return
						}
						time.Sleep(time.Second)
						r.Report(router.Report{Flight: f})
					})
					time.Sleep(ms)
				}
				wait("old", w.Router)
				before := w.reload(next, all)
				wait("new", w.Router)
				wait("old again", before)
				before.Report(router.Report{Flight: first})
				calls.Wait()
				if want := []string{"old", "new", "old again"}; !slices.Equal(order, want) {
					t.Errorf("served %q, want %q", order, want)
				}
			})
		})
	}
}

// A conversation stays where its prompts have been read, whatever index that target
// has by now.
func TestReloadKeepsPrefixes(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 50 {
			w.stream("a", chat, 300*ms, time.Millisecond)
			w.stream("b", chat, 300*ms, time.Millisecond)
		}
		w.turn("b", conversation(1, 5), 300*ms, 0)
		c := two(p95)
		c.Targets = []router.Target{{Name: "new", Models: []string{"m"}}, c.Targets[1], c.Targets[0]}
		w.reload(c, all)
		w.always("b", conversation(1, 6))
	})
}

// What hedges have taught and what they may yet cost stays, unless that was changed.
func TestReloadKeepsHedges(t *testing.T) {
	b := p95
	b.Hedge = 0.1
	for name, tt := range map[string]struct {
		next budget.Budget
		same bool
	}{
		"same":          {b, true},
		"another share": {p95, false},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, two(b), func(w world) {
				took := usually(300*ms, 0.2, 3*time.Second)
				w.race(300, 200*ms, chat, took)
				before := w.Snapshot()
				if before.Endpoints[0].Hedge.Started == 0 {
					t.Fatal("there was no hedge")
				}
				w.reload(two(tt.next), all)
				after := w.Snapshot()
				if !slices.Equal(before.Pairs, after.Pairs) {
					t.Errorf("pairs were %+v and are %+v", before.Pairs, after.Pairs)
				}
				was, is := before.Endpoints[0].Hedge, after.Endpoints[0].Hedge
				if (was == is) != tt.same || is.Share != tt.next.HedgeShare() {
					t.Errorf("hedges were %+v and are %+v", was, is)
				}
			})
		})
	}
}

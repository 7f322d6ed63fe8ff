package router_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// A cold route starts like its relatives: it does not win everything by having no
// record, and it is not shut out either.
func TestColdRouteStartsLikeItsRelatives(t *testing.T) {
	for _, test := range []struct {
		name string
		ttft time.Duration
	}{
		{"all slow", 2 * time.Second},
		{"all fast", 100 * ms},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := two(p95)
			c.Targets = append(c.Targets, router.Target{Name: "cold", Models: []string{"m"}})
			in(t, c, func(w world) {
				// Enough for the built-in samples, 20 among them, to be outweighed.
				for range 2000 {
					for _, target := range []string{"a", "b"} {
						w.Report(router.Report{Flight: w.start(target, chat), TTFT: test.ttft, PromptTokens: 1000})
					}
					time.Sleep(100 * ms)
				}
				s := w.route("cold", "m")
				if s.State != router.StateNoData || s.TTFT.N != 0 {
					t.Errorf("state %q, N %v; want no data", s.State, s.TTFT.N)
				}
				if !near(s.TTFT.P50, test.ttft) {
					t.Errorf("p50 = %v, want about %v", s.TTFT.P50, test.ttft)
				}
				got := make(map[string]int)
				for range 60 {
					target := w.Plan(chat).Choices[0].Target
					got[target]++
					w.stream(target, chat, test.ttft, time.Millisecond)
				}
				if got["cold"] < 5 || got["cold"] > 40 {
					t.Errorf("first choices = %v; want some, but not all, for the cold route", got)
				}
			})
		})
	}
}

// Where its model is new everywhere, a route leans on its provider's other models
// before those of other providers.
func TestColdModelLeansOnItsProvider(t *testing.T) {
	c := router.Config{Targets: []router.Target{
		{Name: "x", Provider: "x", Models: []string{"old"}},
		{Name: "y", Provider: "y", Models: []string{"old"}},
		{Name: "x-new", Provider: "x", Models: []string{"new"}},
		{Name: "z", Provider: "z", Models: []string{"newer"}},
	}}
	in(t, c, func(w world) {
		req := chat
		req.Model = "old"
		for range 300 {
			w.stream("x", req, 2*time.Second, 10*ms)
			w.stream("y", req, 100*ms, 30*ms)
		}
		time.Sleep(10 * time.Second)
		s := w.route("x-new", "new")
		if !near(s.TTFT.P50, 2*time.Second) || !near(s.TPOT.P50, 10*ms) {
			t.Errorf("p50 TTFT %v, TPOT %v; want 2s and 10ms as of x's other model", s.TTFT.P50, s.TPOT.P50)
		}
		// z has no relative at its own provider: it starts like everything together, of
		// which x and y are about half each.
		s = w.route("z", "newer")
		if s.TTFT.P50 < 100*ms || s.TTFT.P50 > 2*time.Second || s.TTFT.P95 < 1900*ms {
			t.Errorf("p50 %v, p95 %v; want between x and y", s.TTFT.P50, s.TTFT.P95)
		}
	})
}

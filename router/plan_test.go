package router_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

func TestPlanTakesTheCheapestThatKeepsTheBudget(t *testing.T) {
	in(t, cheap(), func(w world) {
		for range 100 { // a: slower but within the limit
			w.stream("a", chat, 500*ms, 10*ms)
			w.stream("b", chat, 200*ms, 10*ms)
		}
		w.always("a", chat)
	})
}

func TestPlanTakesTheFastestAsDebtGrows(t *testing.T) {
	in(t, cheap(), func(w world) {
		for i := range 100 {
			ttft := 300 * ms
			if i%10 == 9 { // a misses one in ten
				ttft = 900 * ms
			}
			w.stream("a", chat, ttft, 10*ms)
			w.stream("b", chat, 300*ms, 10*ms)
		}
		// Costs are 2/3 and 4/3 of the median, which makes 2 more for b. At a debt of
		// Q a miss weighs (Q+0.5)/0.05, so that a, whose chance is about 0.1 higher,
		// is ahead while Q is well below 0.5.
		w.always("a", chat)
		for range 40 { // each adds 0.05*(1-0.8*0.05) = 0.048
			tally := w.Ledger("chat").Tally(true)
			tally.Content(time.Second)
			tally.Completed(0, 2*time.Second)
		}
		w.always("b", chat)
	})
}

func TestPlanRanksByEachMetric(t *testing.T) {
	// a starts sooner, b runs faster: 300 ms + 20 ms/token against 600 ms + 5 ms/token,
	// so that b is done first from 21 tokens on.
	tests := []struct {
		name string
		b    budget.Budget
		req  func(*router.Request)
		want string
	}{
		{"TTFT", budget.Budget{TTFT: budget.Layers{95: 500 * ms}}, nil, "a"},
		{"TPOT", budget.Budget{TPOT: budget.Layers{95: 15 * ms}}, nil, "b"},
		{"total", budget.Budget{Total: budget.Layers{95: 1500 * ms}}, nil, "b"},
		{"total of short answers", budget.Budget{Total: budget.Layers{95: 500 * ms}},
			func(r *router.Request) { r.MaxTokens = 4 }, "a"},
		{"no layers, streamed", budget.Budget{}, nil, "a"},
		{"no layers, not streamed", budget.Budget{},
			func(r *router.Request) { r.Streamed = false }, "b"},
		{"no layers, not streamed, short", budget.Budget{},
			func(r *router.Request) { r.Streamed, r.MaxTokens = false, 2 }, "a"},
		{"TTFT does not concern what is not streamed", budget.Budget{TTFT: budget.Layers{95: 500 * ms}},
			func(r *router.Request) { r.Streamed = false }, "b"},
		{"total, not streamed", budget.Budget{Total: budget.Layers{95: 2 * time.Second}},
			func(r *router.Request) { r.Streamed = false }, "b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in(t, two(test.b), func(w world) {
				for range 50 {
					w.stream("a", chat, 300*ms, 20*ms)
					w.stream("b", chat, 600*ms, 5*ms)
				}
				req := chat
				if test.req != nil {
					test.req(&req)
				}
				w.always(test.want, req)
			})
		})
	}
}

func TestPlanOfWholeAnswersLearnsFromThem(t *testing.T) {
	in(t, two(budget.Budget{Total: budget.Layers{95: 5 * time.Second}}), func(w world) {
		req := chat
		req.Streamed = false
		for range 60 {
			w.whole("a", req, 8*time.Second, 200)
			w.whole("b", req, 3*time.Second, 200)
		}
		w.always("b", req)
		a, b := w.route("a", "m"), w.route("b", "m")
		if !near(a.Total.P50, 8*time.Second) || !near(b.Total.P50, 3*time.Second) {
			t.Errorf("total p50 = %v and %v, want 8s and 3s", a.Total.P50, b.Total.P50)
		}
		if a.TTFT.N != 0 || a.TPOT.N != 0 {
			t.Errorf("TTFT and TPOT rest on %v and %v samples, want none: a whole answer tells its total only", a.TTFT.N, a.TPOT.N)
		}
	})
}

func TestPlanIsNeverEmptyBecauseOfABudget(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{50: time.Millisecond, 99: 2 * ms}}), func(w world) {
		for range 20 {
			w.stream("a", chat, 2*time.Second, 10*ms)
			w.stream("b", chat, time.Second, 10*ms)
		}
		for range 2000 {
			tally := w.Ledger("chat").Tally(true)
			tally.Failed()
		}
		time.Sleep(time.Second)
		if got := w.Plan(chat).Choices; len(got) != 2 {
			t.Errorf("choices = %v, want both targets", got)
		}
	})
}

func TestPlanStaysWithinTheEndpointsTargets(t *testing.T) {
	c := router.Config{
		Targets: []router.Target{
			{Name: "a"}, {Name: "b", Models: []string{"m"}}, {Name: "c"}, {Name: "d", Models: []string{"n"}},
		},
		Budgets: map[string]budget.Budget{"eu": {Targets: []string{"b", "c"}}},
	}
	tests := []struct {
		name string
		req  router.Request
		want []string
	}{
		{"all that serve the model", router.Request{Model: "m"}, []string{"a", "b", "c"}},
		{"a model that no config names", router.Request{Model: "unheard-of"}, []string{"a", "c"}},
		{"an endpoint's own", router.Request{Endpoint: "eu", Model: "m"}, []string{"b", "c"}},
		{"of them, those that serve the model", router.Request{Endpoint: "eu", Model: "n"}, []string{"c"}},
		{"an unknown endpoint is the default", router.Request{Endpoint: "xx", Model: "n"}, []string{"a", "c", "d"}},
		{"pinned", router.Request{Model: "m", Pin: "b"}, []string{"b"}},
		{"pinned to one that does not serve it", router.Request{Model: "m", Pin: "d"}, nil},
		{"a pin does not leave the endpoint", router.Request{Endpoint: "eu", Model: "m", Pin: "a"}, nil},
	}
	in(t, c, func(w world) {
		for _, test := range tests {
			got := targets(w.Plan(test.req))
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
			for _, c := range w.Plan(test.req).Choices {
				if c.Model != test.req.Model {
					t.Errorf("%s: model %q, want it as asked for", test.name, c.Model)
				}
			}
		}
	})
}

func TestPlanOfAModelThatNobodyServes(t *testing.T) {
	c := router.Config{Targets: []router.Target{{Name: "a", Models: []string{"m"}}}}
	in(t, c, func(w world) {
		p := w.Plan(router.Request{Model: "n"})
		if len(p.Choices) != 0 {
			t.Errorf("choices = %v, want none", p.Choices)
		}
		if p.Reason() == "" {
			t.Error("no reason for an empty plan")
		}
	})
}

// Routes that are as good as equal take turns, and a seed repeats them.
func TestPlanDrawsAmongTheBest(t *testing.T) {
	c := router.Config{Seed: 7}
	for i := range 4 {
		c.Targets = append(c.Targets, router.Target{Name: fmt.Sprint("t", i)})
	}
	draw := func(c router.Config) (names []string) {
		in(t, c, func(w world) {
			for range 400 {
				p := w.Plan(chat)
				if len(p.Choices) != 4 {
					t.Fatalf("%d choices, want 4", len(p.Choices))
				}
				names = append(names, p.Choices[0].Target)
			}
		})
		return names
	}
	first := draw(c)
	for _, target := range c.Targets {
		n := 0
		for _, name := range first {
			if name == target.Name {
				n++
			}
		}
		// 100 of 400 with a deviation of 8.7: 60 to 140 is within 4.6 of them.
		if n < 60 || n > 140 {
			t.Errorf("%s was first in %d of 400 plans, want about 100", target.Name, n)
		}
	}
	if diff := cmp.Diff(first, draw(c)); diff != "" {
		t.Errorf("the same seed gave other choices (-first +second):\n%s", diff)
	}
	c.Seed = 8
	if slices.Equal(first, draw(c)) {
		t.Error("another seed gave the same choices")
	}
}

func TestAbandon(t *testing.T) {
	tests := []struct {
		name   string
		b      budget.Budget
		ttft   time.Duration
		prompt int           // tokens
		left   time.Duration // until the call's deadline; 0: it has none
		want   time.Duration
	}{
		// What is built in has a say of 8 parts in some 50, and 2% of that are
		// stragglers around 3 s, so that p99 is a quick route's own only roughly.
		{"quick: at least 5s", budget.Budget{}, 200 * ms, 1000, 0, 5 * time.Second},
		{"slow: 3 times its p99", budget.Budget{}, 8 * time.Second, 1000, 0, 24 * time.Second},
		{"the endpoint's own, if longer", budget.Budget{Abandon: time.Minute}, 8 * time.Second, 1000, 0, time.Minute},
		{"the endpoint's own may be below 5s", budget.Budget{Abandon: 2 * time.Second}, 200 * ms, 1000, 0, 2 * time.Second},
		{"never the endpoint's own, if hopeless later", budget.Budget{Abandon: 2 * time.Second}, 8 * time.Second, 1000, 0, 24 * time.Second},
		{"half of the time that is left", budget.Budget{}, 8 * time.Second, 1000, 30 * time.Second, 15 * time.Second},
		{"half of the time, unless its p99 is more", budget.Budget{}, 8 * time.Second, 1000, 12 * time.Second, 8 * time.Second},
		{"more than half, if the endpoint says so", budget.Budget{Abandon: 20 * time.Second}, 8 * time.Second, 1000, 30 * time.Second, 20 * time.Second},
		{"hopeless before half of the time", budget.Budget{}, 8 * time.Second, 1000, time.Minute, 24 * time.Second},
		{"10 minutes at most", budget.Budget{}, 500 * time.Second, 1000, 0, 10 * time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in(t, two(test.b), func(w world) {
				req := chat
				req.PromptBytes = 4 * test.prompt
				for range 1000 {
					f := w.start("a", req)
					f.Content(test.ttft)
					w.Report(router.Report{Flight: f, Elapsed: test.ttft})
					time.Sleep(50 * ms)
				}
				time.Sleep(time.Second)
				req.Pin = "a"
				if test.left > 0 {
					req.Deadline = time.Now().Add(test.left)
				}
				got := w.Plan(req).Choices[0].Abandon
				if math.Abs(got.Seconds()/test.want.Seconds()-1) > 0.1 {
					t.Errorf("abandon after %v, want about %v", got, test.want)
				}
			})
		})
	}
}

func TestReason(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 600 * ms}}), func(w world) {
		for range 300 {
			w.stream("a", chat, 200*ms, time.Millisecond)
			w.stream("b", chat, 900*ms, time.Millisecond)
		}
		time.Sleep(time.Second)
		got := w.Plan(chat).Reason()
		want := `^a: keeps best p95 TTFT 600ms \(misses [0-9.]+% of 5%\); then b$`
		if !matches(want, got) {
			t.Errorf("reason %q, want it to match %s", got, want)
		}
		got = w.Plan(router.Request{Model: "m", PromptBytes: 4000, Streamed: true}).Reason()
		if want := `^a: shortest expected TTFT, (19|20)[0-9]ms$`; !matches(want, got) {
			t.Errorf("reason %q, want it to match %s", got, want)
		}
		pinned := chat
		pinned.Pin = "b"
		if got := w.Plan(pinned).Reason(); got != "b: pinned" {
			t.Errorf("reason %q, want \"b: pinned\"", got)
		}
	})
}

// What misses for certain is said in plain figures: 100%, not 1e+02%.
func TestReasonOfCertainMisses(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 100 * ms}}), func(w world) {
		for range 300 {
			w.stream("a", chat, 5*time.Second, ms)
			w.stream("b", chat, 5*time.Second, ms)
		}
		if got := w.Plan(chat).Reason(); !strings.Contains(got, "(misses 100% of 5%)") {
			t.Errorf("%s, want misses of 100%%", got)
		}
	})
}

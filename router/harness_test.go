package router_test

import (
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

const ms = time.Millisecond

// world is a router in virtual time.
type world struct {
	*router.Router
	t *testing.T
}

// in runs a test in virtual time, with a router for c.
func in(t *testing.T, c router.Config, test func(w world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r, err := router.New(c)
		if err != nil {
			t.Fatal(err)
		}
		test(world{r, t})
	})
}

// two returns a config with targets a and b of different providers, a model "m" and
// an endpoint "chat".
func two(b budget.Budget) router.Config {
	return router.Config{
		Targets: []router.Target{
			{Name: "a", Provider: "x", Models: []string{"m"}},
			{Name: "b", Provider: "y", Models: []string{"m"}},
		},
		Budgets: map[string]budget.Budget{"chat": b},
	}
}

// chat is a streamed request of 1000 prompt tokens.
var chat = router.Request{Endpoint: "chat", Model: "m", PromptBytes: 4000, Streamed: true}

// start starts an attempt of req on a target.
func (w world) start(target string, req router.Request) *router.Flight {
	w.t.Helper()
	req.Pin = target
	choices := w.Plan(req).Choices
	if len(choices) != 1 || choices[0].Target != target {
		w.t.Fatalf("pinned to %s, got %v", target, choices)
	}
	f, err := w.Start(choices[0], req)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// stream runs an attempt with content after ttft and 101 tokens at the given pace,
// and lets the time pass.
func (w world) stream(target string, req router.Request, ttft, tpot time.Duration) {
	w.t.Helper()
	f := w.start(target, req)
	time.Sleep(ttft)
	f.Content(ttft)
	time.Sleep(100 * tpot)
	w.Report(router.Report{
		Flight: f, Elapsed: ttft + 100*tpot, TTFT: ttft, TPOT: tpot, Total: ttft + 100*tpot,
		PromptTokens: req.PromptBytes / 4, OutputTokens: 101,
	})
}

// whole runs an attempt that is not streamed.
func (w world) whole(target string, req router.Request, total time.Duration, tokens int) {
	w.t.Helper()
	req.Streamed = false
	f := w.start(target, req)
	time.Sleep(total)
	w.Report(router.Report{Flight: f, Elapsed: total, Total: total, PromptTokens: req.PromptBytes / 4, OutputTokens: tokens})
}

// end runs an attempt that ends without content.
func (w world) end(target string, req router.Request, outcome router.Outcome, after time.Duration) {
	w.t.Helper()
	f := w.start(target, req)
	time.Sleep(after)
	w.Report(router.Report{Flight: f, Outcome: outcome, Elapsed: after})
}

// firsts counts how often each target is the first choice of n plans.
func (w world) firsts(req router.Request, n int) map[string]int {
	count := make(map[string]int)
	for range n {
		count[w.Plan(req).Choices[0].Target]++
	}
	return count
}

// always fails unless target is the first choice of every one of 50 plans.
func (w world) always(target string, req router.Request) {
	w.t.Helper()
	time.Sleep(300 * ms) // so that the next plan folds
	if got := w.firsts(req, 50); got[target] != 50 {
		w.t.Errorf("first choices of 50 plans = %v, want only %s; %s", got, target, w.Plan(req).Reason())
	}
}

// route returns the status of a route.
func (w world) route(target, model string) router.RouteStatus {
	w.t.Helper()
	time.Sleep(300 * ms)
	for _, s := range w.Snapshot().Routes {
		if s.Target == target && s.Model == model {
			return s
		}
	}
	w.t.Fatalf("no route %s %s in the snapshot", target, model)
	return router.RouteStatus{}
}

// status returns the status of a route of model "m", as it is now.
func (w world) status(target string) router.RouteStatus {
	w.t.Helper()
	for _, s := range w.Snapshot().Routes {
		if s.Target == target && s.Model == "m" {
			return s
		}
	}
	w.t.Fatalf("no route %s in the snapshot", target)
	return router.RouteStatus{}
}

// state fails unless a route is in the given one.
func (w world) state(target, want string) {
	w.t.Helper()
	if s := w.status(target); s.State != want {
		w.t.Errorf("%s is %q (%s), want %q", target, s.State, s.Why, want)
	}
}

// quick is a streamed attempt that takes no time.
func (w world) quick(target string, req router.Request, ttft time.Duration) {
	w.t.Helper()
	w.Report(router.Report{Flight: w.start(target, req), TTFT: ttft, Elapsed: ttft})
}

// fails reports n attempts in a row that fail at once.
func (w world) fails(target string, n int) {
	w.t.Helper()
	for range n {
		w.Report(router.Report{Flight: w.start(target, chat), Outcome: router.Failed, Elapsed: ms})
	}
}

// near tells whether got is within 5% of want.
func near(got, want time.Duration) bool {
	return got > want*95/100 && got < want*105/100
}

func targets(p router.Plan) []string {
	var names []string
	for _, c := range p.Choices {
		names = append(names, c.Target)
	}
	return names
}

func matches(pattern, s string) bool { return regexp.MustCompile(pattern).MatchString(s) }

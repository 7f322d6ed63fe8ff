package router_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// tails are promises that a hedge can keep.
var tails = budget.Budget{TTFT: budget.Layers{95: 1200 * ms, 99: 4 * time.Second}}

func TestHedgeFrom(t *testing.T) {
	with := func(change func(*router.Request)) router.Request {
		req := chat
		change(&req)
		return req
	}
	whole := func(r *router.Request) { r.Streamed = false }
	total := budget.Budget{Total: budget.Layers{95: 8 * time.Second}}
	second := with(func(r *router.Request) { r.Attempts = 1 })
	none, one := tails, two(tails)
	none.Hedge = -1
	one.Targets = one.Targets[:1]
	tests := []struct {
		name string
		c    router.Config
		req  router.Request
		ago  time.Duration // that the call entered
		want time.Duration
	}{
		{"a quarter of the shortest limit", two(tails), chat, 0, 300 * ms},
		{"or of that for the whole", two(total), chat, 0, 2 * time.Second},
		{"not streamed", two(total), with(whole), 0, 2 * time.Second},
		{"the second attempt of a call", two(tails), second, 100 * ms, 200 * ms},
		{"when it is late already", two(tails), second, time.Second, 1},
		{"one target", one, chat, 0, 0},
		{"no allowance", two(none), chat, 0, 0},
		{"must not run twice", two(tails), with(func(r *router.Request) { r.Single = true }), 0, 0},
		{"pinned", two(tails), with(func(r *router.Request) { r.Pin = "a" }), 0, 0},
		{"no promise", two(tails), with(func(r *router.Request) { r.Endpoint = "" }), 0, 0},
		{"none that concerns the call", two(tails), with(whole), 0, 0},
		{"none that a hedge could keep", two(budget.Budget{TPOT: budget.Layers{95: 20 * ms}}), chat, 0, 0},
	}
	for _, test := range tests {
		in(t, test.c, func(w world) {
			if test.ago > 0 {
				test.req.Since = time.Now().Add(-test.ago)
			}
			p := w.Plan(test.req)
			if p.HedgeFrom != test.want {
				t.Errorf("%s: hedges from %v, want %v", test.name, p.HedgeFrom, test.want)
			}
			f, err := w.Start(p.Choices[0], test.req)
			if err != nil {
				t.Fatal(err)
			}
			if h := p.Hedge(f, 1); (h.Again > 0) != (test.want > 0) {
				t.Errorf("%s: advice %+v", test.name, h)
			}
		})
	}
}

// waitsFor starts an attempt on target, wherever that is in a plan, and lets it wait for
// so long. Any other choice may be asked for a hedge.
func (w world) waitsFor(target string, req router.Request, age time.Duration) (router.Plan, *router.Flight) {
	w.t.Helper()
	p := w.Plan(req)
	for _, c := range p.Choices {
		if c.Target == target {
			f, err := w.Start(c, req)
			if err != nil {
				w.t.Fatal(err)
			}
			time.Sleep(age)
			return p, f
		}
	}
	w.t.Fatalf("%s is not in the plan: %s", target, p.Reason())
	return p, nil
}

// hedgeTo returns where a call is hedged that has waited on target for so long: empty if it
// is not.
func (w world) hedgeTo(target string, req router.Request, age time.Duration) string {
	w.t.Helper()
	p, f := w.waitsFor(target, req, age)
	defer w.Report(router.Report{Flight: f, Outcome: router.Cancelled})
	h := p.Hedge(f, 0)
	if h.Again > 0 && h.At <= age {
		return h.Choice.Target
	}
	return ""
}

// Before anything has ever been answered, a call that gets nothing is hedged in time,
// and a plan says when.
func TestHedgeBeforeAnythingWasSeen(t *testing.T) {
	in(t, two(tails), func(w world) {
		p, f := w.waitsFor("a", chat, 0)
		start, age, asked := time.Now(), p.HedgeFrom, 0
		for {
			time.Sleep(age - time.Since(start))
			h := p.Hedge(f, 0)
			asked++
			if h.At <= age && h.Choice.Target == "b" {
				break
			}
			if h.Again <= age || age > 2*time.Second || h.At < h.Again {
				t.Fatalf("at %v: %+v", age, h)
			}
			age = h.Again
		}
		// By what is built in one in 40 takes longer than 1.2 s, which is allowed, and one in
		// 160 longer than 4 s: that is what it is for.
		if age < 1200*ms || age > 2*time.Second || asked > 6 {
			t.Errorf("hedged after %v, asked %d times", age, asked)
		}
		if reason := w.Plan(chat).Reason(); !matches(`then (a|b); hedge to (a|b) at 1\.[2-6]\d*s$`, reason) {
			t.Errorf("reason %q", reason)
		}
		h := p.Hedge(f, 0)
		if _, err := w.Start(h.Choice, chat); err != nil {
			t.Error(err)
		}
	})
}

// Past twice the last limit there is nothing to be gained any more.
func TestHedgeEnds(t *testing.T) {
	in(t, two(tails), func(w world) {
		p, f := w.waitsFor("a", chat, 7900*ms)
		if h := p.Hedge(f, 0); h.Again != 8*time.Second {
			t.Errorf("at 7.9 s: %+v, want to ask again at 8 s", h)
		}
		time.Sleep(100 * ms)
		if h := p.Hedge(f, 0); h != (router.Hedge{}) {
			t.Errorf("at 8 s: %+v, want nothing", h)
		}
		if h := p.Hedge(f, 2); h != (router.Hedge{}) {
			t.Errorf("without a choice left: %+v, want nothing", h)
		}
	})
}

// Where a hedge does not go.
func TestHedgeTargets(t *testing.T) {
	limited := func(l router.Limits) router.Config {
		c := two(tails)
		c.Targets[1].Limits = l
		return c
	}
	headroom := func(left int64) func(w world) {
		return func(w world) {
			f := w.start("b", chat)
			h := router.Headroom{Known: true, Limit: 100, Left: left, Reset: time.Hour}
			w.Report(router.Report{Flight: f, TTFT: 300 * ms, Requests: h})
		}
	}
	starts := func(n int) func(w world) {
		return func(w world) {
			for range n {
				w.start("b", chat).Content(300 * ms)
			}
		}
	}
	tests := []struct {
		name string
		c    router.Config
		do   func(w world)
		want string
	}{
		{"a route that is well", two(tails), func(w world) {}, "b"},
		{"one that was opened", two(tails), func(w world) { w.fails("b", 5) }, ""},
		{"one that would be probed", two(tails), func(w world) { w.fails("b", 5); time.Sleep(20 * time.Second) }, ""},
		{"one that cools down", two(tails), func(w world) {
			w.Report(router.Report{Flight: w.start("b", chat), Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: time.Minute})
		}, ""},
		{"a quarter of its provider's limit left", two(tails), headroom(25), "b"},
		{"a sixth of it", two(tails), headroom(16), ""},
		{"3 of 10 places left", limited(router.Limits{Concurrent: 10}), starts(7), "b"},
		{"2 of them", limited(router.Limits{Concurrent: 10}), starts(8), ""},
		{"the only place", limited(router.Limits{Concurrent: 1}), starts(0), "b"},
		{"3 of the 10 that may be started at once, and 1 more by now", limited(router.Limits{RequestsPerMinute: 100}), starts(7), "b"},
		{"none, and 1 by now", limited(router.Limits{RequestsPerMinute: 100}), starts(10), ""},
	}
	for _, test := range tests {
		in(t, test.c, func(w world) {
			for _, target := range []string{"a", "b"} {
				for i := range 40 {
					w.record(target, chat, []time.Duration{300 * ms, 3 * time.Second}[i/36])
					time.Sleep(2 * time.Second)
				}
			}
			time.Sleep(10 * time.Second)
			test.do(w)
			if got := w.hedgeTo("a", chat, 800*ms); got != test.want {
				t.Errorf("%s: hedge to %q, want %q", test.name, got, test.want)
			}
		})
	}
}

// A long prompt is no bad luck: it is given the time that it takes, and that the other
// route would take as well.
func TestALongPromptIsNotHedgedForBeingLong(t *testing.T) {
	in(t, two(tails), func(w world) {
		for i := range 100 {
			luck := 1 + 6*(i/99) // one in 200 takes seven times as long
			for _, target := range []string{"a", "b"} {
				w.record(target, prompt(1000), time.Duration(luck*380)*ms)
				w.record(target, prompt(40000), 2600*ms)
			}
		}
		time.Sleep(300 * ms)
		for _, test := range []struct {
			tokens int
			age    time.Duration
			want   string
		}{
			{1000, 350 * ms, ""},
			{1000, 700 * ms, "b"},
			{40000, 700 * ms, ""},
			{40000, 1300 * ms, ""},
			{40000, 2 * time.Second, ""},
			{40000, 3500 * ms, "b"}, // late even for its size: for the sake of 8 s
		} {
			if got := w.hedgeTo("a", prompt(test.tokens), test.age); got != test.want {
				t.Errorf("%d tokens after %v: hedge to %q, want %q", test.tokens, test.age, got, test.want)
			}
		}
	})
}

// Answers that are not streamed are hedged for their totals.
func TestHedgeOfWholeAnswers(t *testing.T) {
	in(t, two(budget.Budget{Total: budget.Layers{95: 8 * time.Second}}), func(w world) {
		req := chat
		req.Streamed = false
		for range 60 {
			w.whole("a", req, 3*time.Second, 200)
			w.whole("b", req, 3*time.Second, 200)
		}
		if got := w.hedgeTo("a", req, 2500*ms); got != "" {
			t.Errorf("after 2.5 s: hedge to %q, want none", got)
		}
		p, f := w.waitsFor("a", req, 4500*ms)
		h := p.Hedge(f, 0)
		if h.At > 4500*ms {
			t.Fatalf("%+v, want a hedge", h)
		}
		hedge, err := w.Start(h.Choice, req)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		w.Report(router.Report{Flight: f, Outcome: router.Lost})
		w.Report(router.Report{Flight: hedge, OutputTokens: 200})
		if s := w.Snapshot(); s.Pairs[2].Won != 1 || s.Endpoints[0].Hedge.Won != 1 {
			t.Errorf("%+v, %+v, want one won", s.Pairs, s.Endpoints[0].Hedge)
		}
	})
}

// A route that is open because too much of it is slow is as good as the rest of it.
func TestHedgeOntoARouteThatIsOnlySlow(t *testing.T) {
	in(t, two(tails), func(w world) {
		for i := 0; w.status("a").State != router.StateOpen; i++ {
			for _, target := range []string{"a", "b"} {
				took := 400 * ms
				if i%8 == 7 && (i > 60 || target == "b") {
					took = 6 * time.Second
				}
				w.record(target, chat, took)
			}
			if i > 500 {
				t.Fatal("it is never opened")
			}
		}
		p, f := w.waitsFor("b", chat, 800*ms)
		h := p.Hedge(f, 0)
		if h.At > 800*ms || h.Choice.Target != "a" || !h.Choice.LastResort() {
			t.Fatalf("%+v, want a hedge on a", h)
		}
		if _, err := w.Start(h.Choice, chat); err != nil {
			t.Error(err)
		}
	})
}

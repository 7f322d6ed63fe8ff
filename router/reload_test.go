package router_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// all keeps everything whose name is the same.
var all = router.Keep{
	Target: func(string) bool { return true },
	Model:  func(string, string) bool { return true },
	Key:    func(_ string, key int) int { return key },
}

// reload changes the router's config. The one before it is returned.
func (w *world) reload(c router.Config, keep router.Keep) *router.Router {
	w.t.Helper()
	before := w.Router
	r, err := before.Reload(c, keep)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Router = r
	return before
}

func TestReloadKeepsWhatWasSeen(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 50 {
			w.stream("a", chat, 300*ms, 20*ms)
			w.stream("b", chat, 500*ms, 10*ms)
		}
		time.Sleep(300 * ms)
		before := w.Snapshot().Routes

		c := two(budget.Budget{TTFT: budget.Layers{50: 100 * ms}})
		c.Targets = append([]router.Target{{Name: "new", Models: []string{"m"}}}, c.Targets...)
		w.reload(c, all)
		after := w.Snapshot().Routes
		if diff := cmp.Diff(before, after[1:]); diff != "" {
			t.Errorf("a and b have changed (-before +after):\n%s", diff)
		}
		if s := after[0]; s.State != router.StateNoData || s.TTFT.P50 < 300*ms || s.TTFT.P50 > 500*ms {
			t.Errorf("the new target is %q with p50 %v, want no data, and a p50 between those of its relatives", s.State, s.TTFT.P50)
		}
	})
}

func TestReloadForgetsWhatIsAnother(t *testing.T) {
	for name, change := range map[string]func(*router.Keep){
		"target": func(k *router.Keep) { k.Target = func(name string) bool { return name != "a" } },
		"model":  func(k *router.Keep) { k.Model = func(name, model string) bool { return name != "a" || model != "m" } },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, two(p95), func(w world) {
				for range 20 {
					w.stream("a", chat, 300*ms, 20*ms)
					w.stream("b", chat, 300*ms, 20*ms)
				}
				keep := all
				change(&keep)
				w.reload(two(p95), keep)
				if n := w.status("a").TTFT.N; n != 0 {
					t.Errorf("a has %v samples, want none", n)
				}
				if n := w.status("b").TTFT.N; n < 15 {
					t.Errorf("b has %v samples, want about 20", n)
				}
			})
		})
	}
}

// Models that the config never named keep their routes, those that it names no more
// too.
func TestReloadKeepsUnnamedModels(t *testing.T) {
	c := router.Config{Targets: []router.Target{{Name: "a"}}}
	c.Budgets = map[string]budget.Budget{"chat": {Models: []string{"m"}}}
	in(t, c, func(w world) {
		other := chat
		other.Model = "n"
		w.stream("a", chat, 300*ms, 20*ms)
		w.stream("a", other, 300*ms, 20*ms)
		w.reload(router.Config{Targets: c.Targets, Budgets: map[string]budget.Budget{"chat": {}}}, all)
		for _, model := range []string{"m", "n"} {
			if s := w.route("a", model); s.Attempts.Completed != 1 {
				t.Errorf("%s: %d attempts, want 1", model, s.Attempts.Completed)
			}
		}
	})
}

func TestReloadKeepsDebts(t *testing.T) {
	b := budget.Budget{TTFT: budget.Layers{95: 600 * ms, 99: 2 * time.Second}}
	in(t, two(b), func(w world) {
		late := w.Ledger("chat").Tally(true) // still under way at the reload
		miss := w.Ledger("chat").Tally(true)
		miss.Content(3 * time.Second)
		miss.Completed(0, 3*time.Second)
		b.TTFT = budget.Layers{95: 600 * ms, 99: 4 * time.Second}
		w.reload(two(b), all)
		late.Content(3 * time.Second)
		// A miss of the p95 is 0.05*(1-0.8*0.05) = 0.048, twice. The p99 is another promise.
		for i, want := range []float64{0.096, 0} {
			if got := w.Ledger("chat").Debt(i); !(got > want-1e-9 && got < want+1e-9) {
				t.Errorf("layer %d has a debt of %v, want %v", i, got, want)
			}
		}
	})
}

// An attempt that is under way counts for the router that takes over: while it hangs,
// and when it ends.
func TestReloadKeepsWhatIsUnderWay(t *testing.T) {
	b := budget.Budget{TTFT: budget.Layers{50: 300 * ms, 95: 600 * ms}}
	in(t, two(b), func(w world) {
		for range 50 {
			w.stream("a", chat, 200*ms, 10*ms)
			w.stream("b", chat, 400*ms, 10*ms)
		}
		w.always("a", chat)
		var hanging []*router.Flight
		for range 10 {
			hanging = append(hanging, w.start("a", chat))
		}
		before := w.reload(two(b), all)
		time.Sleep(4 * time.Second)
		w.always("b", chat)
		if n := w.status("a").InFlight; n != 10 {
			t.Errorf("%d in flight, want 10", n)
		}
		for i, f := range hanging {
			r := before
			if i%2 == 0 {
				r = w.Router // whichever is told
			}
			r.Report(router.Report{Flight: f, TTFT: 5 * time.Second, TPOT: 10 * ms})
		}
		if s := w.status("a"); s.InFlight != 0 || s.Attempts.Completed != 60 {
			t.Errorf("%d in flight and %d completed, want 0 and 60", s.InFlight, s.Attempts.Completed)
		}
	})
}

func TestReloadKeepsBreakers(t *testing.T) {
	var events []string
	c := two(p95)
	c.OnHealth = func(e router.Event) { events = append(events, e.Target+" "+e.State) }
	in(t, c, func(w world) {
		var failing []*router.Flight
		for range 5 {
			failing = append(failing, w.start("b", chat))
		}
		w.fails("a", 5)
		w.state("a", router.StateOpen)
		before := w.reload(two(p95), all)
		w.state("a", router.StateOpen)
		if got := targets(w.Plan(chat)); !slices.Equal(got, []string{"b"}) {
			t.Errorf("choices are %v, want b alone", got)
		}
		// b would be the last route, by the new router's count too.
		for _, f := range failing {
			before.Report(router.Report{Flight: f, Outcome: router.Failed, Elapsed: ms})
		}
		w.state("b", router.StateDegraded)

		time.Sleep(20 * time.Second)
		p := w.Plan(chat)
		if !p.Choices[0].Probe() || p.Choices[0].Target != "a" {
			t.Fatalf("first choice is %+v, want a probe of a", p.Choices[0])
		}
		w.quick("a", chat, 100*ms)
		if s := w.status("a"); s.State == router.StateOpen {
			t.Errorf("a is %q after a probe that did well", s.State)
		}
		if want := []string{"a open", "a ok"}; !slices.Equal(events, want) {
			t.Errorf("events are %v, want %v", events, want)
		}
	})
}

// What an old attempt does to a route opens it for the new router, whose plans would
// otherwise look no closer.
func TestOldAttemptsOpenTheHeir(t *testing.T) {
	in(t, two(p95), func(w world) {
		var flights []*router.Flight
		for range 5 {
			flights = append(flights, w.start("a", chat))
		}
		before := w.reload(two(p95), all)
		for _, f := range flights {
			before.Report(router.Report{Flight: f, Outcome: router.Failed, Elapsed: ms})
		}
		for name, r := range map[string]*router.Router{"new": w.Router, "old": before} {
			if got := targets(r.Plan(chat)); !slices.Equal(got, []string{"b"}) {
				t.Errorf("%s: choices are %v, want b alone", name, got)
			}
		}
	})
}

func TestReloadOfAnInvalidConfig(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.fails("a", 5)
		r, err := w.Reload(router.Config{}, all)
		if err == nil || r != nil {
			t.Fatalf("Reload = %v, %v, want an error alone", r, err)
		}
		w.state("a", router.StateOpen)
		time.Sleep(20 * time.Second)
		w.quick("a", chat, 100*ms) // its probe
		if s := w.status("a"); s.State == router.StateOpen {
			t.Error("a is open after a probe that did well")
		}
	})
}

// Nothing is lost where routers are reloaded while they are used. Of use under -race.
func TestReloadConcurrently(t *testing.T) {
	const goroutines, each = 4, 300
	c := two(p95)
	c.Targets[0].Limits.Concurrent, c.Targets[1].Keys = 2*goroutines, 2
	first, err := router.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var current atomic.Pointer[router.Router]
	current.Store(first)
	var calls sync.WaitGroup
	var started atomic.Uint64
	for k := range goroutines {
		calls.Go(func() {
			for i := range each {
				r := current.Load()
				f, err := r.Start(r.Plan(chat).Choices[0], chat)
				if err != nil {
					continue
				}
				started.Add(1)
				f.Content(time.Duration(i) * ms)
				outcome := router.Completed
				if (i+k)%3 == 0 {
					outcome = router.Failed
				}
				current.Load().Report(router.Report{Flight: f, Outcome: outcome, OutputTokens: 1 + i})
			}
		})
	}
	for i := range 50 {
		c.Budgets = map[string]budget.Budget{"chat": {TTFT: budget.Layers{95: 600 * ms, 99: time.Duration(1+i%2) * time.Second}}}
		next, err := current.Load().Reload(c, all)
		if err != nil {
			t.Fatal(err)
		}
		current.Store(next)
	}
	calls.Wait()
	var ended uint64
	for _, s := range current.Load().Snapshot().Routes {
		ended += s.Attempts.Completed + s.Attempts.Failed
		if s.InFlight != 0 {
			t.Errorf("%s: %d in flight, want none", s.Target, s.InFlight)
		}
	}
	if ended != started.Load() {
		t.Errorf("%d attempts ended, want %d", ended, started.Load())
	}
}

// Once the cap is another, what the former one cut says nothing of it.
func TestAdviceOnFormerCaps(t *testing.T) {
	in(t, two(budget.Budget{MaxTokens: budget.MaxTokens{Limit: 100}}), func(w world) {
		for range 100 {
			tally := w.Ledger("chat").Tally(true)
			tally.Truncated(false)
			tally.Completed(ms, 300*ms)
		}
		w.reload(two(budget.Budget{MaxTokens: budget.MaxTokens{Limit: 100}, Deadline: time.Minute}), all)
		if all, _ := w.advice(); all[router.AdviceCap].Calls != 100 {
			t.Errorf("advice after a reload is %v, want that on cuts", all)
		}
		w.reload(two(budget.Budget{MaxTokens: budget.MaxTokens{Limit: 1000}}), all)
		for range 2 {
			if all, _ := w.advice(); len(all) > 0 {
				t.Errorf("advice is %v, want none", all)
			}
			w.reload(two(budget.Budget{MaxTokens: budget.MaxTokens{Limit: 1000}}), all)
		}
	})
}

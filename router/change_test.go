package router_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// served is an attempt that a model of the given name answers.
func (w world) served(target, model string) {
	w.t.Helper()
	w.Report(router.Report{Flight: w.start(target, chat), TTFT: 100 * ms, Elapsed: 100 * ms, ServedModel: model})
}

// A new model behind the same name is told once, and counted for its route alone. What
// is known outlasts a reload.
func TestChangeOfModel(t *testing.T) {
	c := two(budget.Budget{})
	var told []router.Event
	c.OnHealth = func(e router.Event) { told = append(told, e) }
	in(t, c, func(w world) {
		for range 3 {
			w.served("a", "m-2025-01-01")
			w.served("b", "m-0")
		}
		time.Sleep(time.Hour)
		w.served("a", "m-2025-06-01")
		at := time.Now()
		w.reload(c, all)
		for range 20 { // behind a load balancer
			w.served("a", "m-2025-01-01")
			w.served("a", "m-2025-06-01")
			w.served("a", "<script>")
		}
		change := router.Change{At: at, Kind: router.ChangeModel, From: "m-2025-01-01", To: "m-2025-06-01"}
		if diff := cmp.Diff([]router.Event{{At: at, Target: "a", Model: "m", Key: -1, Change: change}}, told); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		s := w.status("a")
		if diff := cmp.Diff([]router.Change{change}, s.Changes); diff != "" || s.Changed != (router.ChangeCounts{Model: 1}) {
			t.Errorf("%+v, changes (-want +got):\n%s", s.Changed, diff)
		}
		if s := w.status("b"); len(s.Changes) > 0 {
			t.Errorf("b has changes: %v", s.Changes)
		}
	})
}

// The shared route answers with whatever its callers ask for.
func TestNoChangeOfTheSharedRoute(t *testing.T) {
	in(t, router.Config{Targets: []router.Target{{Name: "a"}}}, func(w world) {
		for _, name := range []string{"x", "y"} {
			req := router.Request{Model: string(make([]byte, 200)), Streamed: true}
			f, err := w.Start(w.Plan(req).Choices[0], req)
			if err != nil {
				t.Fatal(err)
			}
			w.Report(router.Report{Flight: f, ServedModel: name})
		}
		for _, s := range w.Snapshot().Routes {
			if len(s.Changes) > 0 {
				t.Errorf("%s has changes: %v", s.Model, s.Changes)
			}
		}
	})
}

// Both medians of a route shift, after four hours and again after two more.
func TestChangeOfTimes(t *testing.T) {
	c := two(budget.Budget{})
	var told []router.Change
	c.OnHealth = func(e router.Event) {
		if e.Change.Kind != "" && e.Target == "a" && e.State == "" {
			told = append(told, e.Change)
		}
	}
	in(t, c, func(w world) {
		run := func(d, ttft, tpot time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Second) {
				i := time.Duration(time.Now().Second()%30)*ms - 15*ms
				w.Report(router.Report{
					Flight: w.start("a", chat), TTFT: ttft + i, TPOT: tpot, Elapsed: 2 * time.Second,
					PromptTokens: 1000, OutputTokens: 100,
				})
			}
		}
		run(4*time.Hour, 300*ms, 20*ms)
		run(2*time.Hour, 450*ms, 20*ms)
		run(time.Hour, 450*ms, 30*ms)
		if len(told) != 2 {
			t.Fatalf("changes are %v, want two", told)
		}
		// The medians are within what the offsets make of them.
		ignore := cmpopts.IgnoreFields(router.Change{}, "At", "From", "To")
		if diff := cmp.Diff([]router.Change{{Kind: router.ChangeTTFT}, {Kind: router.ChangeTPOT}}, told, ignore); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		for i, want := range []struct{ from, to time.Duration }{{300 * ms, 450 * ms}, {20 * ms, 30 * ms}} {
			from, err1 := time.ParseDuration(told[i].From)
			to, err2 := time.ParseDuration(told[i].To)
			if err1 != nil || err2 != nil || !near(from, want.from) || !near(to, want.to) {
				t.Errorf("from %s to %s, want %v and %v", told[i].From, told[i].To, want.from, want.to)
			}
		}
		s := w.status("a")
		if diff := cmp.Diff(told, s.Changes); diff != "" || s.Changed != (router.ChangeCounts{TTFT: 1, TPOT: 1}) {
			t.Errorf("%+v, snapshot (-told +got):\n%s", s.Changed, diff)
		}
	})
}

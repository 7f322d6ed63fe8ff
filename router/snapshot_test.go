package router_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

func TestSnapshot(t *testing.T) {
	c := router.Config{
		Targets: []router.Target{
			{Name: "eu", Provider: "azure", Region: "westeurope", Models: []string{"m", "n"}},
			{Name: "any"},
		},
		Budgets: map[string]budget.Budget{"chat": p95},
	}
	in(t, c, func(w world) {
		w.stream("eu", chat, 300*ms, 10*ms)
		w.end("eu", chat, router.Failed, 10*ms)
		w.end("eu", chat, router.TimedOut, 10*ms)
		w.end("eu", chat, router.Cancelled, 10*ms)
		w.end("eu", chat, router.Lost, 10*ms)
		w.end("eu", chat, router.Lost, 10*ms)
		w.start("eu", chat)
		w.start("any", router.Request{Model: "x"})
		w.Plan(router.Request{Model: "y"})
		tally := w.Ledger("chat").Tally(true)
		tally.Content(time.Second)
		tally.Completed(0, 2*time.Second)

		s := w.Snapshot()
		if !s.At.Equal(time.Now()) {
			t.Errorf("at %v, want now", s.At)
		}
		type row struct {
			Target, Provider, Region, Model, State string
			InFlight                               int
			Attempts                               router.Attempts
		}
		var rows []row
		for _, r := range s.Routes {
			rows = append(rows, row{r.Target, r.Provider, r.Region, r.Model, r.State, r.InFlight, r.Attempts})
		}
		want := []row{
			{"eu", "azure", "westeurope", "m", "ok", 1, router.Attempts{Completed: 1, Failed: 1, TimedOut: 1, Cancelled: 1, Lost: 2}},
			{"any", "", "", "m", "no data", 0, router.Attempts{}},
			{"eu", "azure", "westeurope", "n", "no data", 0, router.Attempts{}},
			{"any", "", "", "n", "no data", 0, router.Attempts{}},
			{"any", "", "", "x", "no data", 1, router.Attempts{}},
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Errorf("routes (-want +got):\n%s", diff)
		}
		full := router.HedgeStatus{Share: 0.05, Tokens: 20, Burst: 20, Price: 0.005}
		endpoints := []router.EndpointStatus{
			{Name: "chat", Layers: []budget.LayerStatus{
				// One miss: 0.05 * (1 - 0.8*0.05).
				{Layer: budget.Layer{Metric: budget.TTFT, Percentile: 95, Limit: 600 * ms}, Calls: 1, Missed: 1, Debt: 0.048},
				{Layer: budget.Layer{Metric: budget.Answered, Percentile: 99.9}, Calls: 1},
			}, Hedge: full},
			{Name: "default", Layers: []budget.LayerStatus{{Layer: budget.Layer{Metric: budget.Answered, Percentile: 99.9}}}, Hedge: full},
		}
		if diff := cmp.Diff(endpoints, s.Endpoints, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("endpoints (-want +got):\n%s", diff)
		}
	})
}

// Percentiles of a known set, once it outweighs what is built in: the values are
// 1 to 1000 ms.
func TestSnapshotPercentiles(t *testing.T) {
	in(t, two(p95), func(w world) {
		for i := range 3000 {
			w.record("a", chat, time.Duration(1+(i*617)%1000)*ms)
		}
		s := w.route("a", "m").TTFT
		for _, p := range []struct {
			name      string
			got, want time.Duration
		}{{"p50", s.P50, 500 * ms}, {"p95", s.P95, 950 * ms}, {"p99", s.P99, 990 * ms}} {
			if !near(p.got, p.want) {
				t.Errorf("%s = %v, want %v", p.name, p.got, p.want)
			}
		}
		// 3000 in 300 s: by a half-life of 900 s they weigh 1/(300*ln2/900) * (1 -
		// 2^(-1/3)) = 0.893 on average.
		if s.N < 2640 || s.N > 2720 {
			t.Errorf("N = %v, want 2680", s.N)
		}
	})
}

// A route of which so much hangs that a percentile cannot be told has none.
func TestSnapshotUnbounded(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 100 {
			w.end("a", chat, router.TimedOut, 20*time.Second)
		}
		if s := w.route("a", "m"); s.TTFT.P99 != router.Unbounded {
			t.Errorf("p99 = %v, want none", s.TTFT.P99)
		}
	})
}

// A caller's choice of models makes no more than 65 routes for each target.
func TestUnnamedModelsShareARoute(t *testing.T) {
	c := router.Config{Targets: []router.Target{{Name: "any"}, {Name: "some", Models: []string{"m"}}}}
	in(t, c, func(w world) {
		for i := range 200 {
			req := router.Request{Model: fmt.Sprint("model-", i), Streamed: true}
			p := w.Plan(req)
			if len(p.Choices) != 1 || p.Choices[0].Target != "any" || p.Choices[0].Model != req.Model {
				t.Fatalf("choices = %v, want target any with the model as asked for", p.Choices)
			}
			f, err := w.Start(p.Choices[0], req)
			if err != nil {
				t.Fatal(err)
			}
			w.Report(router.Report{Flight: f, TTFT: time.Second})
		}
		count, other := 0, router.Attempts{}
		for _, s := range w.Snapshot().Routes {
			if s.Target == "any" {
				count++
			}
			if s.Model == "other" {
				other = s.Attempts
			}
		}
		if count != 66 || other.Completed != 200-64 { // 64, "other", and m
			t.Errorf("%d routes, %d attempts on the shared one; want 66 and 136", count, other.Completed)
		}
	})
}

// A route that has been busy for half an hour, streaming and not, stays within 256 KiB.
func TestMemoryOfARoute(t *testing.T) {
	c := router.Config{
		Targets: []router.Target{{Name: "a", Models: []string{"m"}}},
		Budgets: map[string]budget.Budget{
			"chat": {TTFT: budget.Layers{95: 600 * ms}, Total: budget.Layers{50: 2 * time.Second, 95: 5 * time.Second}},
		},
	}
	in(t, c, func(w world) {
		before := heap()
		r, err := router.New(c)
		if err != nil {
			t.Fatal(err)
		}
		w.Router = r
		whole := chat
		whole.Streamed = false
		c := r.Plan(chat).Choices[0]
		for i := range 4 * 1800 { // half an hour: every epoch of every histogram is filled
			req := prompt(1 + i*17%60000)
			f, _ := r.Start(c, req)
			f.Content(time.Duration(1+i*7%3000) * ms)
			r.Report(router.Report{Flight: f, Elapsed: time.Second, TPOT: time.Duration(1+i*3%100) * ms, PromptTokens: req.PromptBytes / 4, OutputTokens: 1 + i%900})
			f, _ = r.Start(c, whole)
			r.Report(router.Report{Flight: f, Elapsed: time.Duration(1+i*11%9000) * ms, OutputTokens: 1 + i%900})
			time.Sleep(250 * ms)
		}
		r.Plan(chat)
		r.Plan(whole)
		w.Snapshot()
		used := heap() - before
		t.Logf("%d KiB", used>>10)
		if used > 256<<10 {
			t.Errorf("a route takes %d KiB, want 256 at most", used>>10)
		}
		runtime.KeepAlive(r)
	})
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // pools are emptied in two steps
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

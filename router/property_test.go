package router_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// Whatever happens to attempts, in whatever order: no flight is lost or counted
// twice, every admissible route is in the plan, taken or refused, and no figure leaves its range.
func TestAnyHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noDeadline := struct{ testing.TB }{t} // the deadline is not known in virtual time
		rapid.Check(noDeadline, func(t *rapid.T) {
			c := router.Config{
				Targets: []router.Target{
					{Name: "a", Provider: "x", Price: router.Price{Input: 1, Output: 2}},
					{Name: "b", Provider: "x", Price: router.Price{Input: 2, Output: 1}},
					{Name: "c", Provider: "y", Price: router.Price{Output: 3}, Models: []string{"m"}},
				},
				Budgets: map[string]budget.Budget{
					"chat": {TTFT: budget.Layers{50: 300 * ms, 99.9: 3 * time.Second}, TPOT: budget.Layers{95: 30 * ms}},
					"all":  {Total: budget.Layers{95: 5 * time.Second}, CostWeight: -1, Abandon: time.Second},
				},
			}
			r, err := router.New(c)
			if err != nil {
				t.Fatal(err)
			}
			h := history{r: r, config: c, of: make(map[*router.Flight]router.Plan)}
			t.Repeat(map[string]func(*rapid.T){
				"start":   h.start,
				"hedge":   h.hedge,
				"content": h.content,
				"report":  h.report,
				"wait":    h.wait,
				"judge":   h.judge,
				"reload":  h.reload,
				"":        h.check,
			})
		})
	})
}

type history struct {
	r        *router.Router
	config   router.Config
	flights  []*router.Flight
	of       map[*router.Flight]router.Plan // of those that are no hedges
	running  int
	attempts router.Attempts
}

func (h *history) start(t *rapid.T) {
	req := router.Request{
		Endpoint:    rapid.SampledFrom([]string{"", "chat", "all"}).Draw(t, "endpoint"),
		Model:       rapid.SampledFrom([]string{"m", "n"}).Draw(t, "model"),
		PromptBytes: rapid.IntRange(0, 1<<20).Draw(t, "bytes"),
		MaxTokens:   rapid.SampledFrom([]int{0, 1, 100, 1 << 20}).Draw(t, "cap"),
		Streamed:    rapid.Bool().Draw(t, "streamed"),
	}
	p := h.r.Plan(req)
	if want := map[string]int{"m": 3, "n": 2}[req.Model]; len(p.Choices)+len(p.Refused) != want || len(p.Choices) == 0 {
		t.Fatalf("%d choices and %d refused, want %d, and something to choose", len(p.Choices), len(p.Refused), want)
	}
	if p.Reason() == "" {
		t.Error("no reason")
	}
	seen := make(map[string]bool)
	for _, c := range p.Choices {
		if seen[c.Target] || c.Abandon < time.Second || c.Abandon > 10*time.Minute {
			t.Errorf("choice %+v among %v: want each once, and 1s to 10min to abandon", c, p.Choices)
		}
		seen[c.Target] = true
	}
	c := rapid.SampledFrom(p.Choices).Draw(t, "choice")
	f, err := h.r.Start(c, req)
	if err != nil {
		t.Fatal(err)
	}
	h.flights = append(h.flights, f)
	h.of[f] = p
	h.running++
}

func (h *history) hedge(t *rapid.T) {
	f := h.draw(t)
	p, ok := h.of[f]
	if !ok {
		return
	}
	hedge := p.Hedge(f, 0)
	if hedge.Again < 0 || hedge.At < 0 || hedge.Again > 0 && p.HedgeFrom == 0 || (hedge.Choice.Target != "") != (hedge.Again > 0 && hedge.At != router.Unbounded) {
		t.Errorf("%+v", hedge)
	}
	if other, err := h.r.Start(hedge.Choice, router.Request{Endpoint: "chat", Model: "m", Streamed: true}); err == nil {
		h.flights = append(h.flights, other)
		h.running++
	}
}

func (h *history) content(t *rapid.T) {
	h.draw(t).Content(h.duration(t))
}

func (h *history) report(t *rapid.T) {
	f := h.draw(t)
	o := rapid.SampledFrom([]router.Outcome{router.Completed, router.Failed, router.TimedOut, router.Cancelled, router.Lost}).Draw(t, "outcome")
	tokens := rapid.IntRange(0, 100000)
	rep := router.Report{
		Flight: f, Outcome: o, Elapsed: h.duration(t), TTFT: h.duration(t), TPOT: h.duration(t), Total: h.duration(t),
		PromptTokens: tokens.Draw(t, "prompt"), CachedTokens: tokens.Draw(t, "cached"), OutputTokens: tokens.Draw(t, "output"),
		Cause: rapid.SampledFrom([]router.Cause{router.CauseRoute, router.CauseCaller}).Draw(t, "cause"),
	}
	h.r.Report(rep)
	h.r.Report(rep)
	for i := range h.flights {
		if h.flights[i] == f && f != nil {
			h.flights = append(h.flights[:i], h.flights[i+1:]...)
			h.running--
			*map[router.Outcome]*uint64{
				router.Completed: &h.attempts.Completed, router.Failed: &h.attempts.Failed, router.TimedOut: &h.attempts.TimedOut,
				router.Cancelled: &h.attempts.Cancelled, router.Lost: &h.attempts.Lost,
			}[o]++
			break
		}
	}
}

func (h *history) wait(t *rapid.T) { time.Sleep(h.duration(t)) }

// reload turns the targets round and changes a layer.
func (h *history) reload(t *rapid.T) {
	h.config.Targets = slices.Clone(h.config.Targets)
	slices.Reverse(h.config.Targets)
	chat := h.config.Budgets["chat"]
	chat.TPOT = budget.Layers{95: 30 * ms, 99: time.Duration(rapid.IntRange(30, 33).Draw(t, "limit")) * ms}
	h.config.Budgets = map[string]budget.Budget{"chat": chat, "all": h.config.Budgets["all"]}
	r, err := h.r.Reload(h.config, all)
	if err != nil {
		t.Fatal(err)
	}
	h.r = r
}

func (h *history) judge(t *rapid.T) {
	tally := h.r.Ledger("chat").Tally(true)
	tally.Failed()
}

// draw returns a flight that is under way, or nil.
func (h *history) draw(t *rapid.T) *router.Flight {
	if len(h.flights) == 0 {
		return nil
	}
	return rapid.SampledFrom(h.flights).Draw(t, "flight")
}

func (h *history) duration(t *rapid.T) time.Duration {
	return time.Duration(math.Exp(rapid.Float64Range(0, 8).Draw(t, "log ms"))-1) * ms
}

func (h *history) check(t *rapid.T) {
	running, sum := 0, router.Attempts{}
	snapshot := h.r.Snapshot()
	for _, e := range snapshot.Endpoints {
		if s := e.Hedge; !(0 <= s.Tokens && s.Tokens <= s.Burst && s.Burst >= 20 && 0.02 <= s.Price && s.Price <= 50.001 && s.Won <= s.Started) {
			t.Errorf("out of range: %+v", s)
		}
	}
	for _, p := range snapshot.Pairs {
		if !(0.05 <= p.Factor && p.Factor <= 1.5 && 0 <= p.Won && 0 <= p.Predicted && p.Predicted <= 100) {
			t.Errorf("out of range: %+v", p)
		}
	}
	for _, s := range snapshot.Routes {
		running += s.InFlight
		sum.Completed += s.Attempts.Completed
		sum.Failed += s.Attempts.Failed
		sum.TimedOut += s.Attempts.TimedOut
		sum.Cancelled += s.Attempts.Cancelled
		sum.Lost += s.Attempts.Lost
		for _, p := range []router.Percentiles{s.TTFT, s.TPOT, s.Total} {
			if !(0 < p.P50 && p.P50 <= p.P95 && p.P95 <= p.P99 && p.N >= 0) {
				t.Errorf("percentiles %+v", p)
			}
		}
		if !(0 <= s.Failures && s.Failures <= 1 && s.Fixed > 0 && s.PerToken >= 0 && s.BytesPerToken >= 1 && s.BytesPerToken <= 16) {
			t.Errorf("out of range: %+v", s)
		}
	}
	if running != h.running || sum != h.attempts {
		t.Errorf("%d in flight, %+v; want %d, %+v", running, sum, h.running, h.attempts)
	}
}

// From many goroutines at once nothing is lost either. Of use under -race.
func TestConcurrentUse(t *testing.T) {
	const goroutines, each = 8, 300
	r, err := router.New(router.Config{
		Targets: []router.Target{{Name: "a"}, {Name: "b"}},
		Budgets: map[string]budget.Budget{"chat": {TTFT: budget.Layers{95: 600 * ms}, Total: budget.Layers{95: time.Second}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var refused atomic.Uint64
	for k := range goroutines {
		all.Go(func() {
			for i := range each {
				req := router.Request{Endpoint: "chat", Model: fmt.Sprint(i % 80), PromptBytes: 4 * i, Streamed: k%2 == 0}
				f, err := r.Start(r.Plan(req).Choices[0], req)
				if err != nil { // the probe, or the exploration, was another's
					refused.Add(1)
					continue
				}
				var parts sync.WaitGroup
				parts.Go(func() { f.Content(time.Duration(i) * ms) })
				parts.Go(func() { r.Report(router.Report{Flight: f, Outcome: router.Outcome(i % 5), OutputTokens: i}) })
				parts.Go(func() { r.Report(router.Report{Flight: f}) })
				parts.Wait()
				if i%100 == 0 {
					r.Snapshot()
				}
			}
		})
	}
	all.Wait()
	ended := uint64(0)
	for _, s := range r.Snapshot().Routes {
		a := s.Attempts
		ended += a.Completed + a.Failed + a.TimedOut + a.Cancelled + a.Lost
		if s.InFlight != 0 {
			t.Errorf("%s %s: %d in flight, want none", s.Target, s.Model, s.InFlight)
		}
	}
	if want := goroutines*each - refused.Load(); ended != want {
		t.Errorf("%d attempts ended, want %d", ended, want)
	}
}

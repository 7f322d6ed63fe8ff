package router

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/latency"
)

func TestScore(t *testing.T) {
	f := fixed()
	f.failures = 0.02
	targets := []Target{{Name: "a"}}
	e := newEndpoint("e", 0, budget.Budget{
		TTFT: budget.Layers{95: 500 * time.Millisecond, 99: time.Second},
		TPOT: budget.Layers{90: 100 * time.Millisecond},
	}, targets)
	for range 10 { // misses p95 TTFT and keeps the others: Q = 10 * 0.05*(1 - 0.8*0.05) = 0.48
		tally := e.ledger.Tally(true)
		tally.Content(700 * time.Millisecond)
		tally.Completed(0, time.Second)
	}
	// P(miss) with a failure as a miss: 0.02 + 0.98*0.1 for p95, 0.02 for p99, 1 for TPOT.
	// Weights: (0.48+0.2)/0.05, 0.2/0.01, 0.2/0.1; and 0.2/0.001 for two failures in a row.
	want := 13.6*0.118 + 20*0.02 + 2*1 + 200*0.02*0.02
	req := Request{Streamed: true, PromptBytes: 4000}
	q := newQuestion(e, &req, time.Now(), nil)
	r := &Router{targets: targets}
	g := &group{router: r, routes: []*route{{target: 0}}}
	list := q.rank(g, &outlook{routes: []*forecast{f}}, nil)
	wantFloat(t, "score", list[0].score, want)

	whole := Request{PromptBytes: 4000}
	q = newQuestion(e, &whole, time.Now(), nil)
	if len(q.layers) != 0 {
		t.Errorf("%d layers concern a call that is not streamed, want none", len(q.layers))
	}
}

// Costs are those of 1000 prompt tokens and the answer's expected length, in medians
// of all.
func TestCostInMedians(t *testing.T) {
	targets := []Target{
		{Name: "a", Price: Price{Input: 1}}, {Name: "b", Price: Price{Input: 2}},
		{Name: "c", Price: Price{Input: 4}}, {Name: "d", Price: Price{Input: 8}},
	}
	e := newEndpoint("e", 0, budget.Budget{TTFT: budget.Layers{95: 2 * time.Second}}, targets)
	req := Request{Streamed: true, PromptBytes: 4000}
	q := newQuestion(e, &req, time.Now(), nil)
	r := &Router{targets: targets}
	g := &group{router: r}
	o := &outlook{}
	for i := range targets {
		g.routes = append(g.routes, &route{target: i, price: targets[i].Price})
		o.routes = append(o.routes, fixed())
	}
	list := q.rank(g, o, nil)
	// The median of 1, 2, 4 and 8 is 3; V is 3; nothing is late and nothing fails.
	for i, want := range []float64{1, 2, 4, 8} {
		wantFloat(t, targets[i].Name, list[i].score, want)
	}
}

// An attempt that will be given up at 2 s keeps no longer limit either.
func TestWhatIsGivenUpKeepsNoLimit(t *testing.T) {
	f := fixed()
	c := latency.NewCounts(secondUnit)
	c.Record(0.5, 50)
	c.Record(8, 50)
	f.dist[ttft] = c.Dist()
	for _, b := range []budget.Budget{
		{TTFT: budget.Layers{95: 10 * time.Second}, Abandon: 2 * time.Second},
		{Total: budget.Layers{95: 60 * time.Second}, Abandon: 2 * time.Second},
	} {
		e := newEndpoint("e", 0, b, []Target{{Name: "a"}})
		f.tables = nil
		req := Request{Streamed: true, PromptBytes: 4000, MaxTokens: 2}
		q := newQuestion(e, &req, time.Now(), nil)
		x := ranked{forecast: f, tokens: 1000, factor: 1, abandon: 2}
		f.tables = make([]tablePlace, 2)
		wantFloat(t, "P(miss)", q.miss(&x, q.layers[0].layer), 0.5)
	}
}

package router

import (
	"fmt"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// BenchmarkFold10 is what one plan in every 250 ms pays for all others: ten routes
// with a quarter of an hour of evidence, and the tables of one endpoint.
func BenchmarkFold10(b *testing.B) {
	targets := make([]Target, 10)
	for i := range targets {
		targets[i] = Target{Name: fmt.Sprintf("t%d", i), Provider: fmt.Sprintf("p%d", i/3), Models: []string{"m"}}
	}
	r, err := New(Config{Targets: targets, Budgets: map[string]budget.Budget{
		"extract": {Total: budget.Layers{95: 10 * time.Second}},
	}})
	if err != nil {
		b.Fatal(err)
	}
	g := r.group("m")
	start := time.Now()
	for at := time.Duration(0); at < 20*time.Minute; at += time.Second {
		for i, rt := range g.routes {
			v := 0.3 + float64(at%17)/50 + float64(i)/100
			rt.ttft.Record(start.Add(at), v)
			rt.tpot.Record(start.Add(at), v/20)
		}
	}
	now := start.Add(20 * time.Minute)
	g.latest.Store(g.fold(now, nil, newScratch(10)))
	r.Plan(Request{Endpoint: "extract", Model: "m", Streamed: true})
	old := g.latest.Load()
	s := newScratch(10)
	b.ReportAllocs()
	for b.Loop() {
		g.fold(now, old, s)
	}
}

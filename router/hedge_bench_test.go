package router_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// BenchmarkHedge10 is advice on a call for which no hedge pays yet, so that every age
// and route is looked at, and on one that is overdue.
func BenchmarkHedge10(b *testing.B) {
	r := benchRouter(b)
	for _, bench := range []struct {
		name string
		req  router.Request
		age  time.Duration
	}{
		{"4_layers", router.Request{Endpoint: "chat", Model: "m", PromptBytes: 4000, Streamed: true}, 0},
		{"4_layers_due", router.Request{Endpoint: "chat", Model: "m", PromptBytes: 4000, Streamed: true}, 550 * time.Millisecond},
		{"total", router.Request{Endpoint: "extract", Model: "m", PromptBytes: 4000, MaxTokens: 500}, 0},
		{"total_streamed", router.Request{Endpoint: "extract", Model: "m", PromptBytes: 4000, MaxTokens: 500, Streamed: true}, 0},
	} {
		b.Run(bench.name, func(b *testing.B) {
			plan := r.Plan(bench.req)
			f, err := r.Start(plan.Choices[0], bench.req)
			if err != nil {
				b.Fatal(err)
			}
			time.Sleep(bench.age)
			b.ReportAllocs()
			for b.Loop() {
				plan.Hedge(f, 1)
			}
			b.StopTimer()
			r.Report(router.Report{Flight: f, Outcome: router.Lost})
		})
	}
}

package router_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// benchRouter returns a router with ten routes that all have some evidence.
func benchRouter(b testing.TB) *router.Router {
	targets := make([]router.Target, 10)
	for i := range targets {
		targets[i] = router.Target{
			Name:     fmt.Sprintf("t%d", i),
			Provider: fmt.Sprintf("p%d", i/3),
			Price:    router.Price{Input: 1 + float64(i)/10, Output: 4},
			Models:   []string{"m"},
			Formats:  []string{"chat", "completions", "responses", "embeddings", "messages"},
		}
	}
	r, err := router.New(router.Config{Targets: targets, Budgets: map[string]budget.Budget{
		"chat": {
			TTFT: budget.Layers{50: 200 * time.Millisecond, 95: 600 * time.Millisecond, 99: 4 * time.Second},
			TPOT: budget.Layers{95: 50 * time.Millisecond},
		},
		"extract": {Total: budget.Layers{95: 10 * time.Second}},
	}})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		req := router.Request{Endpoint: "chat", Model: "m", PromptBytes: 400 * (1 + i%90), Streamed: i%2 == 0}
		plan := r.Plan(req)
		f, err := r.Start(plan.Choices[i%10], req)
		if err != nil {
			b.Fatal(err)
		}
		took := time.Duration(200+i%300) * time.Millisecond
		r.Report(router.Report{
			Flight: f, Elapsed: took * 10, TTFT: took, TPOT: 20 * time.Millisecond,
			PromptTokens: req.PromptBytes / 4, OutputTokens: 50 + i,
		})
	}
	return r
}

func BenchmarkPlan10(b *testing.B) {
	r := benchRouter(b)
	for _, bench := range []struct {
		name string
		req  router.Request
	}{
		{"4_layers", router.Request{Endpoint: "chat", Model: "m", PromptBytes: 4000, Streamed: true}},
		{"total", router.Request{Endpoint: "extract", Model: "m", PromptBytes: 4000, MaxTokens: 500}},
		{"no_layers", router.Request{Model: "m", PromptBytes: 4000, Streamed: true}},
		{"format", router.Request{Endpoint: "chat", Model: "m", Format: "chat", PromptBytes: 4000, Streamed: true}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Plan(bench.req)
			}
		})
	}
}

func BenchmarkPlan10Parallel(b *testing.B) {
	r := benchRouter(b)
	req := router.Request{Endpoint: "chat", Model: "m", PromptBytes: 4000, Streamed: true}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r.Plan(req)
		}
	})
}

// BenchmarkReport is all that an attempt costs beside its plan: start, content,
// report.
func BenchmarkReport(b *testing.B) {
	r := benchRouter(b)
	req := router.Request{Endpoint: "chat", Model: "m", PromptBytes: 4000, Streamed: true}
	c := r.Plan(req).Choices[0]
	b.ReportAllocs()
	for b.Loop() {
		f, _ := r.Start(c, req)
		f.Content(200 * time.Millisecond)
		r.Report(router.Report{Flight: f, Elapsed: time.Second, TPOT: 20 * time.Millisecond, PromptTokens: 1000, OutputTokens: 50, ServedModel: "m-2025-08-07"})
	}
}

// BenchmarkPlan10Limited is a plan where each target has two keys and limits, and one
// key of another model cools down.
func BenchmarkPlan10Limited(b *testing.B) {
	c := router.Config{}
	for i := range 10 {
		c.Targets = append(c.Targets, router.Target{
			Name: fmt.Sprintf("t%d", i), Models: []string{"m", "n"}, Keys: 2,
			Limits: router.Limits{RequestsPerMinute: 1e9, TokensPerMinute: 1e9, Concurrent: 1000},
		})
	}
	r, err := router.New(c)
	if err != nil {
		b.Fatal(err)
	}
	req := router.Request{Model: "n", Streamed: true}
	f, err := r.Start(r.Plan(req).Choices[0], req)
	if err != nil {
		b.Fatal(err)
	}
	r.Report(router.Report{Flight: f, Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: time.Hour})
	req.Model = "m"
	b.ReportAllocs()
	for b.Loop() {
		r.Plan(req)
	}
}

// BenchmarkSnapshot is what a look at ten routes and three endpoints costs, once in 10 s
// with advice.
func BenchmarkSnapshot(b *testing.B) {
	b.Run("advice", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			r := benchRouter(b)
			b.StartTimer()
			r.Snapshot()
		}
	})
	b.Run("usual", func(b *testing.B) {
		r := benchRouter(b)
		for b.Loop() {
			r.Snapshot()
		}
	})
}

package router_test

import (
	"fmt"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// A call from plan to report. Nothing has been seen yet, so that both targets are expected
// to be as what is built in, and the cheaper one is first.
func Example() {
	r, err := router.New(router.Config{
		Targets: []router.Target{
			{Name: "openai", Provider: "openai", Price: router.Price{Input: 2.5, Output: 10}},
			{Name: "azure-eu", Provider: "azure", Price: router.Price{Input: 2.75, Output: 11}},
		},
		Budgets: map[string]budget.Budget{"chat": {TTFT: budget.Layers{95: 2 * time.Second}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	req := router.Request{Endpoint: "chat", Model: "gpt-4o", PromptBytes: 4000, MaxTokens: 1000, Streamed: true}
	plan := r.Plan(req)
	for _, c := range plan.Choices {
		f, err := r.Start(c, req)
		if err != nil {
			continue // somebody else took its last place
		}
		f.Content(400 * time.Millisecond)
		r.Report(router.Report{
			Flight: f, Outcome: router.Completed, Elapsed: 3 * time.Second, TPOT: 20 * time.Millisecond,
			PromptTokens: 1000, OutputTokens: 130,
		})
		break
	}
	for _, s := range r.Snapshot().Routes {
		fmt.Println(s.Target, s.Model, s.State, s.Attempts.Completed)
	}
	// Output: openai gpt-4o ok 1
}

func ExamplePlan_Reason() {
	r, err := router.New(router.Config{
		Targets: []router.Target{
			{Name: "openai", Provider: "openai", Price: router.Price{Input: 2.5, Output: 10}},
			{Name: "azure-eu", Provider: "azure", Price: router.Price{Input: 2.75, Output: 11}},
		},
		Budgets: map[string]budget.Budget{
			"chat":  {TTFT: budget.Layers{95: 2 * time.Second}, Hedge: -1}, // else it says when it would be hedged, too
			"batch": budget.Batch(),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, req := range []router.Request{
		{Endpoint: "chat", Model: "gpt-4o", PromptBytes: 4000, Streamed: true},
		{Endpoint: "batch", Model: "gpt-4o", PromptBytes: 4000},
		{Endpoint: "batch", Model: "gpt-4o", PromptBytes: 4000, Pin: "azure-eu"},
		{Endpoint: "batch", Model: "gpt-4o", PromptBytes: 4000, Pin: "elsewhere"},
	} {
		fmt.Println(r.Plan(req).Reason())
	}
	// Output:
	// openai: best at its cost, keeps p95 TTFT 2s (misses 2% of 5%); then azure-eu
	// openai: the cheapest that answers; then azure-eu
	// azure-eu: pinned
	// none: target "elsewhere" may not serve endpoint "batch", or does not serve the model
}

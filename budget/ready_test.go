package budget_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
)

func ExampleChat() {
	chat := budget.Chat()
	chat.TTFT[99] = 3 * time.Second // a promise for the tail as well
	chat.MaxTokens.Limit = 2048
	for _, layer := range chat.Layers() {
		fmt.Println(layer)
	}
	// Output:
	// p95 TTFT 600ms
	// p99 TTFT 3s
	// p95 TPOT 100ms
}

func ExampleExtract() {
	fmt.Println(budget.Extract().Layers())
	// Output: [p95 total 10s]
}

func ExampleAgent() {
	fmt.Println(budget.Agent().Layers())
	// Output: [p50 total 5s p99 total 20s]
}

func ExampleBatch() {
	batch := budget.Batch()
	batch.MaxTokens.Limit = 8192
	fmt.Printf("%d layers, %.0f%% hedges, cost weight %v\n", len(batch.Layers()), 100*batch.HedgeShare(), batch.Weight())
	// Output: 0 layers, 0% hedges, cost weight 3
}

// What one caller changes is not the next one's, and all of them are valid.
func TestReadyBudgets(t *testing.T) {
	for name, ready := range map[string]func() budget.Budget{
		"chat": budget.Chat, "extract": budget.Extract, "agent": budget.Agent, "batch": budget.Batch,
	} {
		first := ready()
		if err := first.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, layers := range []budget.Layers{first.TTFT, first.TPOT, first.Total} {
			for p := range layers {
				layers[p] = time.Hour
			}
		}
		if diff := cmp.Diff(ready(), ready()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, l := range ready().Layers() {
			if l.Limit == time.Hour {
				t.Errorf("%s: %v was changed by another caller", name, l)
			}
		}
	}
}

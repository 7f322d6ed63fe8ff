package budget_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Layers that stay keep their debt and their calls, also those that are entered by a
// tally from before; a layer with another limit begins anew.
func TestRenew(t *testing.T) {
	old := budget.NewLedger(budget.Budget{TTFT: budget.Layers{95: time.Second, 99: 2 * time.Second}})
	before := old.Tally(true)
	miss := func(t budget.Tally) {
		t.Content(3 * time.Second)
		t.Completed(0, 3*time.Second)
	}
	miss(old.Tally(true))
	renewed := old.Renew(budget.Budget{
		TTFT:  budget.Layers{95: time.Second, 99: 4 * time.Second},
		Total: budget.Layers{95: time.Second},
	})
	miss(before)
	miss(renewed.Tally(true))
	// 0.05*(1 - 0.8*0.05) = 0.048 for each miss of a p95.
	for i, want := range []struct {
		layer         string
		calls, missed uint64
		debt          float64
	}{
		{"p95 TTFT 1s", 3, 3, 0.144},
		{"p99 TTFT 4s", 1, 0, 0},
		{"p95 total 1s", 1, 1, 0.048},
		{"99.9% answered", 3, 0, 0},
	} {
		got := renewed.Status()[i]
		if got.Layer.String() != want.layer || got.Calls != want.calls || got.Missed != want.missed ||
			got.Debt < want.debt-1e-9 || got.Debt > want.debt+1e-9 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

package budget_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Calls that were served elsewhere make debt, and are not counted.
func TestAbsorb(t *testing.T) {
	l := budget.NewLedger(budget.Budget{Total: budget.Layers{95: time.Second}})
	for _, step := range []struct {
		calls, missed uint64
		want          float64
	}{
		{10, 0, 0},          // nothing is owed
		{10, 4, 0.18},       // 0.05*(4 - 0.8*0.05*10)
		{40, 0, 0.10},       // less 0.05*0.8*0.05*40
		{2000, 2000, 50},    // the most there is
		{1000000, 0, 0},     // and none
		{3, 3, 0.05 * 2.88}, // 3 * 0.048
	} {
		l.Absorb(0, step.calls, step.missed)
		near(t, "debt", l.Debt(0), step.want)
	}
	if s := l.Status()[0]; s.Calls != 0 || s.Missed != 0 {
		t.Errorf("%d of %d calls missed are counted, want none", s.Missed, s.Calls)
	}
}

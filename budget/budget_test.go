package budget_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
)

const ms = time.Millisecond

func TestBudgetLayers(t *testing.T) {
	b := budget.Budget{
		Total: budget.Layers{95: 10 * time.Second},
		TPOT:  budget.Layers{99: 200 * ms, 50: 50 * ms},
		TTFT:  budget.Layers{99.9: 4 * time.Second, 50: 200 * ms, 95: 600 * ms},
	}
	want := []budget.Layer{
		{Metric: budget.TTFT, Percentile: 50, Limit: 200 * ms},
		{Metric: budget.TTFT, Percentile: 95, Limit: 600 * ms},
		{Metric: budget.TTFT, Percentile: 99.9, Limit: 4 * time.Second},
		{Metric: budget.TPOT, Percentile: 50, Limit: 50 * ms},
		{Metric: budget.TPOT, Percentile: 99, Limit: 200 * ms},
		{Metric: budget.Total, Percentile: 95, Limit: 10 * time.Second},
	}
	if diff := cmp.Diff(want, b.Layers()); diff != "" {
		t.Errorf("Layers (-want +got):\n%s", diff)
	}
	if got := (budget.Budget{}).Layers(); len(got) != 0 {
		t.Errorf("the zero Budget has layers: %v", got)
	}
}

func TestLayerString(t *testing.T) {
	for want, layer := range map[string]budget.Layer{
		"p95 TTFT 600ms": {Metric: budget.TTFT, Percentile: 95, Limit: 600 * ms},
		"p99.9 TTFT 4s":  {Metric: budget.TTFT, Percentile: 99.9, Limit: 4 * time.Second},
		"p50 TPOT 25ms":  {Metric: budget.TPOT, Percentile: 50, Limit: 25 * ms},
		"p95 total 10s":  {Metric: budget.Total, Percentile: 95, Limit: 10 * time.Second},
		"99.9% answered": {Metric: budget.Answered, Percentile: 99.9},
	} {
		if got := layer.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

func TestMetricString(t *testing.T) {
	for want, m := range map[string]budget.Metric{
		"ttft": budget.TTFT, "tpot": budget.TPOT, "total": budget.Total, "answered": budget.Answered, "metric(9)": 9,
	} {
		if got := m.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

func TestLayerAllowed(t *testing.T) {
	for percentile, want := range map[float64]float64{
		50:   0.5,
		95:   0.05,
		99:   0.01,
		99.9: 0.001,
		0.5:  0.995,
	} {
		if got := (budget.Layer{Percentile: percentile}).Allowed(); math.Abs(got-want) > 1e-15 {
			t.Errorf("p%v: Allowed() = %v, want %v", percentile, got, want)
		}
	}
}

func TestEffectiveValues(t *testing.T) {
	for _, c := range []struct{ set, hedge, weight float64 }{
		{set: 0, hedge: 0.05, weight: 3},
		{set: 0.2, hedge: 0.2, weight: 0.2},
		{set: 1, hedge: 1, weight: 1},
		{set: -1, hedge: 0, weight: 0},
		{set: -0.01, hedge: 0, weight: 0},
	} {
		b := budget.Budget{Hedge: c.set, CostWeight: c.set}
		if got := b.HedgeShare(); got != c.hedge {
			t.Errorf("Hedge %v: HedgeShare() = %v, want %v", c.set, got, c.hedge)
		}
		if got := b.Weight(); got != c.weight {
			t.Errorf("CostWeight %v: Weight() = %v, want %v", c.set, got, c.weight)
		}
	}
}

func TestEndpoint(t *testing.T) {
	ctx := context.Background()
	if got := budget.Endpoint(ctx); got != "" {
		t.Errorf("no endpoint named: Endpoint() = %q, want none", got)
	}
	chat := budget.With(ctx, "chat")
	batch, cancel := context.WithCancel(budget.With(chat, "batch"))
	defer cancel()
	if got := budget.Endpoint(chat); got != "chat" {
		t.Errorf("Endpoint() = %q, want chat", got)
	}
	if got := budget.Endpoint(batch); got != "batch" {
		t.Errorf("the innermost name counts: Endpoint() = %q, want batch", got)
	}
}

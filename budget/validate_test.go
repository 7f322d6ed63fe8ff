package budget_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
)

func TestValidateAccepts(t *testing.T) {
	for name, b := range map[string]budget.Budget{
		"zero": {},
		"all set": {
			TTFT:       budget.Layers{1: ms, 50: 200 * ms, 95: 600 * ms, 99.9: 4 * time.Second},
			TPOT:       budget.Layers{95: 100 * ms},
			Total:      budget.Layers{95: 10 * time.Second},
			MaxTokens:  budget.MaxTokens{Default: 1024, Limit: 1024, Fit: true, Strict: true},
			Deadline:   10 * time.Second,
			Abandon:    time.Hour,
			Hedge:      1,
			CostWeight: 12,
			Targets:    []string{"azure-eu", "openai"},
			Models:     []string{"gpt-4o-mini", "small"},
		},
		"equal limits":                  {TTFT: budget.Layers{95: 600 * ms, 99: 600 * ms}, Total: budget.Layers{95: 600 * ms}},
		"total below a higher TTFT":     {TTFT: budget.Layers{99: 4 * time.Second}, Total: budget.Layers{95: 2 * time.Second}},
		"no default, hedge or cost":     {MaxTokens: budget.MaxTokens{Default: -1, Limit: 100}, Hedge: -1, CostWeight: -1},
		"default without limit":         {MaxTokens: budget.MaxTokens{Default: 100_000}},
		"limit below the usual default": {MaxTokens: budget.MaxTokens{Limit: 100}},
	} {
		if err := b.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateRejects(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		budget budget.Budget
		want   []string
	}{
		"percentile": {
			budget.Budget{TTFT: budget.Layers{-1: ms, 0: ms, 100: ms, inf: ms, nan: ms}},
			[]string{
				"ttft.pNaN: percentile NaN is out of range: it is at least 1 and below 100, such as 95 (not 0.95) or 99.9",
				"ttft.p-1: percentile -1 is out of range: it is at least 1 and below 100, such as 95 (not 0.95) or 99.9",
				"ttft.p0: percentile 0 is out of range: it is at least 1 and below 100, such as 95 (not 0.95) or 99.9",
				"ttft.p100: percentile 100 is out of range: it is at least 1 and below 100, such as 95 (not 0.95) or 99.9",
				"ttft.p+Inf: percentile +Inf is out of range: it is at least 1 and below 100, such as 95 (not 0.95) or 99.9",
			},
		},
		"limit": {
			budget.Budget{TPOT: budget.Layers{50: 0, 95: -ms}},
			[]string{
				"tpot.p50: limit 0s promises nothing: set a time above 0, such as 600ms, or remove the layer",
				"tpot.p95: limit -1ms promises nothing: set a time above 0, such as 600ms, or remove the layer",
			},
		},
		"without a unit": {
			budget.Budget{TTFT: budget.Layers{95: 600}, Total: budget.Layers{95: 99_999}, Deadline: 30, Abandon: 5},
			[]string{
				"ttft.p95: limit 600ns is shorter than any call: say the unit, such as 600ms, which in Go is 600 * time.Millisecond",
				"total.p95: limit 99.999µs is shorter than any call: say the unit, such as 600ms, which in Go is 600 * time.Millisecond",
				"deadline: 30ns is shorter than any call: say the unit, such as 600ms, which in Go is 600 * time.Millisecond",
				"abandon: 5ns is shorter than any call: say the unit, such as 600ms, which in Go is 600 * time.Millisecond",
			},
		},
		"order, all at once": {
			budget.Budget{TTFT: budget.Layers{50: time.Second, 95: 100 * ms, 99.9: 500 * ms}},
			[]string{
				"ttft.p95: limit 100ms is shorter than the 1s of ttft.p50, but a higher percentile takes longer: raise it to 1s or more, or lower ttft.p50",
				"ttft.p99.9: limit 500ms is shorter than the 1s of ttft.p50, but a higher percentile takes longer: raise it to 1s or more, or lower ttft.p50",
			},
		},
		"order within each metric": {
			budget.Budget{
				TPOT:  budget.Layers{50: 2 * ms, 95: ms},
				Total: budget.Layers{50: 2 * time.Second, 95: time.Second},
			},
			[]string{
				"tpot.p95: limit 1ms is shorter than the 2ms of tpot.p50, but a higher percentile takes longer: raise it to 2ms or more, or lower tpot.p50",
				"total.p95: limit 1s is shorter than the 2s of total.p50, but a higher percentile takes longer: raise it to 2s or more, or lower total.p50",
			},
		},
		"total before first token": {
			budget.Budget{TTFT: budget.Layers{95: 2 * time.Second}, Total: budget.Layers{95: time.Second}},
			[]string{
				"total.p95: limit 1s is shorter than the 2s of ttft.p95, but an answer cannot end before it starts: raise it above 2s, or lower ttft.p95",
			},
		},
		"tokens": {
			budget.Budget{MaxTokens: budget.MaxTokens{Limit: -1}},
			[]string{
				"max_tokens.limit: -1 is negative: set the most tokens that a call may ask for, or leave it out for no limit",
			},
		},
		"default above limit": {
			budget.Budget{MaxTokens: budget.MaxTokens{Default: 200, Limit: 100}},
			[]string{
				"max_tokens.default: 200 is above max_tokens.limit, which is 100: lower it to 100 or less, or raise the limit",
			},
		},
		"negative times": {
			budget.Budget{Deadline: -time.Second, Abandon: -time.Minute, TTFT: budget.Layers{95: ms}},
			[]string{
				"deadline: -1s is negative: set a time above 0, or leave it out for the caller's context alone",
				"abandon: -1m0s is negative: set a time above 0, or leave it out to let the distribution of the route decide",
			},
		},
		"deadline inside layers": {
			budget.Budget{
				Deadline: 3 * time.Second,
				TTFT:     budget.Layers{50: time.Second, 99: 4 * time.Second},
				Total:    budget.Layers{50: 3 * time.Second, 95: 10 * time.Second},
			},
			[]string{
				"deadline: 3s ends a call before it could miss p99 TTFT 4s, p95 total 10s: raise it to 10s or more, or lower those limits",
			},
		},
		"hedge above 1": {
			budget.Budget{Hedge: 5},
			[]string{
				"hedge: 5 is more than all calls: set a share above 0 and up to 1 (5% is 0.05), or a negative number for none",
			},
		},
		"not numbers": {
			budget.Budget{Hedge: inf, CostWeight: nan},
			[]string{
				"hedge: +Inf is not a share: set one above 0 and up to 1, such as 0.05 for 5%, or a negative number for none",
				"cost_weight: NaN is not a weight: set a finite number, such as 3, or a negative one to ignore cost",
			},
		},
		"names": {
			budget.Budget{Targets: []string{"a", "", "a"}, Models: []string{"m", "m", " "}},
			[]string{
				"targets[1]: the name is empty: write one, or remove the entry",
				`targets[2]: "a" is already targets[0]: remove one of them`,
				`models[1]: "m" is already models[0]: remove one of them`,
				"models[2]: the name is empty: write one, or remove the entry",
			},
		},
		"everything at once": {
			budget.Budget{
				TTFT:      budget.Layers{0: 0, 95: 2 * time.Second},
				Total:     budget.Layers{95: time.Second},
				MaxTokens: budget.MaxTokens{Limit: -1},
				Deadline:  -1,
				Hedge:     nan,
				Models:    []string{""},
			},
			[]string{
				"ttft.p0: percentile 0 is out of range: it is at least 1 and below 100, such as 95 (not 0.95) or 99.9",
				"ttft.p0: limit 0s promises nothing: set a time above 0, such as 600ms, or remove the layer",
				"total.p95: limit 1s is shorter than the 2s of ttft.p95, but an answer cannot end before it starts: raise it above 2s, or lower ttft.p95",
				"max_tokens.limit: -1 is negative: set the most tokens that a call may ask for, or leave it out for no limit",
				"deadline: -1ns is negative: set a time above 0, or leave it out for the caller's context alone",
				"hedge: NaN is not a share: set one above 0 and up to 1, such as 0.05 for 5%, or a negative number for none",
				"models[0]: the name is empty: write one, or remove the entry",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, problems(t, c.budget.Validate())); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestProblemFields(t *testing.T) {
	err := budget.Budget{MaxTokens: budget.MaxTokens{Limit: -1}}.Validate()
	var p budget.Problem
	if !errors.As(err, &p) || p.Field != "max_tokens.limit" {
		t.Errorf("errors.As gives %+v from %v, want the field max_tokens.limit", p, err)
	}
}

func problems(t *testing.T, err error) (texts []string) {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("Validate() = %v, want joined problems", err)
	}
	for _, p := range joined.Unwrap() {
		texts = append(texts, p.Error())
	}
	return texts
}

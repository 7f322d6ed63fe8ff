package client_test

import (
	"math"
	"testing"
	"testing/synctest"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/router"
)

// A call costs what its model does: also the prompt of an attempt that lost, and of a
// fallback what that model does.
func TestCostByModel(t *testing.T) {
	target := func(name string, times float64) client.Target {
		return client.Target{
			Name: name, Provider: "compatible", Models: map[string]string{"large": "l", "small": "s"},
			Price:  router.Price{Input: 10 * times, Output: 100 * times},
			Prices: map[string]router.Price{"small": {Input: times, Output: 2 * times}},
		}
	}
	chat := budget.Budget{TTFT: budget.Layers{95: 1000 * ms}, Hedge: 1, Models: []string{"large", "small"}}
	cheapest(&chat)
	gone := httpError(404, "model_not_found")
	for _, test := range []struct {
		name, model string
		one, two    []upstream.Step
		attempts    int
		input       float64 // USD per million prompt tokens, all attempts
		output      float64
	}{
		{name: "large", model: "large", attempts: 1, input: 10, output: 100},
		{name: "small", model: "small", attempts: 1, input: 1, output: 2},
		{name: "large, the hedge wins", model: "large", one: []upstream.Step{hang(1)}, attempts: 2, input: 10 + 20, output: 200},
		{name: "small, the hedge wins", model: "small", one: []upstream.Step{hang(1)}, attempts: 2, input: 1 + 2, output: 4},
		{name: "a fallback", model: "large", one: []upstream.Step{gone}, two: []upstream.Step{gone}, attempts: 3, input: 1, output: 2},
		{
			name: "a fallback whose hedge wins", model: "large", one: []upstream.Step{gone, hang(1)}, two: []upstream.Step{gone},
			attempts: 4, input: 1 + 2, output: 4,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, unhurried, client.Config{
					Targets:   []client.Target{target("one", 1), target("two", 2)},
					Endpoints: map[string]budget.Budget{"chat": chat},
				}, "one", "two")
				f.servers["one"].Script(test.one...)
				f.servers["two"].Script(test.two...)
				if _, err := stream(t.Context(), f.chat(), askFor(test.model)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				call := f.lastCall(t)
				want := (float64(call.Usage.Input)*test.input + float64(call.Usage.Output)*test.output) / 1e6
				if len(call.Attempts) != test.attempts || call.Usage.Input == 0 || math.Abs(call.Cost-want) > 1e-9 {
					t.Errorf("$%v in %d attempts, want $%v in %d", call.Cost, len(call.Attempts), want, test.attempts)
				}
			})
		})
	}
}

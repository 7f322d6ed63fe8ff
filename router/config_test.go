package router_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

func TestNewReportsEveryProblem(t *testing.T) {
	priced := router.Price{Input: 1}
	tests := []struct {
		name string
		c    router.Config
		want []string // fields
	}{
		{"no targets", router.Config{}, []string{"targets"}},
		{
			"names",
			router.Config{
				Targets: []router.Target{{Name: ""}, {Name: "a"}, {Name: "Big"}, {Name: "a"}, {Name: strings.Repeat("x", 64)}, {Name: "a b"}},
				Budgets: map[string]budget.Budget{"Chat": {}},
			},
			[]string{"targets[0].name", "targets[2].name", "targets[3].name", "targets[4].name", "targets[5].name", "endpoints.Chat"},
		},
		{
			"models",
			router.Config{Targets: []router.Target{{Name: "a", Models: []string{}}, {Name: "b", Models: []string{"m", ""}}}},
			[]string{"targets[0].models", "targets[1].models[1]"},
		},
		{
			"formats",
			router.Config{Targets: []router.Target{{Name: "a", Formats: []string{}}, {Name: "b", Formats: []string{"chat", ""}}}},
			[]string{"targets[0].formats", "targets[1].formats"},
		},
		{
			"numbers",
			router.Config{Targets: []router.Target{{
				Name:   "a",
				Price:  router.Price{Input: -1, CachedInput: math.NaN(), Output: math.Inf(1)},
				Limits: router.Limits{RequestsPerMinute: -1, TokensPerMinute: -1, Concurrent: -1},
			}}},
			[]string{
				"targets[0].price.input", "targets[0].price.cached_input", "targets[0].price.output",
				"targets[0].limits.requests_per_minute", "targets[0].limits.tokens_per_minute", "targets[0].limits.concurrent",
			},
		},
		{
			"endpoints",
			router.Config{
				Targets: []router.Target{{Name: "a"}},
				Budgets: map[string]budget.Budget{
					"batch": {Targets: []string{"b", "a"}},
					"chat":  {TTFT: budget.Layers{101: time.Second}, Hedge: 2},
				},
			},
			[]string{"endpoints.batch.targets[0]", "endpoints.chat.ttft.p101", "endpoints.chat.hedge"},
		},
		{
			"prices of models",
			router.Config{Targets: []router.Target{
				{Name: "a", Models: []string{"m", "n"}, Prices: map[string]router.Price{"m": {Output: -1}, "x": priced}},
				{Name: "b", Prices: map[string]router.Price{"m": priced, "": priced}},
				{Name: "c", Models: []string{"m", "n"}, Price: priced, Prices: map[string]router.Price{"n": {}}},
			}, Budgets: map[string]budget.Budget{"chat": {CostWeight: -1}, "default": {CostWeight: -1}}},
			[]string{
				"targets[0].prices.m.output", "targets[0].prices.x", "targets[0].prices", // n has none
				"targets[1].prices.", "targets[1].prices", // any other model has none
			},
		},
		{
			"prices on some",
			router.Config{
				Targets: []router.Target{{Name: "a", Price: priced}, {Name: "b"}, {Name: "c", Price: priced}},
				Budgets: map[string]budget.Budget{
					"all":     {},
					"alike":   {Targets: []string{"a", "c"}},
					"ignored": {CostWeight: -1},
				},
			},
			[]string{"endpoints.all.targets"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := router.New(test.c)
			var joined interface{ Unwrap() []error }
			if !errors.As(err, &joined) {
				t.Fatalf("error %v, want one that lists problems", err)
			}
			var got []string
			for _, err := range joined.Unwrap() {
				var p budget.Problem
				if !errors.As(err, &p) || p.Message == "" {
					t.Errorf("%v is no budget.Problem with a message", err)
				}
				got = append(got, p.Field)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

func TestNewTakesAValidConfig(t *testing.T) {
	models := []string{"m"}
	c := router.Config{
		Targets: []router.Target{{Name: "a", Models: models, Price: router.Price{Output: 1}}, {Name: "b-1._x"}},
		Budgets: map[string]budget.Budget{"chat": {Targets: []string{"a"}, TTFT: budget.Layers{95: time.Second}}},
	}
	r, err := router.New(c)
	if err != nil {
		t.Fatal(err)
	}
	models[0], c.Targets[0].Name = "n", "z"
	if got := targets(r.Plan(router.Request{Endpoint: "chat", Model: "m"})); !cmp.Equal(got, []string{"a"}) {
		t.Errorf("choices = %v, want a: the router keeps a copy of its config", got)
	}
	if b, ok := r.Budget("chat"); !ok || b.TTFT[95] != time.Second {
		t.Errorf("budget of chat = %v, %v", b, ok)
	}
	for _, name := range []string{"", "default"} {
		if b, ok := r.Budget(name); !ok || len(b.Layers()) != 0 {
			t.Errorf("budget of %q = %v, %v; want that of default", name, b, ok)
		}
	}
	if _, ok := r.Budget("chta"); ok {
		t.Error("there is a budget for an endpoint that there is not")
	}
	if r.Ledger("chat") == r.Ledger("") || r.Ledger("chta") != r.Ledger("default") {
		t.Error("ledgers: want one for each endpoint, and default's for what is unknown")
	}
}

package router_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/router"
)

func TestLabel(t *testing.T) {
	r, err := router.New(router.Config{Targets: []router.Target{{Name: "one", Models: []string{"m"}}, {Name: "two"}}})
	if err != nil {
		t.Fatal(err)
	}
	plan := func(model string) {
		p := r.Plan(router.Request{Model: model})
		p.Release()
	}
	for _, model := range []string{"asked-for", "\xff", strings.Repeat("x", 200)} {
		plan(model)
	}
	for model, want := range map[string]string{
		"m": "m", "asked-for": "asked-for", "other": "other",
		"never-seen": "other", "": "other", "\xff": "other", strings.Repeat("x", 200): "other",
	} {
		if got := r.Label(model); got != want {
			t.Errorf("%q goes by %q, want %q", model, got, want)
		}
	}
	for i := range 100 {
		plan(fmt.Sprint("model-", i))
	}
	if got := r.Label("model-99"); got != "other" {
		t.Errorf("the 100th model goes by %q, want other", got)
	}
}

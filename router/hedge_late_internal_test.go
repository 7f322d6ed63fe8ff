package router

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// What came before the first fit was converted by a guess. On a quick target with short
// prompts that is wrong by a factor of three: all that came after would be late for ever,
// and nothing be hedged onto it.
func TestUsualIsNotFromAGuess(t *testing.T) {
	for name, between := range map[string]time.Duration{"many before the fit": 5 * time.Millisecond, "few": 40 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := New(Config{
					Targets: []Target{{Name: "a"}, {Name: "b"}},
					Budgets: map[string]budget.Budget{"e": {TTFT: budget.Layers{95: 150 * time.Millisecond}}},
				})
				if err != nil {
					t.Fatal(err)
				}
				req := Request{Endpoint: "e", Model: "m", Streamed: true, PromptBytes: 40}
				for i := range 300 {
					f, err := r.Start(r.Plan(req).Choices[0], req)
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(between)
					took := time.Duration(10+i*7%20) * time.Millisecond
					f.Content(took)
					r.Report(Report{Flight: f, TTFT: took, OutputTokens: 5, PromptTokens: 10})
				}
				for _, c := range r.Plan(req).Choices {
					if x := c.way.route.expect(); x.recent.ill() {
						t.Errorf("%s always takes 10 to 29ms and is thought to be late: %+v", c.Target, x.recent)
					}
				}
			})
		})
	}
}

package client_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
)

// A model whose name does not tell that it reasons is known by its usage: it thinks for
// 800 ms before the first word of an answer, which streaming saves nobody.
func TestNoAdviceToStreamWhatIsThought(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := upstream.Behaviour{
			TTFT: upstream.Latency{Median: 200 * ms, Sigma: 0.2}, Pace: upstream.Latency{Median: 10 * ms},
			Output: upstream.Length{Median: 100, Sigma: 0.5}, Reasoning: 80,
		}
		f := newFleet(t, b, client.Config{Endpoints: map[string]budget.Budget{"chat": {TTFT: budget.Layers{95: time.Second}}}}, "one")
		for i := range 60 {
			if _, err := f.Endpoint("chat").Chat.Completions.New(t.Context(), question(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.lastCall(t).Usage.Reasoning; got != 80 {
			t.Fatalf("%d tokens of reasoning, want 80", got)
		}
		for _, e := range f.Snapshot().Endpoints {
			for _, a := range e.Advice {
				if strings.Contains(a.Text, "streamed") || strings.Contains(a.Text, "Writing") {
					t.Errorf("advice on what was shown to nobody: %s", a.Text)
				}
			}
		}
	})
}

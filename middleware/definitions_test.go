package middleware_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// The example that shows how far tools are apart: the role at 200 ms, ten
// tokens of one event each from 500 to 1400 ms, the finish with the last one,
// the usage at 1420 ms.
func workedExample(t *testing.T) middleware.Attempt {
	chunk := func(after time.Duration, delta, finish string) upstream.Part {
		return upstream.Part{After: after, Data: fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)}
	}
	parts := []upstream.Part{chunk(0, `{"role":"assistant","content":""}`, "null"), chunk(300*ms, `{"content":"a"}`, "null")}
	for range 9 {
		parts = append(parts, chunk(100*ms, `{"content":"a"}`, "null"))
	}
	parts = append(parts,
		chunk(0, `{}`, `"stop"`),
		upstream.Part{After: 20 * ms, Data: "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":10}}\n\n"},
		upstream.Part{Data: "data: [DONE]\n\n"})
	server := upstream.New("one", upstream.Behaviour{}, 1)
	server.Script(upstream.Step{Raw: &upstream.Raw{
		Delay: 200 * ms, Parts: parts, Headers: map[string]string{"Content-Type": "text/event-stream"},
	}})
	var calls []middleware.Call
	c := metered(server, &calls)
	s := c.Chat.Completions.NewStreaming(t.Context(), params())
	for s.Next() {
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return calls[0].Attempts[0]
}

func TestDefinitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := workedExample(t)
		if a.TTFT != 500*ms || a.TPOT != 100*ms || a.Total != 1420*ms {
			t.Errorf("ours: TTFT %v, TPOT %v, total %v; want 500ms, 100ms, 1.42s", a.TTFT, a.TPOT, a.Total)
		}
		want := []middleware.Definition{
			{Tool: "vLLM", TTFT: 200 * ms, TPOT: 1200 * ms / 9, ITL: 1200 * ms / 11, E2E: 1400 * ms}, // 12 chunks with a choice
			{Tool: "SGLang", TTFT: 500 * ms, TPOT: 920 * ms / 9, ITL: 100 * ms, E2E: 1420 * ms},      // the usage chunk counts
			{Tool: "GenAI-Perf", TTFT: 500 * ms, ITL: 900 * ms / 9, E2E: 1400 * ms},
			{Tool: "AIPerf", TTFT: 500 * ms, ITL: 900 * ms / 9, E2E: 1400 * ms},
			{Tool: "GuideLLM", TTFT: 500 * ms, TPOT: 1400 * ms / 10, ITL: 900 * ms / 9, E2E: 1400 * ms},
			{Tool: "LLMPerf", TTFT: 500 * ms, ITL: 1400 * ms / 12, E2E: 1400 * ms},
			{Tool: "Langfuse", TTFT: 200 * ms},
			{Tool: "OTel GenAI", TTFT: 500 * ms, ITL: 100 * ms, E2E: 1420 * ms},
		}
		if diff := cmp.Diff(want, middleware.Definitions(a)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

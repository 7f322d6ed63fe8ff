package dialect_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/dialect"
)

func TestTimingOfProviders(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		data string
		want dialect.Timing
	}{
		"Groq": {
			`{"choices":[],"model":"m","x_groq":{"usage":{"queue_time":0.07,"prompt_tokens":293,"prompt_time":0.029,"completion_tokens":29,"completion_time":0.0625,"total_time":0.0915}}}`,
			dialect.Timing{Queue: 70 * ms, Prefill: 29 * ms, Decode: 62500 * time.Microsecond},
		},
		"Groq, in usage": {
			`{"choices":[],"model":"m","usage":{"queue_time":0.005,"prompt_tokens":1,"prompt_time":0.017,"completion_tokens":2,"completion_time":0.125}}`,
			dialect.Timing{Queue: 5 * ms, Prefill: 17 * ms, Decode: 125 * ms},
		},
		"Cerebras": {
			`{"choices":[],"model":"m","time_info":{"queue_time":0.0005,"prompt_time":0.001,"completion_time":0.005,"total_time":0.022,"created":1723733419}}`,
			dialect.Timing{Queue: 500 * time.Microsecond, Prefill: ms, Decode: 5 * ms},
		},
		"Azure": {
			`{"choices":[],"model":"m","latency_checkpoint":{"engine_tbt_ms":14,"engine_ttft_ms":33,"pre_inference_ms":128,"service_ttft_ms":230,"total_duration_ms":1928}}`,
			dialect.Timing{Queue: 128 * ms, Prefill: 33 * ms, TTFT: 230 * ms},
		},
		"llama.cpp": {
			`{"choices":[],"model":"m","timings":{"cache_n":138,"prompt_n":1,"prompt_ms":8.5,"predicted_n":41,"predicted_ms":340.25}}`,
			dialect.Timing{Prefill: 8500 * time.Microsecond, Decode: 340250 * time.Microsecond},
		},
		"Hugging Face": {
			`{"choices":[],"model":"m","sla_metrics":{"ttft_ms":12.5}}`,
			dialect.Timing{TTFT: 12500 * time.Microsecond},
		},
		"nonsense": {
			`{"choices":[],"model":"m","time_info":{"queue_time":-1,"prompt_time":1e300,"completion_time":"0.1"},"timings":[],"sla_metrics":null}`,
			dialect.Timing{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var ev dialect.Event
			dialect.Chat.NewReader().Read(nil, []byte(test.data), &ev)
			if diff := cmp.Diff(test.want, ev.Timing); diff != "" || string(ev.Model) != "m" {
				t.Errorf("model %q, -want +got\n%s", ev.Model, diff)
			}
		})
	}
}

func TestTimingMerge(t *testing.T) {
	got := dialect.Timing{Queue: 1, Prefill: 2, TTFT: 3}
	got.Merge(&dialect.Timing{Prefill: 20, Decode: 40})
	if want := (dialect.Timing{Queue: 1, Prefill: 20, Decode: 40, TTFT: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

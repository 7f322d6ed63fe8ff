package dialect_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// richEvents have every member that is read, by format.
var richEvents = map[string][]string{
	"chat": {
		`{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":1,"delta":{"role":"assistant","content":"Hi","reasoning_content":"hm","refusal":"No",
		  "tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"},"custom":{"name":"g","input":"x"}}],"function_call":{"name":"f","arguments":"{}"},
		  "audio":{"data":"AA","transcript":"Hi"},"images":[{"image_url":{"url":"x"}}]},"logprobs":{"content":[{"token":"a"}],"refusal":[]},"token_ids":[1],"finish_reason":"stop",
		  "usage":{"prompt_tokens":5},"error":{"code":500}}],
		  "usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}}`,
		`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Hi"},{"type":"image_url","image_url":{"url":"x"}}],
		  "reasoning_details":[{"type":"reasoning.text","text":"hm"},{"type":"reasoning.summary","summary":"hm"},{"type":"reasoning.encrypted","data":"AA"}]}}],
		  "x_groq":{"usage":{"prompt_tokens":5},"error":"boom"},"base_resp":{"status_code":1002,"status_msg":"m"},"latency_checkpoint":{"service_ttft_ms":5}}`,
		`{"object":"chat.completion","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"length"}],"error":null}`,
		`{"error":{"message":"m","type":"t","code":"c","param":"p","status":"s","status_code":429,"error":{"message":"n"}},"choices":[]}`,
		`{"object":"error","type":"error","message":"m","msg":"m","code":400,"error_code":"x","status_code":400,"detail":[{"loc":["body"]}]}`,
	},
	"completions": {
		`{"id":"c","object":"text_completion","choices":[{"text":"Hi","index":0,"logprobs":{"tokens":["H"]},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
	},
	"responses": {
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"Hi"},{"type":"refusal","refusal":"No"}]}}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"content":[{"type":"reasoning_text","text":"hm"}]}}`,
		`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","name":"f","arguments":"{}"}}`,
		`{"type":"response.output_item.done","output_index":2,"item":{"type":"image_generation_call","result":"AA","action":{"a":1},"code":"x"}}`,
		`{"type":"response.output_text.delta","output_index":0,"delta":"Hi","sequence_number":1,"item_id":"i","logprobs":[]}`,
		`{"type":"response.reasoning_text.delta","delta":"hm"}`, `{"type":"response.function_call_arguments.done","arguments":"{}"}`,
		`{"type":"response.image_generation_call.partial_image","partial_image_b64":"AA"}`,
		`{"type":"response.completed","response":{"id":"r","model":"m","object":"response","status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],
		  "usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":4},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":7},"total_tokens":14}}}`,
		`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"m"}}}`,
		`{"type":"error","code":"server_error","message":"m"}`, `{"type":"response.done","response":{"status":"completed"}}`,
	},
	"anthropic": {
		`{"type":"message_start","message":{"id":"m","model":"c","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"cache_read_input_tokens":3,"cache_creation_input_tokens":2,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f","input":{"a":1},"text":"Hi","thinking":"hm"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi","thinking":"hm","partial_json":"{}"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":16,"output_tokens_details":{"thinking_tokens":12}}}`,
		`{"type":"message_stop"}`, `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`,
	},
}

// Whatever kind of value a member has, and without it, an event reads as the slow
// reader reads it.
func TestMembersOfOtherKinds(t *testing.T) {
	others := []any{nil, true, false, 0.0, 7.5, "", "x", []any{}, []any{"x"}, object{}, object{"text": "x"}}
	for name, events := range richEvents {
		fam := families[name]
		for _, event := range events {
			var v any
			mustUnmarshal(t, []byte(event), &v)
			changes := 0
			vary(v, others, func() {
				data, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				changes++
				r, slow := fam.dialect.NewReader(), fam.slow()
				for range 2 {
					var ev dialect.Event
					r.Read(nil, data, &ev)
					want, noise := slowly(slow, "", data)
					if diff := cmp.Diff(want, seenIn(&ev)); diff != "" || noise || ev.Noise {
						t.Errorf("%s: %s (-slow +ours):\n%s", name, data, diff)
					}
				}
				_ = fam.dialect.Answer(data, &dialect.Event{})
				fam.dialect.Stream(data)
				dialect.ReadError(data)
			})
			if changes < 10 {
				t.Errorf("%s: %d changes of %s", name, changes, event)
			}
		}
	}
}

// vary changes one value inside v after the other and calls see each time.
func vary(v any, others []any, see func()) {
	switch v := v.(type) {
	case object:
		for name, old := range v {
			for _, other := range others {
				v[name] = other
				see()
			}
			delete(v, name)
			see()
			v[name] = old
			vary(old, others, see)
		}
	case []any:
		for i, old := range v {
			for _, other := range others {
				v[i] = other
				see()
			}
			v[i] = old
			vary(old, others, see)
		}
	}
}

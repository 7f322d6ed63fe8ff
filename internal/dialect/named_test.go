package dialect_test

import (
	"testing"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// Formats whose events have a type.

func TestResponsesEvents(t *testing.T) {
	runEvents(t, dialect.Responses, []eventCase{
		{"a stream", []string{
			`response.created {"type":"response.created","response":{"id":"r","status":"in_progress","output":[],"usage":null,"error":null}}`,
			`response.in_progress {"type":"response.in_progress","response":{"id":"r"}}`,
			`response.output_item.added {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","summary":[]}}`,
			`response.reasoning_summary_text.delta {"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"hm"}`,
			`response.output_item.done {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}}`,
			`response.output_item.added {"type":"response.output_item.added","output_index":1,"item":{"type":"message","content":[],"role":"assistant"}}`,
			`response.content_part.added {"type":"response.content_part.added","output_index":1,"part":{"type":"output_text","text":""}}`,
			`response.output_text.delta {"type":"response.output_text.delta","output_index":1,"delta":"Hi"}`,
			`response.output_text.delta {"type":"response.output_text.delta","output_index":1,"delta":""}`,
			`response.output_text.done {"type":"response.output_text.done","output_index":1,"text":"Hi"}`,
			`response.output_item.done {"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"Hi"}]}}`,
			`response.completed {"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":4},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":7}}}}`,
		}, []string{"", "", "", "reasoning 2B", "", "", "", "answer 2B", "", "", "", "finish=stop(completed) usage=5/4/7/9 end"}},
		{"every channel", []string{
			`{"type":"response.refusal.delta","delta":"No"}`, `{"type":"response.reasoning_text.delta","delta":"hm"}`,
			`{"type":"response.function_call_arguments.delta","delta":"{"}`, `{"type":"response.mcp_call_arguments.delta","delta":"{"}`,
			`{"type":"response.code_interpreter_call_code.delta","delta":"x"}`, `{"type":"response.custom_tool_call_input.delta","delta":"x"}`,
			`{"type":"response.audio.delta","delta":"UklG"}`, `{"type":"response.image_generation_call.partial_image","partial_image_b64":"AA"}`,
		}, []string{"answer 2B", "reasoning 2B", "answer 1B", "answer 1B", "answer 1B", "answer 1B", "answer 4B", "answer"}},
		{"a tool's name", []string{
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","name":"f","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}`,
			`{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{}"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","name":"f","arguments":"{}"}}`,
		}, []string{"answer 1B", "answer 2B", "", ""}},
		{"whole items", []string{
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"type":"web_search_call","action":{"query":"x"}}}`,
			`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","name":"f","arguments":"{}"}}`,
			`{"type":"response.output_item.done","output_index":3,"item":{"type":"message","content":[{"type":"refusal","refusal":"No"}]}}`,
			`{"type":"response.output_item.done","output_index":4,"item":{"type":"image_generation_call","result":"AA"}}`,
			`{"type":"response.output_text.done","output_index":70,"text":"Hi"}`,
		}, []string{"", "", "answer 3B", "answer 2B", "answer", "answer 2B"}},
		{"nothing but the end", []string{`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}}`},
			[]string{"answer 2B finish=stop(completed) end"}},
		{"incomplete", []string{`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":5,"output_tokens":16}}}`,
			`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`, `{"type":"response.incomplete","response":{"incomplete_details":null}}`},
			[]string{"finish=length(max_output_tokens) usage=5/0/0/16 end", "finish=content_filter(content_filter) end", "finish=other(incomplete) end"}},
		{"failed", []string{`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"m"}}}`, `{"type":"response.failed","response":{"status":"failed","error":null}}`},
			[]string{"finish=error(failed) end error=429", "finish=error(failed) end error=500"}},
		{"error events", []string{`error {"type":"error","code":"server_error","message":"m","param":null,"sequence_number":3}`, `{"type":"error","error":{"type":"overloaded_error"}}`, `error x`},
			[]string{"error=500", "error=529", "error=0"}},
		{"unknown events", []string{`keepalive {"type":"keepalive","sequence_number":2}`, `{"type":"response.something.new","text":"x"}`, `{}`, `[DONE]`, `x`}, []string{"", "", "", "end", "noise"}},
		{"type from the name", []string{`response.output_text.delta {"delta":"Hi"}`}, []string{"answer 2B"}},
		{"type after the rest", []string{`{"delta":"Hi","type":"response.output_text.delta"}`}, []string{"answer 2B"}},
	})
}

func TestMessagesEvents(t *testing.T) {
	runEvents(t, dialect.Messages, []eventCase{
		{"a stream", []string{
			`message_start {"type":"message_start","message":{"id":"m","content":[],"model":"c","stop_reason":null,"usage":{"input_tokens":9,"cache_read_input_tokens":3,"cache_creation_input_tokens":2,"output_tokens":1}}}`,
			`content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`ping {"type":"ping"}`,
			`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"AA"}}`,
			`content_block_stop {"type":"content_block_stop","index":0}`,
			`content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
			`content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}}`,
			`content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"cited_text":"x"}}}`,
			`content_block_stop {"type":"content_block_stop","index":1}`,
			`message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":16,"output_tokens_details":{"thinking_tokens":12}}}`,
			`message_stop {"type":"message_stop"}`,
		}, []string{"usage=14/3/0/1", "", "", "reasoning 2B", "", "", "", "answer 2B", "", "", "finish=stop(end_turn) usage=14/3/12/16", "end"}},
		{"tools", []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"t","name":"web_search","input":{}}}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"web_search_tool_result","content":[{"text":"x"}]}}`,
			`{"type":"content_block_start","index":3,"content_block":{"type":"redacted_thinking","data":"AA"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":null}}`,
		}, []string{"answer 1B", "", "answer 3B", "answer 10B", "", "", "finish=tool_calls(tool_use)"}},
		{"whole blocks", []string{`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f","input":{"a":1}}}`}, []string{"answer 2B", "answer 8B"}},
		{"input corrected", []string{`{"type":"message_start","message":{"usage":{"input_tokens":43,"output_tokens":1}}}`, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"input_tokens":61,"output_tokens":2}}`},
			[]string{"usage=43/0/0/1", "finish=length(max_tokens) usage=61/0/0/2"}},
		{"errors", []string{
			`error {"type":"error","error":{"details":null,"type":"overloaded_error","message":"m"}}`, `{"type":"error","error":{"type":"rate_limit_error"}}`,
			`{"type":"error","error":{"type":"api_error"}}`, `{"type":"error","error":{"type":"timeout_error"}}`, `{"type":"error","error":{"type":"invalid_request_error"}}`,
			`{"type":"error","error":{"type":"authentication_error"}}`, `{"type":"error","error":{"type":"something_new"}}`, `error {"message":"m"}`,
		}, []string{"error=529", "error=429", "error=500", "error=504", "error=400", "error=401", "error=0", "error=0"}},
		{"type from the name", []string{`message_stop {}`, `content_block_delta {"delta":{"text":"Hi"}}`}, []string{"end", "answer 2B"}},
		{"noise", []string{`x`, `{"type":`}, []string{"noise", "noise"}},
	})
}

func TestIDs(t *testing.T) {
	var ev dialect.Event
	r := dialect.Responses.NewReader()
	r.Read(nil, []byte(`{"type":"response.created","response":{"id":"resp_1","model":"m"}}`), &ev)
	if string(ev.ID) != "resp_1" || string(ev.Model) != "m" {
		t.Errorf("id %q, model %q", ev.ID, ev.Model)
	}
	r.Read(nil, []byte(`{"type":"response.output_text.delta","delta":"x"}`), &ev)
	if ev.ID != nil || ev.Model != nil {
		t.Error("the event before is still in it")
	}
}

func TestForPath(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/chat/completions":                     "chat/completions",
		"chat/completions":                         "chat/completions",
		"/openai/deployments/gpt/chat/completions": "chat/completions",
		"/v1/completions":                          "completions",
		"/v1/xchat/completions":                    "completions",
		"/v1/responses":                            "responses",
		"/v1/embeddings":                           "embeddings",
		"/v1/messages":                             "messages",
		"/v1/chat/completions/":                    "",
		"/v1/chat/completions/id":                  "",
		"/v1/mycompletions":                        "",
		"/v1/responses/resp_1/cancel":              "",
		"/v1/messages/count_tokens":                "",
		"/v1/threads/thread_1/messages":            "",
		"/v1/models":                               "",
		"":                                         "",
	} {
		d, suffix, ok := dialect.ForPath(path)
		if suffix != want || ok != (want != "") || ok && d.Name() != want {
			t.Errorf("ForPath(%q) = %v, %q, %t; want %q", path, d, suffix, ok, want)
		}
	}
}

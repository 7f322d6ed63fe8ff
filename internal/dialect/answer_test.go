package dialect_test

import (
	"errors"
	"testing"

	"github.com/ontime-llm/ontime/internal/dialect"
)

func TestAnswer(t *testing.T) {
	tests := []struct {
		name string
		d    dialect.Dialect
		body string
		want string // as describe puts it
	}{
		{"chat", dialect.Chat, `{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
			"answer 5B 2t finish=stop(stop) usage=5/0/0/2 end"},
		{"white space before it", dialect.Chat, "\n\n  {\"choices\":[{\"message\":{\"content\":\"Hi\"},\"finish_reason\":\"length\"}]}\n", "answer 2B finish=length(length) end"},
		{"several choices", dialect.Chat, `{"choices":[{"index":0,"message":{"content":"a"}},{"index":1,"message":{"content":"bc"}}]}`, "answer 3B end"},
		{"thinking inside", dialect.Chat, `{"choices":[{"message":{"content":"<think>hm</think>Hi"}}]}`, "reasoning answer 19B end"},
		{"reasoning only", dialect.Chat, `{"choices":[{"message":{"content":"","reasoning_content":"hm"},"finish_reason":"length"}]}`, "reasoning 2B finish=length(length) end"},
		{"tool calls", dialect.Chat, `{"choices":[{"message":{"content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
			"answer 3B finish=tool_calls(tool_calls) end"},
		{"no choices in it", dialect.Chat, `{"choices":[]}`, "end"},
		{"an error", dialect.Chat, `{"error":{"code":503,"message":"m"}}`, "end error=503"},
		{"an error of another shape", dialect.Chat, `{"object":"error","message":"m","code":400}`, "end error=400"},
		{"error null", dialect.Chat, `{"error":null,"choices":[{"message":{"content":"Hi"}}]}`, "answer 2B end null-error"},
		{"failed finish", dialect.Chat, `{"choices":[{"message":{"content":"Hi"},"finish_reason":"insufficient_system_resource"}]}`, "answer 2B finish=error(insufficient_system_resource) end error=503"},
		{"completions", dialect.Completions, `{"choices":[{"text":"Hi","index":0,"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`, "answer 2B 2t finish=length(length) usage=5/0/0/2 end"},
		{"responses", dialect.Responses, `{"id":"r","object":"response","status":"completed","error":null,"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":5,"output_tokens":9,"output_tokens_details":{"reasoning_tokens":7}}}`,
			"reasoning answer 4B finish=stop(completed) usage=5/0/7/9 end null-error"},
		{"responses incomplete", dialect.Responses, `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`, "finish=length(max_output_tokens) end"},
		{"responses failed", dialect.Responses, `{"status":"failed","error":{"code":"server_error","message":"m"},"output":[]}`, "finish=error(failed) end error=500"},
		{"responses in the background", dialect.Responses, `{"status":"queued","output":[]}`, "end"},
		{"responses error", dialect.Responses, `{"detail":"m"}`, "end error=0"},
		{"embeddings", dialect.Embeddings, `{"object":"list","data":[{"embedding":[0.1,0.2],"index":0}],"model":"m","usage":{"prompt_tokens":5,"total_tokens":5}}`, "answer usage=5/0/0/0 end"},
		{"embeddings error", dialect.Embeddings, `{"error":{"type":"server_error"}}`, "end error=500"},
		{"embeddings error of another shape", dialect.Embeddings, `{"message":"m","code":"rate_limit_exceeded"}`, "end error=429"},
		{"messages", dialect.Messages, `{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"AA"},{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"cache_read_input_tokens":3,"output_tokens":2}}`,
			"reasoning answer 4B finish=stop(end_turn) usage=8/3/0/2 end"},
		{"messages with a tool", dialect.Messages, `{"content":[{"type":"tool_use","name":"f","input":{"a":1}}],"stop_reason":"tool_use"}`, "answer 8B finish=tool_calls(tool_use) end"},
		{"messages error", dialect.Messages, `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`, "end error=529"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ev := dialect.Event{Noise: true}
			if err := test.d.Answer([]byte(test.body), &ev); err != nil {
				t.Fatal(err)
			}
			if got := describe(&ev); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAnswerRefused(t *testing.T) {
	for _, d := range []dialect.Dialect{dialect.Chat, dialect.Completions, dialect.Responses, dialect.Embeddings, dialect.Messages} {
		for body, want := range map[string]error{
			``:                            dialect.ErrNotJSON,
			`<html>`:                      dialect.ErrNotJSON,
			`{"choices":[{"message":{"c`:  dialect.ErrNotJSON,
			`{"choices":[],"output":[]`:   dialect.ErrNotJSON,
			`[]`:                          dialect.ErrNotJSON,
			`null`:                        dialect.ErrNotJSON,
			`data: {"choices":[]}`:        dialect.ErrNotJSON,
			`{}`:                          dialect.ErrNotAnswer,
			`{"ok":true,"message":"hi"}`:  dialect.ErrNotAnswer,
			`{"data":[],"object":"list"}`: dialect.ErrNotAnswer,
		} {
			var ev dialect.Event
			if err := d.Answer([]byte(body), &ev); !errors.Is(err, want) {
				t.Errorf("%s: %q: %v, want %v", d.Name(), body, err, want)
			}
			if d.Stream([]byte(body)) != nil {
				t.Errorf("%s: %q has a stream", d.Name(), body)
			}
		}
	}
}

func TestAnswerID(t *testing.T) {
	var ev dialect.Event
	if err := dialect.Responses.Answer([]byte(`{"id":"resp_1","model":"m","output":[]}`), &ev); err != nil {
		t.Fatal(err)
	}
	if string(ev.ID) != "resp_1" || string(ev.Model) != "m" {
		t.Errorf("id %q, model %q", ev.ID, ev.Model)
	}
}

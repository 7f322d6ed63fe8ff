package dialect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// What openai-go makes of these streams is tested in sdktest.

// An answer's stream reads like the answer.
func TestStream(t *testing.T) {
	for _, test := range []struct {
		name     string
		d        dialect.Dialect
		contents int
		finish   string
		usage    dialect.Usage
	}{
		{"chat", dialect.Chat, 3, "stop", dialect.Usage{Input: 9, CachedInput: 8, Reasoning: 4, Output: 12}},
		{"responses", dialect.Responses, 8, "stop", dialect.Usage{Input: 5, CachedInput: 4, Reasoning: 7, Output: 9}}, // 6 deltas, the names of 2 tools
		{"messages", dialect.Messages, 5, "tool_calls", dialect.Usage{Input: 5, Output: 9}},                           // thinking, text, 2 names, 1 input
	} {
		got := newTally()
		out := test.d.Stream(testdata(t, test.name+"_answer.json"))
		readStream(test.d, out, 100, got.see)
		if got.Contents != test.contents || got.Finish != test.finish || got.Usage != test.usage ||
			!got.Terminal || !got.Reasoning || got.Err.Present || got.LateErr {
			t.Errorf("%s: our reader sees %+v", test.name, got)
		}
		if done := strings.HasSuffix(string(out), "data: [DONE]\n\n"); done != (test.d == dialect.Chat) {
			t.Errorf("%s: [DONE] at the end: %t", test.name, done)
		}
	}
}

func TestChatStreamOfOddAnswers(t *testing.T) {
	for answer, want := range map[string]string{
		`{"choices":[{"message":{"content":"Hi"}}]}`: `data: {"choices":[{"delta":{"content":"Hi","role":"assistant"},"finish_reason":null,"index":0}],"object":"chat.completion.chunk"}

data: {"choices":[{"delta":{},"finish_reason":null,"index":0}],"object":"chat.completion.chunk"}

data: [DONE]

`,
		`{"choices":[],"usage":null}`:                     "data: [DONE]\n\n",
		`{"choices":[{"finish_reason":"stop"}]}`:          "data: {\"choices\":[{\"delta\":{},\"finish_reason\":null,\"index\":0}],\"object\":\"chat.completion.chunk\"}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\",\"index\":0}],\"object\":\"chat.completion.chunk\"}\n\ndata: [DONE]\n\n",
		`{"error":{"code":500},"choices":[]}`:             "",
		`{"choices":[null]}`:                              "",
		`{"choices":{}}`:                                  "",
		`{"choices":[{"message":{"tool_calls":[null]}}]}`: "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"tool_calls\":[null]},\"finish_reason\":null,\"index\":0}],\"object\":\"chat.completion.chunk\"}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":null,\"index\":0}],\"object\":\"chat.completion.chunk\"}\n\ndata: [DONE]\n\n",
	} {
		if diff := cmp.Diff(want, string(dialect.Chat.Stream([]byte(answer)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", answer, diff)
		}
	}
}

func TestResponsesStreamEnds(t *testing.T) {
	for status, last := range map[string]string{
		"completed": "response.completed", "incomplete": "response.incomplete", "": "response.completed",
		"queued": "", "in_progress": "", "cancelled": "", "failed": "",
	} {
		out := string(dialect.Responses.Stream([]byte(`{"status":"` + status + `","output":[]}`)))
		if last == "" && out != "" || last != "" && !strings.Contains(out, "event: "+last) {
			t.Errorf("%q: stream is %q, want %s at its end", status, out, last)
		}
	}
}

func TestMessagesStream(t *testing.T) {
	answer := testdata(t, "messages_answer.json")
	out := dialect.Messages.Stream(answer)
	var got, want object
	mustUnmarshal(t, answer, &want)
	accumulateMessage(t, out, &got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +accumulated):\n%s", diff)
	}
}

// accumulateMessage does what Anthropic's SDKs do with a stream.
func accumulateMessage(t *testing.T, stream []byte, message *object) {
	inputs := map[int]string{}
	readStream(dialect.Messages, stream, 100, func(b *block, _ *dialect.Event) {
		var e object
		mustUnmarshal(t, b.Data, &e)
		if e["type"] != string(b.Name) {
			t.Errorf("event %q is of type %v", b.Name, e["type"])
		}
		content := func() object { return members(list((*message)["content"])[int(e["index"].(float64))]) }
		switch e["type"] {
		case "message_start":
			*message = members(e["message"])
		case "content_block_start":
			(*message)["content"] = append(list((*message)["content"]), e["content_block"])
		case "content_block_delta":
			d := members(e["delta"])
			switch d["type"] {
			case "text_delta":
				content()["text"] = str(content()["text"]) + str(d["text"])
			case "thinking_delta":
				content()["thinking"] = str(content()["thinking"]) + str(d["thinking"])
			case "signature_delta":
				content()["signature"] = d["signature"]
			case "citations_delta":
				content()["citations"] = append(list(content()["citations"]), d["citation"])
			case "input_json_delta":
				inputs[int(e["index"].(float64))] += str(d["partial_json"])
			}
		case "content_block_stop":
			if input := inputs[int(e["index"].(float64))]; input != "" {
				var v any
				mustUnmarshal(t, []byte(input), &v)
				content()["input"] = v
			}
		case "message_delta":
			for name, v := range members(e["delta"]) {
				(*message)[name] = v
			}
			(*message)["usage"] = e["usage"]
		}
	})
}

func TestEmbeddingsHaveNoStream(t *testing.T) {
	if dialect.Embeddings.Stream([]byte(`{"data":[{"embedding":[1]}]}`)) != nil {
		t.Error("there is one")
	}
}

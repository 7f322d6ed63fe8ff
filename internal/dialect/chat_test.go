package dialect_test

import (
	"testing"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// delta is a chunk of chat completions with that delta.
func delta(members string) string {
	return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]}`
}

// deltas is one chunk for each delta.
func deltas(members ...string) (events []string) {
	for _, m := range members {
		events = append(events, delta(m))
	}
	return events
}

func TestChatContent(t *testing.T) {
	runEvents(t, dialect.Chat, []eventCase{
		{"text", deltas(`"role":"assistant","content":""`, `"content":"Hi"`, ``), []string{"", "answer 2B", ""}},
		{"escapes", deltas(`"content":"\n\u00e9\ud83d\ude42\\"`), []string{"answer 6B"}}, // 1+2+4+1, surrogates counted as 1 each
		{"null content", deltas(`"content":null`), []string{""}},
		{"parts", deltas(`"content":[{"type":"text","text":"Hi"}]`, `"content":[]`, `"content":[{"type":"text","text":""}]`,
			`"content":["Hi"]`, `"content":{"type":"text","text":"Hi"}`), []string{"answer 2B", "", "", "answer 2B", "answer 2B"}},
		{"thinking parts", deltas(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`,
			`"content":[{"type":"thinking","thinking":"hm","signature":"AA"}]`, `"content":[{"text":"hm","type":"reasoning"}]`,
			`"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Hi"}]`),
			[]string{"reasoning 2B", "reasoning 2B", "reasoning 2B", "reasoning answer 4B"}},
		{"reasoning spellings", deltas(`"reasoning_content":"hm"`, `"reasoning":"hm"`, `"reasoning_text":"hm"`, `"thinking":"hm"`,
			`"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"AA"}]`, `"reasoning_content":[{"type":"text","text":"hm"}]`,
			`"reasoning":{"content":"hm"}`),
			[]string{"reasoning 2B", "reasoning 2B", "reasoning 2B", "reasoning 2B", "reasoning 2B", "reasoning 2B", "reasoning 2B"}},
		{"empty reasoning", deltas(`"reasoning_content":""`, `"reasoning":null`, `"reasoning_details":[]`), []string{"", "", ""}},
		{"reasoning twice counts once", deltas(`"reasoning":"hmm","reasoning_details":[{"type":"reasoning.text","text":"hmm"}]`), []string{"reasoning 3B"}},
		{"reasoning details", deltas(`"content":"","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]`,
			`"reasoning_details":[{"type":"reasoning.summary","summary":"hm"}]`,
			`"reasoning_details":[{"type":"reasoning.encrypted","data":"gAAAA","format":"x","id":"rs_1"}]`,
			`"reasoning_details":[{"type":"reasoning.text","text":"","signature":"AA"}]`),
			[]string{"reasoning 2B", "reasoning 2B", "", ""}},
		{"refusal", deltas(`"refusal":null`, `"refusal":""`, `"refusal":"No"`), []string{"", "", "answer 2B"}},
		{"tool calls", deltas(`"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":""}}]`,
			`"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]`, `"tool_calls":[{"index":0,"function":{"arguments":""}}]`,
			`"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":null,"arguments":null}}]`,
			`"tool_calls":[]`, `"tool_calls":null`, `"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]`,
			`"tool_calls":[{"type":"custom","custom":{"name":"sql","input":"SELECT"}}]`),
			[]string{"answer 1B", "answer 4B", "", "", "", "", "answer 8B", "answer 9B"}},
		{"legacy function call", deltas(`"function_call":{"name":"f","arguments":""}`, `"function_call":{"arguments":"{}"}`, `"function_call":null`),
			[]string{"answer 1B", "answer 2B", ""}},
		{"audio", deltas(`"audio":{"id":"a"}`, `"audio":{"transcript":"Hi"}`, `"audio":{"data":"UklG"}`, `"audio":{"expires_at":5}`),
			[]string{"", "answer 2B", "answer", ""}},
		{"images", deltas(`"content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]`, `"images":[]`),
			[]string{"answer", ""}},
		{"not content", deltas(`"role":"assistant"`, `"extra_content":{"google":{"thought_signature":"c2ln"}}`,
			`"provider_metadata":{"a":{"content":"x"}}`, `"annotations":[{"text":"x"}]`), []string{"", "", "", ""}},
		{"no delta", []string{`{"choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{"start":1}}]}`,
			`{"choices":[{"index":0,"delta":null}]}`}, []string{"", ""}},
		{"preambles", []string{`{"choices":[],"prompt_filter_results":[{"content":"x"}]}`, `{"choices":[{"index":0,"delta":{"content":null}}],"prompt_progress":{"total":9}}`,
			`{"choices":null}`, `{}`, `{"choices":{}}`, `{"choices":[null,1,"a"]}`}, []string{"", "", "", "", "", ""}},
		{"any choice", []string{`{"choices":[{"index":0,"delta":{}},{"index":1,"delta":{"content":"Hi"}}]}`,
			`{"choices":[{"delta":{"content":"Hi"},"index":31}]}`, `{"choices":[{"delta":{"content":"Hi"},"index":-1}]}`},
			[]string{"answer 2B", "answer 2B", "answer 2B"}},
		{"message for delta", []string{
			`{"object":"chat.completion.chunk","choices":[{"index":0,"message":{"content":"Hel"}}]}`,
			`{"choices":[{"index":0,"message":{"content":"lo"}}],"object":"chat.completion.chunk"}`,
			`{"choices":[{"index":0,"message":{"content":"Hello"},"finish_reason":"stop"}],"object":"chat.completion"}`,
		}, []string{"answer 3B", "answer 2B", "finish=stop(stop)"}},
		{"message beside delta", []string{
			`{"choices":[{"index":0,"message":{"content":"Hel"},"delta":{"content":"Hel"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"lo"},"message":{"content":"Hello"}}]}`,
			`{"choices":[{"index":0,"delta":{},"message":{"content":"Hello"}}]}`,
			`{"choices":[{"index":0,"message":{"content":"Hello"},"delta":null,"text":"Hello"}],"object":"chat.completion.done"}`,
		}, []string{"answer 3B", "answer 2B", "", ""}},
		{"whole answer as an event", []string{`{"object":"chat.completion","choices":[{"index":0,"message":{"content":"Hello"},"finish_reason":"stop"}]}`},
			[]string{"answer 5B finish=stop(stop)"}},
		{"text for delta", []string{`{"choices":[{"index":0,"text":"Hi"}]}`, `{"choices":[{"index":0,"text":"Hi","delta":{"content":"Hi"}}]}`},
			[]string{"answer 2B", "answer 2B"}},
		{"member order and white space", []string{"{ \"choices\" : [ { \"delta\" : { \"content\" : \"Hi\" } , \"index\" : 0 } ] ,\n\"id\":\"x\" }"}, []string{"answer 2B"}},
		{"escaped names", []string{`{"\u0063hoices":[{"delt\u0061":{"content":"Hi"}}]}`}, []string{"answer 2B"}},
	})
}

func TestThinkTags(t *testing.T) {
	content := func(pieces ...string) (members []string) {
		for _, p := range pieces {
			members = append(members, `"content":"`+p+`"`)
		}
		return members
	}
	runEvents(t, dialect.Chat, []eventCase{
		{"tags of their own", deltas(content("<think>", "hm", "</think>", "Hi")...), []string{"reasoning 7B", "reasoning 2B", "reasoning 8B", "answer 2B"}},
		{"all at once", deltas(content(`<think>hm</think>\n\nHi`)...), []string{"reasoning answer 21B"}},
		{"split tags", deltas(content("<", "thi", "nk>h", "m</th", "ink", ">", `\n\n`, "Hi")...),
			[]string{"reasoning 1B", "reasoning 3B", "reasoning 4B", "reasoning 5B", "reasoning 3B", "reasoning 1B", "reasoning 2B", "answer 2B"}},
		{"escaped", deltas(content(`\u003cthink\u003e`, `hm\u003c/think\u003e`, "Hi")...), []string{"reasoning 7B", "reasoning 10B", "answer 2B"}},
		{"white space first", deltas(content(`\n`, "<think>", "hm")...), []string{"answer 1B", "reasoning 7B", "reasoning 2B"}},
		{"other tags", deltas(content("<thinking>hm</thinking>", "Hi")...), []string{"reasoning 23B", "answer 2B"}},
		{"gemini", deltas(content("<thought>hm", "</thought>Hi")...), []string{"reasoning 11B", "reasoning answer 12B"}},
		{"no tag after all", deltas(content("<", "html>")...), []string{"reasoning 1B", "answer 5B"}},
		{"a tag of another kind closes nothing", deltas(content("<think>", "</thinking>", "<</think>", "Hi")...),
			[]string{"reasoning 7B", "reasoning 11B", "reasoning 9B", "answer 2B"}},
		{"later it is text", deltas(content("Hi ", "<think>", "x")...), []string{"answer 3B", "answer 7B", "answer 1B"}},
		{"what is no JSON leaves no trace", append([]string{`{"choices":[{"delta":{"content":"<th"}}}`}, deltas(content("<think>", "hm")...)...),
			[]string{"noise", "reasoning 7B", "reasoning 2B"}},
		{"never closed", deltas(content("<think>", "hm", "hm")...), []string{"reasoning 7B", "reasoning 2B", "reasoning 2B"}},
		{"by choice", []string{`{"choices":[{"index":0,"delta":{"content":"<think>"}},{"index":1,"delta":{"content":"Hi"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"hm"}}]}`, `{"choices":[{"index":1,"delta":{"content":"Hi"}}]}`},
			[]string{"reasoning answer 9B", "reasoning 2B", "answer 2B"}},
	})
}

package dialect_test

import (
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/internal/dialect"
)

func TestChatEnds(t *testing.T) {
	finish := func(word string) string { return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + word + `"}]}` }
	var all []eventCase
	for want, words := range map[string][]string{
		"stop":           {"stop", "STOP", "end_turn", "stop_sequence", "eos_token", "COMPLETE"},
		"length":         {"length", "max_tokens", "MAX_TOKENS", "model_length", "model_context_window_exceeded", "max_output_tokens"},
		"tool_calls":     {"tool_calls", "function_call", "tool_use"},
		"content_filter": {"content_filter", "SAFETY", "RECITATION"},
		"refusal":        {"refusal"},
		"other":          {"pause_turn", "something_new", strings.Repeat("x", 80)},
	} {
		for _, word := range words {
			all = append(all, eventCase{word, []string{finish(word)}, []string{"finish=" + want + "(" + word + ")"}})
		}
	}
	runEvents(t, dialect.Chat, append(all, []eventCase{
		{"none yet", []string{finish(""), `{"choices":[{"delta":{},"finish_reason":null}]}`}, []string{"", ""}},
		{"failed", []string{finish("insufficient_system_resource"), finish("error"), finish("ERROR"), finish("network_error"), finish("timeout")},
			[]string{"finish=error(insufficient_system_resource) error=503", "finish=error(error) error=500", "finish=error(ERROR) error=500", "finish=error(network_error) error=502", "finish=error(timeout) error=504"}},
		{"several choices", []string{`{"choices":[{"finish_reason":"stop"},{"index":1,"finish_reason":"length"}]}`}, []string{"finish=stop(stop)"}},
		{"one of several failed", []string{`{"choices":[{"finish_reason":"stop"},{"index":1,"finish_reason":"error"}]}`}, []string{"finish=stop(stop) error=500"}},
		{"done", []string{`[DONE]`, ` [DONE]`, `[DONE] and more`, `[DONE]{}`}, []string{"end", "end", "end", "end"}},
		{"noise", []string{`: OPENROUTER PROCESSING`, ``, `hello`, `{"choices":[`, `{"choices":[]}}`, `1`, `null`, `"x"`, `[]`, `[{"a":1}]`, `{"a":01}`, "{\"a\":\"\x01\"}", `{"a":"\x"}`, `{a:1}`, `{"a":1,}`, `[1,]`},
			[]string{"noise", "noise", "noise", "noise", "noise", "noise", "noise", "noise", "noise", "noise", "noise", "noise", "noise", "noise", "noise", "noise"}},
	}...))
}

func TestChatErrors(t *testing.T) {
	runEvents(t, dialect.Chat, []eventCase{
		{"null, and what says the same", []string{`{"error":null,"choices":[]}`, `{"choices":[],"error":false}`, `{"choices":[],"error":""}`}, []string{"null-error", "null-error", "null-error"}},
		{"OpenRouter", []string{`{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`}, []string{"finish=error(error) error=502"}},
		{"with usage", []string{`{"choices":[],"error":{"code":400,"message":"Token limit reached"},"usage":{"prompt_tokens":5}}`}, []string{"usage=5/0/0/0 error=400"}},
		{"named event", []string{`error {"error":{"message":"m","type":"invalid_request_error","code":"tool_use_failed","status_code":400}}`, `error {"message":"m","code":"rate_limit_exceeded"}`, `error overloaded`, `error {}`},
			[]string{"error=400", "error=429", "error=0", "error=0"}},
		{"a string", []string{`{"error":"boom"}`}, []string{"error=0"}},
		{"a number", []string{`{"error":503}`}, []string{"error=503"}},
		{"code in digits", []string{`{"error":{"code":"429","message":"m"}}`}, []string{"error=429"}},
		{"code in words", []string{`{"error":{"code":"rate_limit_exceeded","type":"tokens"}}`, `{"error":{"type":"server_error","code":null}}`, `{"error":{"code":"what","type":"overloaded_error"}}`},
			[]string{"error=429", "error=500", "error=529"}},
		{"status in words", []string{`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m"}}`, `{"error":{"status":"UNAVAILABLE"}}`}, []string{"error=429", "error=503"}},
		{"wrapped twice", []string{`{"error":{"error":{"message":"m","code":503}}}`}, []string{"error=503"}},
		{"vLLM", []string{`{"object":"error","message":"m","type":"BadRequestError","param":null,"code":400}`}, []string{"error=400"}},
		{"FastAPI", []string{`{"detail":"not found"}`, `{"detail":null}`}, []string{"error=0", ""}},
		{"DashScope", []string{`{"code":"InvalidParameter","message":"m","request_id":"r"}`}, []string{"error=400"}},
		{"in a choice", []string{`{"choices":[{"index":0,"error":{"code":502,"message":"m"}}]}`}, []string{"error=502"}},
		{"Groq", []string{`{"choices":[],"x_groq":{"error":"over capacity"}}`}, []string{"error=0"}},
		{"MiniMax", []string{`{"choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`, `{"choices":[],"base_resp":{"status_code":0,"status_msg":""}}`,
			`{"base_resp":{"status_code":1001}}`, `{"base_resp":{"status_code":1004}}`, `{"base_resp":{"status_code":1008}}`, `{"base_resp":{"status_code":2013}}`, `{"base_resp":{"status_code":1000}}`},
			[]string{"error=429", "", "error=504", "error=401", "error=402", "error=400", "error=500"}},
		{"array", []string{`[{"error":{"code":500,"message":"m","status":"INTERNAL"}}]`}, []string{"error=500"}},
		{"no error", []string{`{"message":"queued"}`, `{"code":1,"choices":[],"message":"x"}`, `{"type":"ping"}`}, []string{"", "", ""}},
	})
}

func TestErrorAt(t *testing.T) {
	for _, test := range []struct{ data, want string }{
		{`{"a":1,"error":null,"b":2}`, `{"a":1,"b":2}`},
		{`{"a":1, "error" : null }`, `{"a":1 }`},
		{`{"error":null,"b":2}`, `{"b":2}`},
		{`{"error":null}`, `{}`},
		{`{"a":1 , "error":{"code":400,"message":"x,y"} , "b":2}`, `{"a":1 ,  "b":2}`},
	} {
		var ev dialect.Event
		dialect.Chat.NewReader().Read(nil, []byte(test.data), &ev)
		e := dialect.NewEditor([]byte(test.data))
		e.Remove(ev.ErrorAt)
		if got := string(e.Bytes()); got != test.want {
			t.Errorf("%s without its error is %s, want %s", test.data, got, test.want)
		}
	}
}

func TestCompletionsEvents(t *testing.T) {
	runEvents(t, dialect.Completions, []eventCase{
		{"text", []string{`{"choices":[{"text":"","index":0}]}`, `{"choices":[{"text":"Hi","index":0,"logprobs":{"tokens":["H","i"],"token_logprobs":[0,0]},"finish_reason":null}]}`,
			`{"choices":[{"text":"","index":0,"finish_reason":"length"}]}`, `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}`, `[DONE]`},
			[]string{"", "answer 2B 2t", "finish=length(length)", "usage=5/0/0/2 only", "end"}},
		{"a chat server", []string{delta(`"content":"Hi"`)}, []string{"answer 2B"}},
		{"not a string", []string{`{"choices":[{"text":null,"index":0}]}`, `{"choices":[{"text":5}]}`}, []string{"", ""}},
	})
}

package dialect_test

import (
	"fmt"
	"testing"

	"github.com/ontime-llm/ontime/internal/dialect"
)

func TestTokensPerEvent(t *testing.T) {
	with := func(content, more string) string {
		return `{"choices":[{"index":0,"delta":{"content":"` + content + `"}` + more + `}]`
	}
	usage := func(n int) string { return fmt.Sprintf(`,"usage":{"prompt_tokens":5,"completion_tokens":%d}}`, n) }
	runEvents(t, dialect.Chat, []eventCase{
		{"logprobs", []string{with("ab", `,"logprobs":{"content":[{"token":"a"},{"token":"b"}],"refusal":null}`) + "}",
			with("a", `,"logprobs":{"content":null}`) + "}", with("", `,"logprobs":{"content":[{"token":"a"}]}`) + "}"},
			[]string{"answer 2B 2t", "answer 1B", ""}},
		{"token ids", []string{with("ab", `,"token_ids":[5,6,7]`) + "}", with("a", `,"token_ids":null`) + "}"}, []string{"answer 2B 3t", "answer 1B"}},
		{"usage on every event", []string{with("", "") + usage(0), with("ab", "") + usage(2), with("c", "") + usage(3)},
			[]string{"usage=5/0/0/0", "answer 2B 2t usage=5/0/0/2", "answer 1B 1t usage=5/0/0/3"}},
		{"usage at the end tells nothing of the event", []string{with("a", "") + "}", with("b", "") + usage(7)},
			[]string{"answer 1B", "answer 1B usage=5/0/0/7"}},
		{"hidden reasoning is not in the event", []string{with("ab", "") + `,"usage":{"completion_tokens":66,"completion_tokens_details":{"reasoning_tokens":64}}}`},
			[]string{"answer 2B 2t usage=0/0/64/66"}},
	})
}

func TestChatUsage(t *testing.T) {
	usage := func(u string) string { return `{"choices":[],"usage":` + u + `}` }
	runEvents(t, dialect.Chat, []eventCase{
		{"OpenAI", []string{usage(`{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}`)},
			[]string{"usage=5/4/1/2 only"}},
		{"null and empty", []string{usage(`null`), usage(`{}`), usage(`{"prompt_tokens":null}`), usage(`"x"`)}, []string{"", "only", "only", ""}},
		{"zeros change nothing", []string{usage(`{"prompt_tokens":5,"completion_tokens":2}`), usage(`{"prompt_tokens":0,"completion_tokens":0}`), usage(`{"completion_tokens":3}`)},
			[]string{"usage=5/0/0/2 only", "only", "usage=5/0/0/3 only"}},
		{"no choices", []string{`{"choices":null,"usage":{"prompt_tokens":5}}`, `{"usage":{"prompt_tokens":6}}`}, []string{"usage=5/0/0/0 only", "usage=6/0/0/0 only"}},
		{"with a choice", []string{`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`},
			[]string{"finish=stop(stop) usage=5/0/0/2"}},
		{"input and output", []string{usage(`{"input_tokens":11,"output_tokens":5,"input_tokens_details":{"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":2}}`)},
			[]string{"usage=11/3/2/5 only"}},
		{"both spellings, one in use", []string{usage(`{"prompt_tokens":11,"input_tokens":0,"completion_tokens":5,"output_tokens":0}`)}, []string{"usage=11/0/0/5 only"}},
		{"reasoning on top (xAI)", []string{usage(`{"prompt_tokens":10,"completion_tokens":1,"total_tokens":31,"completion_tokens_details":{"reasoning_tokens":20}}`)}, []string{"usage=10/0/20/21 only"}},
		{"reasoning on top, by total only", []string{usage(`{"prompt_tokens":10,"completion_tokens":30,"total_tokens":60,"completion_tokens_details":{"reasoning_tokens":20}}`)}, []string{"usage=10/0/20/50 only"}},
		{"reasoning beyond the output, no total", []string{usage(`{"completion_tokens":1,"reasoning_tokens":20}`)}, []string{"usage=0/0/20/21 only"}},
		{"cached: DeepSeek", []string{usage(`{"prompt_tokens":10,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":2}`)}, []string{"usage=10/8/0/0 only"}},
		{"cached: Moonshot", []string{usage(`{"prompt_tokens":10,"cached_tokens":8}`)}, []string{"usage=10/8/0/0 only"}},
		{"cached: gateways to Anthropic", []string{usage(`{"prompt_tokens":10,"cache_read_input_tokens":8,"cache_creation_input_tokens":1}`)}, []string{"usage=10/8/0/0 only"}},
		{"cached: Mistral", []string{usage(`{"prompt_tokens":10,"num_cached_tokens":8}`)}, []string{"usage=10/8/0/0 only"}},
		{"cached: never more than there was", []string{usage(`{"prompt_tokens":10,"cached_tokens":80}`)}, []string{"usage=10/10/0/0 only"}},
		{"details are null", []string{usage(`{"prompt_tokens":10,"prompt_tokens_details":null,"completion_tokens_details":[]}`)}, []string{"usage=10/0/0/0 only"}},
		{"numbers of other kinds", []string{usage(`{"prompt_tokens":1e1,"completion_tokens":2.0,"cached_tokens":-1,"total_tokens":1e99,"reasoning_tokens":"7"}`)}, []string{"usage=10/0/0/2 only"}},
		{"Groq", []string{`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":5,"completion_tokens":2}}}`,
			`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3},"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":9}}}`},
			[]string{"finish=stop(stop) usage=5/0/0/2", "usage=5/0/0/3 only"}},
		{"in the choice", []string{`{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":5,"completion_tokens":1}}]}`}, []string{"finish=stop(stop) usage=5/0/0/1"}},
		{"later members come on top", []string{usage(`{"prompt_tokens":5,"cached_tokens":4}`), usage(`{"completion_tokens":2}`)}, []string{"usage=5/4/0/0 only", "usage=5/4/0/2 only"}},
	})
}

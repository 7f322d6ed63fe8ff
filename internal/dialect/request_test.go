package dialect_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/dialect"
)

func TestRequest(t *testing.T) {
	const hi = `[{"role":"user","content":"hi"}]`
	blob, text := strings.Repeat("A", 300), strings.Repeat("word ", 60)
	const schema = `[{"type":"function","function":{"name":"f","parameters":{}}}]`
	tests := []struct {
		name  string
		d     dialect.Dialect
		body  string
		reads []string        // the parts of the body that are the prompt
		want  dialect.Request // without spans and PromptBytes
	}{
		{"plain", dialect.Chat, `{"model":"m","messages":` + hi + `}`, []string{hi}, dialect.Request{Model: "m", N: 1}},
		{"everything", dialect.Chat, `{"model":"m\u00e9","stream":true,"n":3,"messages":` + hi + `,"max_tokens":5,"max_completion_tokens":7,` +
			`"stream_options":{"include_obfuscation":false,"include_usage":true},"reasoning_effort":"low","service_tier":"flex","tools":` + schema + `}`,
			[]string{hi, schema},
			dialect.Request{Model: "mé", Stream: true, N: 3, IncludeUsage: true, Effort: "low", Tier: "flex",
				Caps: []dialect.Cap{{Name: "max_tokens", Value: 5}, {Name: "max_completion_tokens", Value: 7}}}},
		{"nulls", dialect.Chat, `{"model":"m","stream":null,"n":null,"max_tokens":null,"stream_options":null,"reasoning_effort":null,"service_tier":null,"store":null,"previous_response_id":null,"conversation":null,"web_search_options":null}`,
			nil, dialect.Request{Model: "m", N: 1, Caps: []dialect.Cap{{Name: "max_tokens"}}}},
		{"usage declined", dialect.Chat, `{"model":"m","stream_options":{"include_usage":false}}`, nil, dialect.Request{Model: "m", N: 1}},
		{"caps out of range", dialect.Chat, `{"model":"m","max_tokens":-1,"max_completion_tokens":0}`, nil,
			dialect.Request{Model: "m", N: 1, Caps: []dialect.Cap{{Name: "max_tokens", Value: -1}, {Name: "max_completion_tokens"}}}},
		{"effort in an object", dialect.Chat, `{"model":"m","reasoning":{"effort":"high","exclude":true}}`, nil, dialect.Request{Model: "m", N: 1, Effort: "high"}},
		{"thinking switched on", dialect.Chat, `{"model":"m","thinking":{"type":"enabled"}}`, nil, dialect.Request{Model: "m", N: 1, Effort: "enabled"}},
		{"thinking switched off", dialect.Chat, `{"model":"m","thinking":{"type":"disabled"}}`, nil, dialect.Request{Model: "m", N: 1}},
		{"stored", dialect.Chat, `{"model":"m","store":true}`, nil, dialect.Request{Model: "m", N: 1, SideEffects: true}},
		{"not stored", dialect.Chat, `{"model":"m","store":false}`, nil, dialect.Request{Model: "m", N: 1}},
		{"web search", dialect.Chat, `{"model":"m","web_search_options":{}}`, nil, dialect.Request{Model: "m", N: 1, SideEffects: true}},
		{"server-side tool", dialect.Chat, `{"model":"m","tools":[{"type":"browser_search"}]}`, []string{`[{"type":"browser_search"}]`}, dialect.Request{Model: "m", N: 1, SideEffects: true}},
		{"a file by id", dialect.Chat, `{"model":"m","messages":[{"content":[{"type":"file","file":{"file_id":"file-1"}}]}]}`,
			[]string{`[{"content":[{"type":"file","file":{"file_id":"file-1"}}]}]`}, dialect.Request{Model: "m", N: 1, State: []string{"file-1"}}},
		{"earlier audio", dialect.Chat, `{"model":"m","messages":[{"role":"assistant","audio":{"id":"audio_1"}}]}`,
			[]string{`[{"role":"assistant","audio":{"id":"audio_1"}}]`}, dialect.Request{Model: "m", N: 1, State: []string{"audio_1"}}},
		{"embedded files are no prompt", dialect.Chat, `{"model":"m","messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + blob + `"}}]}]}`,
			[]string{`[{"content":[{"type":"image_url","image_url":{"url":"`, `"}}]}]`}, dialect.Request{Model: "m", N: 1}},
		{"text under the same names is", dialect.Messages, `{"model":"m","messages":[{"type":"text","data":"` + text + `"}]}`,
			[]string{`[{"type":"text","data":"` + text + `"}]`}, dialect.Request{Model: "m", N: 1}},
		{"names in a tool's schema", dialect.Chat, `{"model":"m","tools":[{"type":"function","function":{"parameters":{"file_id":"x"}}}]}`,
			[]string{`[{"type":"function","function":{"parameters":{"file_id":"x"}}}]`}, dialect.Request{Model: "m", N: 1}},
		{"one prompt", dialect.Completions, `{"model":"m","prompt":"hello","n":2}`, []string{`"hello"`}, dialect.Request{Model: "m", N: 2}},
		{"several prompts", dialect.Completions, `{"model":"m","prompt":["a","b"],"n":2}`, []string{`["a","b"]`}, dialect.Request{Model: "m", N: 4}},
		{"a prompt of tokens", dialect.Completions, `{"model":"m","prompt":[1,2,3]}`, []string{`[1,2,3]`}, dialect.Request{Model: "m", N: 1}},
		{"several prompts of tokens", dialect.Completions, `{"model":"m","prompt":[[1],[2],[3]]}`, []string{`[[1],[2],[3]]`}, dialect.Request{Model: "m", N: 3}},
		{"responses", dialect.Responses, `{"model":"m","input":"hi","instructions":"be brief","max_output_tokens":9,"reasoning":{"effort":"low"},"background":true,"previous_response_id":"resp_1"}`,
			[]string{`"hi"`, `"be brief"`},
			dialect.Request{Model: "m", N: 1, Effort: "low", SideEffects: true, State: []string{"resp_1"}, Caps: []dialect.Cap{{Name: "max_output_tokens", Value: 9}}}},
		{"responses state", dialect.Responses, `{"model":"m","conversation":{"id":"conv_1"},"prompt":{"id":"pmpt_1"},"input":[{"type":"item_reference","id":"msg_1"},{"type":"message","id":"msg_2"}],` +
			`"tools":[{"type":"file_search","vector_store_ids":["vs_1","vs_2"]},{"type":"code_interpreter","container":"cntr_1"},{"type":"code_interpreter","container":{"type":"auto","file_ids":["file_1"]}}]}`,
			[]string{`{"id":"pmpt_1"}`, `[{"type":"item_reference","id":"msg_1"},{"type":"message","id":"msg_2"}]`,
				`[{"type":"file_search","vector_store_ids":["vs_1","vs_2"]},{"type":"code_interpreter","container":"cntr_1"},{"type":"code_interpreter","container":{"type":"auto","file_ids":["file_1"]}}]`},
			dialect.Request{Model: "m", N: 1, SideEffects: true, State: []string{"conv_1", "pmpt_1", "msg_1", "vs_1", "vs_2", "cntr_1", "file_1"}}},
		{"conversation by id", dialect.Responses, `{"model":"m","conversation":"conv_1"}`, nil, dialect.Request{Model: "m", N: 1, SideEffects: true, State: []string{"conv_1"}}},
		{"client-side tools", dialect.Responses, `{"model":"m","tools":[{"type":"function"},{"type":"custom"},{"type":"local_shell"},{"type":"computer_use_preview"}]}`,
			[]string{`[{"type":"function"},{"type":"custom"},{"type":"local_shell"},{"type":"computer_use_preview"}]`}, dialect.Request{Model: "m", N: 1}},
		{"embeddings", dialect.Embeddings, `{"model":"m","input":["a","bc"]}`, []string{`["a","bc"]`}, dialect.Request{Model: "m", N: 1}},
		{"messages", dialect.Messages, `{"model":"m","system":"s","messages":` + hi + `,"max_tokens":9,"thinking":{"type":"enabled","budget_tokens":1024},"tools":[{"name":"f","input_schema":{}},{"type":"bash_20250124","name":"bash"}]}`,
			[]string{`"s"`, hi, `[{"name":"f","input_schema":{}},{"type":"bash_20250124","name":"bash"}]`},
			dialect.Request{Model: "m", N: 1, Effort: "enabled", ThinkingBudget: 1024, Caps: []dialect.Cap{{Name: "max_tokens", Value: 9}}}},
		{"thinking off, with a budget", dialect.Messages, `{"model":"m","thinking":{"budget_tokens":1024,"type":"disabled"}}`, nil, dialect.Request{Model: "m", N: 1}},
		{"odd budgets", dialect.Messages, `{"model":"m","thinking":{"budget_tokens":"9"},"x":{"budget_tokens":9}}`, nil, dialect.Request{Model: "m", N: 1}},
		{"messages effort", dialect.Messages, `{"model":"m","thinking":{"type":"adaptive"},"output_config":{"effort":"max"}}`, nil, dialect.Request{Model: "m", N: 1, Effort: "max"}},
		{"messages server side", dialect.Messages, `{"model":"m","mcp_servers":[{"url":"x"}],"container":"c_1"}`, nil, dialect.Request{Model: "m", N: 1, SideEffects: true, State: []string{"c_1"}}},
		{"messages server tool", dialect.Messages, `{"model":"m","tools":[{"type":"web_search_20250305","name":"web_search"}]}`,
			[]string{`[{"type":"web_search_20250305","name":"web_search"}]`}, dialect.Request{Model: "m", N: 1, SideEffects: true}},
		{"values of other kinds", dialect.Responses, `{"model":"m","tools":[1,null,{"type":5}],"messages":5,"reasoning":"high","thinking":null,"container":5,"conversation":[],"mcp_servers":{}}`,
			[]string{`[1,null,{"type":5}]`, "5"}, dialect.Request{Model: "m", N: 1, SideEffects: true}},
		{"no tools", dialect.Chat, `{"model":"m","tools":null}`, []string{"null"}, dialect.Request{Model: "m", N: 1}},
		{"a long link is prompt", dialect.Chat, `{"model":"m","messages":[{"url":"` + text + `"}]}`, []string{`[{"url":"` + text + `"}]`}, dialect.Request{Model: "m", N: 1}},
		{"unknown members twice", dialect.Chat, `{"model":"m","x":1,"x":2}`, nil, dialect.Request{Model: "m", N: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.d.Request([]byte(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if at := test.body[got.ModelAt.Start:got.ModelAt.End]; !strings.HasPrefix(at, `"m`) {
				t.Errorf("ModelAt is at %s", at)
			}
			for _, part := range test.reads {
				test.want.PromptBytes += len(part)
				if !strings.Contains(test.body, part) {
					t.Errorf("the body has no part %s", part)
				}
			}
			got.ModelAt, got.StreamOptionsAt, got.ThinkingBudgetAt, got.ThinkingAt = dialect.Span{}, dialect.Span{}, dialect.Span{}, dialect.Span{}
			for i := range got.Caps {
				got.Caps[i].At, got.Caps[i].Member = dialect.Span{}, dialect.Span{}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestRefused(t *testing.T) {
	deep := strings.Repeat("[", 10001)
	tests := []struct{ name, body, problem string }{
		{"nothing", ``, "it is not valid JSON"},
		{"cut", `{"model":"m","messages":[`, "it is not valid JSON"},
		{"cut inside a string", `{"model":"m","messages":"a`, "it is not valid JSON"},
		{"more behind it", `{"model":"m"}{}`, "it is not valid JSON"},
		{"control byte", "{\"model\":\"m\",\"x\":\"\n\"}", "it is not valid JSON"},
		{"too deep", `{"model":"m","x":` + deep, "it is not valid JSON"},
		{"array", `[{"model":"m"}]`, "it is not a JSON object"},
		{"null", `null`, "it is not a JSON object"},
		{"no model", `{"stream":true}`, "it names no model"},
		{"empty model", `{"model":""}`, "it names no model"},
		{"model is null", `{"model":null}`, "it names no model"},
		{"model of another kind", `{"model":5}`, `"model" is not a string`},
		{"model twice", `{"model":"m","model":"m"}`, `it has "model" twice`},
		{"cap twice, once escaped", `{"model":"m","max_tokens":1,"m\u0061x_tokens":2}`, `it has "max_tokens" twice`},
		{"messages twice", `{"model":"m","messages":[],"messages":[]}`, `it has "messages" twice`},
		{"usage option twice", `{"model":"m","stream_options":{"include_usage":true,"include_usage":false}}`, `"stream_options" has "include_usage" twice`},
		{"stream of another kind", `{"model":"m","stream":"true"}`, `"stream" is not a bool`},
		{"cap of another kind", `{"model":"m","max_tokens":"5"}`, `"max_tokens" is not a whole number`},
		{"cap not whole", `{"model":"m","max_tokens":5.5}`, `"max_tokens" is not a whole number`},
		{"cap beyond all", `{"model":"m","max_tokens":1e300}`, `"max_tokens" is not a whole number`},
		{"n of another kind", `{"model":"m","n":[]}`, `"n" is not a whole number`},
		{"stream options of another kind", `{"model":"m","stream_options":true}`, `"stream_options" is not an object`},
		{"store of another kind", `{"model":"m","store":1}`, `"store" is not a bool`},
		{"tier of another kind", `{"model":"m","service_tier":1}`, `"service_tier" is not a string`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := dialect.Chat.Request([]byte(test.body))
			var refused *dialect.RequestError
			if !errors.As(err, &refused) || refused.Problem != test.problem || refused.Fix == "" || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("got %v, want %s", err, test.problem)
			}
		})
	}
}

// Spans are those of the values and members.
func TestRequestSpans(t *testing.T) {
	body := ` { "max_tokens" : 5 , "model":"a\"b", "stream_options" : {"include_usage":false},"max_completion_tokens":null }`
	r, err := dialect.Chat.Request([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	at := func(s dialect.Span) string { return body[s.Start:s.End] }
	got := []string{at(r.ModelAt), at(r.StreamOptionsAt), at(r.Caps[0].At), at(r.Caps[0].Member), at(r.Caps[1].At), at(r.Caps[1].Member)}
	want := []string{`"a\"b"`, `{"include_usage":false}`, `5`, `"max_tokens" : 5 ,`, `null`, `,"max_completion_tokens":null`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if r.Model != `a"b` {
		t.Errorf("model %q", r.Model)
	}
}

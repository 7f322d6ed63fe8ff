package middleware_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/middleware"
)

// capped runs a request through Cap and returns what would have been sent.
func capped(t *testing.T, m budget.MaxTokens, path, body string) (string, error) {
	t.Helper()
	r, _ := http.NewRequest("POST", "https://one.test/v1/"+path, strings.NewReader(body))
	var sent string
	_, err := middleware.Cap(m)(r, func(r *http.Request) (*http.Response, error) {
		got, _ := io.ReadAll(r.Body)
		sent = string(got)
		if int(r.ContentLength) != len(got) {
			t.Errorf("Content-Length is %d for %d bytes", r.ContentLength, len(got))
		}
		again, _ := r.GetBody()
		if replay, _ := io.ReadAll(again); string(replay) != sent {
			t.Errorf("GetBody gives %q, want %q", replay, sent)
		}
		return nil, nil
	})
	return sent, err
}

func TestCap(t *testing.T) {
	limited := budget.MaxTokens{Default: 100, Limit: 500}
	for _, tt := range []struct {
		name, path, body string
		max              budget.MaxTokens
		want             string
	}{
		{"none set: the default", "chat/completions", `{"model":"gpt-4o","messages":[]}`, limited, `{"max_completion_tokens":100,"model":"gpt-4o","messages":[]}`},
		{"zero value: 4096", "chat/completions", `{"model":"gpt-4o"}`, budget.MaxTokens{}, `{"max_completion_tokens":4096,"model":"gpt-4o"}`},
		{"a reasoning model needs more", "chat/completions", `{"model":"o3-mini"}`, budget.MaxTokens{}, `{"max_completion_tokens":32768,"model":"o3-mini"}`},
		{"below the limit: not a byte", "chat/completions", `{ "model":"gpt-4o" , "max_tokens":7}`, limited, `{ "model":"gpt-4o" , "max_tokens":7}`},
		{"above, in the old spelling", "chat/completions", `{"model":"gpt-4o","max_tokens":9000,"n":1}`, limited, `{"model":"gpt-4o","max_tokens":500,"n":1}`},
		{"above, in the new spelling", "chat/completions", `{"model":"gpt-4o","max_completion_tokens":9000}`, limited, `{"model":"gpt-4o","max_completion_tokens":500}`},
		{"both: one is left, the lower", "chat/completions", `{"model":"gpt-4o","max_tokens":50,"max_completion_tokens":9000}`, limited, `{"model":"gpt-4o","max_tokens":50}`},
		{"a negative default: none", "chat/completions", `{"model":"gpt-4o"}`, budget.MaxTokens{Default: -1}, `{"model":"gpt-4o"}`},
		{"responses", "responses", `{"model":"gpt-4o","input":"hi"}`, limited, `{"max_output_tokens":100,"model":"gpt-4o","input":"hi"}`},
		{"legacy completions", "completions", `{"model":"gpt-4o","prompt":"hi","max_tokens":501}`, limited, `{"model":"gpt-4o","prompt":"hi","max_tokens":500}`},
		{"Anthropic messages", "messages", `{"model":"claude","messages":[],"max_tokens":501}`, limited, `{"model":"claude","messages":[],"max_tokens":500}`},
		{"null is none", "chat/completions", `{"max_tokens":null,"model":"gpt-4o"}`, limited, `{"max_tokens":100,"model":"gpt-4o"}`},
		{"nor is zero a cap", "chat/completions", `{"model":"gpt-4o","max_completion_tokens":0}`, limited, `{"model":"gpt-4o","max_completion_tokens":100}`},
		{"both, the new one first", "chat/completions", `{"model":"gpt-4o","max_completion_tokens":9000,"max_tokens":9000}`, limited, `{"model":"gpt-4o","max_completion_tokens":500}`},
		{"a cap is for each of several choices", "chat/completions", `{"model":"gpt-4o","n":3,"max_tokens":9000}`, limited, `{"model":"gpt-4o","n":3,"max_tokens":500}`},
		{"another format's spelling", "chat/completions", `{"model":"gpt-4o","max_output_tokens":9000}`, limited, `{"max_completion_tokens":500,"model":"gpt-4o"}`},
		{"responses, in another's spelling", "responses", `{"model":"gpt-4o","max_tokens":9000,"input":"hi"}`, limited, `{"max_output_tokens":500,"model":"gpt-4o","input":"hi"}`},
		{"responses, above", "responses", `{"model":"gpt-4o","max_output_tokens":9000,"input":"hi"}`, limited, `{"model":"gpt-4o","max_output_tokens":500,"input":"hi"}`},
		{"legacy completions, none set", "completions", `{"model":"gpt-4o","prompt":"hi"}`, limited, `{"max_tokens":100,"model":"gpt-4o","prompt":"hi"}`},
		{"messages, in another's spelling", "messages", `{"model":"claude","max_completion_tokens":7}`, limited, `{"max_tokens":7,"model":"claude"}`},
		{"a later generation reasons too", "chat/completions", `{"model":"openai/gpt-6-luna"}`, budget.MaxTokens{}, `{"max_completion_tokens":32768,"model":"openai/gpt-6-luna"}`},
		{"an effort: the model reasons", "chat/completions", `{"model":"x","reasoning_effort":"low"}`, budget.MaxTokens{}, `{"max_completion_tokens":32768,"model":"x","reasoning_effort":"low"}`},
		{"no effort: it does not", "chat/completions", `{"model":"gpt-5.1","reasoning_effort":"none"}`, budget.MaxTokens{}, `{"max_completion_tokens":4096,"model":"gpt-5.1","reasoning_effort":"none"}`},
		{"responses, an effort", "responses", `{"model":"x","reasoning":{"effort":"high"}}`, budget.MaxTokens{}, `{"max_output_tokens":32768,"model":"x","reasoning":{"effort":"high"}}`},
		{"a lowered cap leaves room for thinking", "messages", `{"model":"claude","max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":16000}}`, budget.MaxTokens{Limit: 8000}, `{"model":"claude","max_tokens":8000,"thinking":{"type":"enabled","budget_tokens":4000}}`},
		{"the least that may be thought", "messages", `{"model":"claude","max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":16000}}`, budget.MaxTokens{Limit: 1500}, `{"model":"claude","max_tokens":1500,"thinking":{"type":"enabled","budget_tokens":1024}}`},
		{"no room to think at all", "messages", `{"model":"claude","max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":16000},"messages":[]}`, budget.MaxTokens{Limit: 1024}, `{"model":"claude","max_tokens":1024,"thinking":{"type":"disabled"},"messages":[]}`},
		{"thinking that fits under the cap", "messages", `{"model":"claude","max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":2000}}`, budget.MaxTokens{Limit: 8000}, `{"model":"claude","max_tokens":8000,"thinking":{"type":"enabled","budget_tokens":2000}}`},
		{"thinking above the cap, as the caller has it", "messages", `{"model":"claude","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":16000}}`, budget.MaxTokens{Limit: 8000}, `{"model":"claude","max_tokens":8000,"thinking":{"type":"enabled","budget_tokens":16000}}`},
		{"embeddings have no output", "embeddings", `{"model":"e","input":"hi"}`, limited, `{"model":"e","input":"hi"}`},
		{"not inference", "files", `whatever`, limited, `whatever`},
	} {
		got, err := capped(t, tt.max, tt.path, tt.body)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

func TestStrictCapRefuses(t *testing.T) {
	sent, err := capped(t, budget.MaxTokens{Limit: 500, Strict: true}, "chat/completions", `{"model":"gpt-4o","max_tokens":501}`)
	over, ok := errors.AsType[*budget.OverCapError](err)
	if !ok || over.Asked != 501 || over.Cap != 500 || sent != "" {
		t.Errorf("sent %q, error %v; want nothing sent, and 501 over 500", sent, err)
	}
}

// A body that cannot be read is refused, and not quoted.
func TestCapRefusesWhatItCannotRead(t *testing.T) {
	for _, body := range []string{`{"model":"gpt-4o","secret":`, `[]`, `{"messages":[]}`, `{"model":"a","model":"b","x":"secret"}`, `{"model":"a","max_tokens":"secret"}`} {
		sent, err := capped(t, budget.MaxTokens{}, "chat/completions", body)
		if !errors.Is(err, middleware.ErrBadRequest) || sent != "" {
			t.Errorf("%s: sent %q, error %v; want ErrBadRequest", body, sent, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error quotes the body: %v", err)
		}
	}
}

// The caller's request is the caller's.
func TestCapLeavesTheRequestAlone(t *testing.T) {
	body := io.NopCloser(strings.NewReader(`{"model":"gpt-4o","max_tokens":9000}`))
	r, _ := http.NewRequest("POST", "https://one.test/v1/chat/completions", body)
	before := *r
	_, _ = middleware.Cap(budget.MaxTokens{Limit: 5})(r, func(r *http.Request) (*http.Response, error) { return nil, nil })
	if r.Body != before.Body || r.ContentLength != before.ContentLength || r.URL != before.URL {
		t.Error("the request was modified")
	}
}

package upstream_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// wantError wants an HTTP error in the SDK's own type.
func wantError(t *testing.T, err error, status int, code string) {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != status || e.Code != code || e.Message == "" {
		t.Errorf("error %v, want status %d with code %q", err, status, code)
	}
}

func hello() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hello")}}
}

func TestBadRequests(t *testing.T) {
	both(t, upstream.Behaviour{Models: []string{"m"}, Reject: []string{"max_tokens", "stream_options"}}, func(r rig) {
		for _, test := range []struct {
			body, want string
			status     int
		}{
			{`{"model":"m",`, `"code":null`, 400},
			{`["m"]`, `"type":"invalid_request_error"`, 400},
			{`{"messages":[]}`, `"you must provide a model parameter"`, 400},
			{`{"model":"n","messages":[]}`, `"code":"model_not_found"`, 404},
			{`{"model":"m","max_tokens":3,"messages":[]}`, `"param":"max_tokens","code":"unsupported_parameter"`, 400},
			{`{"model":"m","stream_options":{},"messages":[]}`, `"param":"stream_options"`, 400},
			{`{"model":"m","max_completion_tokens":3,"messages":[]}`, `"finish_reason":"length"`, 200},
		} {
			g := r.must("/v1/chat/completions", test.body)
			if g.status != test.status || !strings.Contains(g.body, test.want) {
				r.Errorf("%s: %d %s", test.body, g.status, g.body)
			}
		}
		if s := r.settled(); s.Failed != 6 || s.Answered != 1 {
			r.Errorf("%+v", s)
		}
	})
}

func TestKeys(t *testing.T) {
	both(t, upstream.Behaviour{Keys: []string{"good"}}, func(r rig) {
		_, err := r.openai.Chat.Completions.New(r.Context(), hello())
		wantError(r.T, err, 401, "invalid_api_key")
		_, err = r.openai.Models.List(r.Context())
		wantError(r.T, err, 401, "invalid_api_key")
		if _, err = r.openai.Chat.Completions.New(r.Context(), hello(), option.WithAPIKey("good")); err != nil {
			r.Error(err)
		}
		for _, name := range []string{"Api-Key", "X-Api-Key"} {
			if g := r.must("/v1/chat/completions", plain, name, "good"); g.status != 200 {
				r.Errorf("%s: %d", name, g.status)
			}
		}
	})
}

func TestRateLimit(t *testing.T) {
	both(t, upstream.Behaviour{RequestsPerMinute: 2}, func(r rig) {
		head := func(g got) [5]string {
			h := g.header.Get
			return [5]string{h("X-Ratelimit-Limit-Requests"), h("X-Ratelimit-Remaining-Requests"), h("X-Ratelimit-Reset-Requests"),
				h("Retry-After"), h("Retry-After-Ms")}
		}
		step := func(wait time.Duration, key string, status int, want [5]string) {
			r.Helper()
			time.Sleep(wait)
			g := r.must("/v1/chat/completions", plain, "Authorization", "Bearer "+key)
			if d := cmp.Diff(want, head(g)); d != "" || g.status != status {
				r.Errorf("status %d, want %d\n%s", g.status, status, d)
			}
		}
		step(0, "a", 200, [5]string{"2", "1", "30s", "", ""})
		step(0, "a", 200, [5]string{"2", "0", "1m0s", "", ""})
		step(500*ms, "a", 429, [5]string{"2", "0", "59.5s", "30", "29500"}) // half a minute fills one of two
		step(0, "b", 200, [5]string{"2", "1", "30s", "", ""})               // another key has its own
		step(29500*ms, "a", 200, [5]string{"2", "0", "1m0s", "", ""})
		_, err := r.openai.Chat.Completions.New(r.Context(), hello(), option.WithAPIKey("a"))
		wantError(r.T, err, 429, "rate_limit_exceeded")
	})
}

func TestPromptCache(t *testing.T) {
	long := strings.Repeat("x", 4000) // 1000 tokens
	turn := func(messages ...string) string {
		return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
	}
	first, answer := `{"role":"system","content":"`+long+`"}`, `{"role":"assistant","content":"ok"}`
	b := upstream.Behaviour{TTFT: median(100 * ms), Prefill: 100 * time.Microsecond, PromptCache: time.Minute, Output: upstream.Length{Median: 1}}
	both(t, b, func(r rig) {
		for _, test := range []struct {
			wait time.Duration
			body string
			took time.Duration
			want string
		}{
			{0, turn(first), 200 * ms, `"cached_tokens":0`},
			{0, turn(first, answer, first), 200*ms + 100*time.Microsecond, `"cached_tokens":1000`}, // 1001 are new: 2 bytes make a token
			{0, turn(answer, first), 200*ms + 100*time.Microsecond, `"cached_tokens":0`},           // no prefix in common
			{61 * time.Second, turn(first), 200 * ms, `"cached_tokens":0`},                         // forgotten
		} {
			time.Sleep(test.wait)
			g := r.must("/v1/chat/completions", test.body)
			if g.end != test.took || !strings.Contains(g.body, test.want) {
				r.Errorf("took %v, want %v, with %s: %s", g.end, test.took, test.want, g.body)
			}
		}
		if s := r.settled(); s.CachedTokens != 1000 || s.PromptTokens != 1000+2001+1001+1000 {
			r.Errorf("%+v", s)
		}
	})
}

func TestOnRequestSeesEverything(t *testing.T) {
	both(t, upstream.Behaviour{Faults: upstream.Faults{HTTPError: 1}}, func(r rig) {
		var seen []string
		r.server.OnRequest(func(q *http.Request, body []byte) {
			seen = append(seen, q.Method+" "+q.URL.Path+" "+q.Header.Get("Authorization")+" "+string(body))
		})
		r.must("/v1/chat/completions", plain, "Authorization", "Bearer k")
		r.openai.Models.List(r.Context())
		r.server.OnRequest(nil)
		r.must("/v1/chat/completions", plain)
		want := []string{"POST /v1/chat/completions Bearer k " + plain, "GET /v1/models Bearer test "}
		if d := cmp.Diff(want, seen); d != "" {
			r.Error(d)
		}
	})
}

type closing struct {
	io.Reader
	closed *bool
}

func (c closing) Close() error { *c.closed = true; return nil }

func TestNetwork(t *testing.T) {
	n := upstream.Network{"a.test": upstream.New("a", upstream.Behaviour{}, 1), "b.test:8080": upstream.New("b", upstream.Behaviour{}, 1)}
	for host, want := range map[string]string{"a.test": `"content":"a 2`, "b.test:8080": `"content":"b 2`, "c.test": ""} {
		closed := false
		req, err := http.NewRequest("POST", "http://"+host+"/v1/chat/completions", closing{strings.NewReader(plain), &closed})
		if err != nil {
			t.Fatal(err)
		}
		res, err := n.RoundTrip(req)
		if !closed {
			t.Errorf("%s: the request's body was not closed", host)
		}
		if want == "" {
			if err == nil {
				t.Errorf("%s answered", host)
			}
			continue
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if !strings.Contains(string(body), want) || err != nil {
			t.Errorf("%s: %s %v", host, body, err)
		}
	}
}

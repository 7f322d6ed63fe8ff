package ratelimit_test

import (
	"net/http"
	"testing"

	"github.com/ontime-llm/ontime/internal/ratelimit"
)

// responses are header sets as they come from net/http: canonical names.
var responses = []struct {
	name   string
	status int
	lines  []string
}{
	{"plain", 200, plain},
	{"OpenAI", 200, append([]string{"X-Ratelimit-Limit-Requests: 5000", "X-Ratelimit-Remaining-Requests: 4999", "X-Ratelimit-Reset-Requests: 12ms",
		"X-Ratelimit-Limit-Tokens: 160000", "X-Ratelimit-Remaining-Tokens: 158866", "X-Ratelimit-Reset-Tokens: 425ms"}, plain...)},
	{"Anthropic", 200, append([]string{"Anthropic-Ratelimit-Requests-Limit: 4000", "Anthropic-Ratelimit-Requests-Remaining: 3999", "Anthropic-Ratelimit-Requests-Reset: 2024-03-26T20:00:01Z",
		"Anthropic-Ratelimit-Tokens-Limit: 280000", "Anthropic-Ratelimit-Tokens-Remaining: 279000", "Anthropic-Ratelimit-Tokens-Reset: 2024-03-26T20:00:02Z",
		"Anthropic-Ratelimit-Input-Tokens-Limit: 200000", "Anthropic-Ratelimit-Input-Tokens-Remaining: 199000", "Anthropic-Ratelimit-Input-Tokens-Reset: 2024-03-26T20:00:03Z",
		"Anthropic-Ratelimit-Output-Tokens-Limit: 80000", "Anthropic-Ratelimit-Output-Tokens-Remaining: 8000", "Anthropic-Ratelimit-Output-Tokens-Reset: 2024-03-26T20:00:54Z"}, plain...)},
	{"IETF", 200, append([]string{`Ratelimit: "api";r=412;t=98`, `Ratelimit-Policy: "fixed window";"api";q=500;w=300`}, plain...)},
	{"refused", 429, append([]string{"Retry-After-Ms: 44871", "Retry-After: 45"}, plain...)},
	{"refused until a date", 429, append([]string{"Retry-After: Tue, 26 Mar 2024 20:00:30 GMT"}, plain...)},
}

// plain is a response without a word about limits.
var plain = []string{dateLine, "Content-Type: text/event-stream; charset=utf-8", "Transfer-Encoding: chunked", "Connection: keep-alive",
	"Cache-Control: no-cache", "Access-Control-Expose-Headers: X-Request-ID", "Openai-Organization: example", "Openai-Processing-Ms: 204",
	"Openai-Version: 2020-10-01", "X-Request-Id: req_1", "X-Envoy-Upstream-Service-Time: 208", "Strict-Transport-Security: max-age=31536000",
	"Cf-Cache-Status: DYNAMIC", "X-Content-Type-Options: nosniff", "Server: cloudflare", "Cf-Ray: 1-AMS", `Alt-Svc: h3=":443"; ma=86400`}

func TestReadAllocatesNothing(t *testing.T) {
	for _, r := range responses {
		h := headers(r.lines...)
		if allocs := testing.AllocsPerRun(100, func() { ratelimit.Read(h, r.status, now) }); allocs != 0 {
			t.Errorf("%s: %v allocations, want 0", r.name, allocs)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, r := range responses {
		b.Run(r.name, func(b *testing.B) {
			h := headers(r.lines...)
			b.ReportAllocs()
			for b.Loop() {
				sink = ratelimit.Read(h, r.status, now)
			}
		})
	}
}

var sink ratelimit.Info

// An answer full of headers that are ours in name only must not cost more than reading it did.
func BenchmarkReadHostile(b *testing.B) {
	h := http.Header{}
	for i := range 10_000 {
		name := "X-Ratelimit-Remaining-Tokens-" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		h[name] = []string{"Tue, 99 Mar 2024"}
	}
	h["Ratelimit"] = []string{string(make([]byte, 1<<20))}
	b.ReportAllocs()
	for b.Loop() {
		sink = ratelimit.Read(h, 429, now)
	}
}

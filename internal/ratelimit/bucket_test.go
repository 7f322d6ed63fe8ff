package ratelimit_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/ratelimit"
)

// What is left, from the headers of answers as providers send them.
func TestBuckets(t *testing.T) {
	answers := []readTest{
		{name: "OpenAI",
			lines: []string{"x-ratelimit-limit-requests: 5000", "x-ratelimit-remaining-requests: 4999", "x-ratelimit-reset-requests: 12ms",
				"x-ratelimit-limit-tokens: 160000", "x-ratelimit-remaining-tokens: 158866", "x-ratelimit-reset-tokens: 425ms",
				"x-ratelimit-limit-tokens_usage_based: 160000", "x-ratelimit-remaining-tokens_usage_based: 8000", "x-ratelimit-reset-tokens_usage_based: 57s"},
			want: ratelimit.Info{Requests: bucket(5000, 4999, 12*time.Millisecond), Tokens: bucket(160000, 8000, 57*time.Second)}}, // 5% < 99%
		{name: "Azure",
			lines: []string{"x-ratelimit-limit-requests: 120", "x-ratelimit-remaining-requests: 119", "x-ratelimit-reset-requests: 500",
				"x-ratelimit-limit-tokens: 120000", "x-ratelimit-remaining-tokens: 119986", "x-rate-limit-reset-tokens: 55", "x-ratelimit-renewalperiod-tokens: 60"},
			want: ratelimit.Info{Requests: bucket(120, 119, 500*time.Second), Tokens: bucket(120000, 119986, 55*time.Second)}},
		{name: "Anthropic", // output tokens are the tightest: 8/80 < 199/200 < 279/280
			lines: []string{dateLine, "anthropic-ratelimit-requests-limit: 4000", "anthropic-ratelimit-requests-remaining: 3999", "anthropic-ratelimit-requests-reset: 2024-03-26T20:00:01Z",
				"anthropic-ratelimit-tokens-limit: 280000", "anthropic-ratelimit-tokens-remaining: 279000", "anthropic-ratelimit-tokens-reset: 2024-03-26T20:00:02Z",
				"anthropic-ratelimit-input-tokens-limit: 200000", "anthropic-ratelimit-input-tokens-remaining: 199000", "anthropic-ratelimit-input-tokens-reset: 2024-03-26T20:00:03Z",
				"anthropic-ratelimit-output-tokens-limit: 80000", "anthropic-ratelimit-output-tokens-remaining: 8000", "anthropic-ratelimit-output-tokens-reset: 2024-03-26T20:00:54Z"},
			want: ratelimit.Info{Requests: bucket(4000, 3999, time.Second), Tokens: bucket(80000, 8000, 54*time.Second)}},
		{name: "Cerebras", // 10/14400 left of the day is tighter than 29/30 of the minute
			lines: []string{"x-ratelimit-limit-requests-day: 14400", "x-ratelimit-remaining-requests-day: 10", "x-ratelimit-reset-requests-day: 33011.382867",
				"x-ratelimit-limit-requests-minute: 30", "x-ratelimit-remaining-requests-minute: 29", "x-ratelimit-reset-requests-minute: 11.38",
				"x-ratelimit-limit-tokens-minute: 60000", "x-ratelimit-remaining-tokens-minute: 59000", "x-ratelimit-reset-tokens-minute: 11.38"},
			want: ratelimit.Info{Requests: bucket(14400, 10, 33011382867*time.Microsecond), Tokens: bucket(60000, 59000, 11380*time.Millisecond)}},
		{name: "Mistral",
			lines: []string{"x-ratelimit-limit-req-minute: 60", "x-ratelimit-remaining-req-minute: 59", "x-ratelimit-limit-tokens-minute: 50000", "x-ratelimit-remaining-tokens-minute: 47196",
				"x-ratelimit-limit-tokens-month: 4000000", "x-ratelimit-remaining-tokens-month: 3950246"},
			want: ratelimit.Info{Requests: bucket(60, 59, 0), Tokens: bucket(50000, 47196, 0)}}, // 94.4% < 98.8%
		{name: "Mistral, by size", // 99.98% of the minute, 2.5% of the month
			lines: []string{"ratelimitbysize-limit: 500000", "ratelimitbysize-remaining: 499900", "ratelimitbysize-reset: 28", "ratelimitbysize-query-cost: 32000",
				"x-ratelimitbysize-limit-month: 4000000", "x-ratelimitbysize-remaining-month: 100000"},
			want: ratelimit.Info{Tokens: bucket(4000000, 100000, 0)}},
		{name: "Together",
			lines: []string{"x-ratelimit-limit: 10", "x-ratelimit-remaining: 4", "x-ratelimit-reset: 1", "x-tokenlimit-limit: 3000", "x-tokenlimit-remaining: 2700"},
			want:  ratelimit.Info{Requests: bucket(10, 4, time.Second), Tokens: bucket(3000, 2700, 0)}},
		{name: "DigitalOcean",
			lines: []string{dateLine, "x-ratelimit-limit-tokens-per-day: 1000", "x-ratelimit-remaining-tokens-per-day: 400", "x-ratelimit-reset-tokens-per-day: 1711497600"},
			want:  ratelimit.Info{Tokens: bucket(1000, 400, 4*time.Hour)}},
		{name: "OpenRouter",
			lines: []string{dateLine, "X-RateLimit-Limit: 20", "X-RateLimit-Remaining: 7", "X-RateLimit-Reset: 1711483260000"},
			want:  ratelimit.Info{Requests: bucket(20, 7, time.Minute)}},
		{name: "bucket before field", lines: []string{"x-ratelimit-minute-limit: 100", "x-ratelimit-minute-remaining: 40", "x-ratelimit-minute-reset: 5"},
			want: ratelimit.Info{Requests: bucket(100, 40, 5*time.Second)}},
		{name: "periods", lines: []string{"x-ratelimit-limit-1h: 100", "x-ratelimit-remaining-1h: 40", "x-ratelimit-limit-per-day: 100", "x-ratelimit-remaining-per-day: 30"},
			want: ratelimit.Info{Requests: bucket(100, 30, 0)}},
		{name: "Groq, of the day and of an hour",
			lines: []string{"x-ratelimit-limit-requests-1h: 800", "x-ratelimit-remaining-requests-1h: 200", "x-ratelimit-reset-requests-1h: 1200", "x-ratelimit-limit-requests: 60", "x-ratelimit-remaining-requests: 59"},
			want:  ratelimit.Info{Requests: bucket(800, 200, 20*time.Minute)}},

		{name: "IETF, three headers", lines: []string{"RateLimit-Limit: 100, 100;w=60, 5000;w=3600", "RateLimit-Remaining: 50", "RateLimit-Reset: 30"},
			want: ratelimit.Info{Requests: bucket(100, 50, 30*time.Second)}},
		{name: "IETF, draft 7", lines: []string{"RateLimit: limit=100, remaining=50, reset=30", "RateLimit-Policy: 100;w=60"},
			want: ratelimit.Info{Requests: bucket(100, 50, 30*time.Second)}},
		{name: "IETF, draft 8", lines: []string{`RateLimit: "burst";r=90;t=1, "daily" ;r=100; t=3600`, `RateLimit-Policy: "burst";q=100;w=60,"daily";q=1000;w=86400`},
			want: ratelimit.Info{Requests: bucket(1000, 100, time.Hour)}},
		{name: "IETF, tokens", lines: []string{`RateLimit: "tokens";r=900;t=1`}, want: ratelimit.Info{Tokens: bucket(0, 900, time.Second)}},
		{name: "Hugging Face", lines: []string{`ratelimit: "api";r=412;t=98`, `ratelimit-policy: "fixed window";"api";q=500;w=300`},
			want: ratelimit.Info{Requests: bucket(500, 412, 98*time.Second)}},
		{name: "IETF, broken", lines: []string{`RateLimit: ;;,="";r;t=,"a`, "RateLimit-Policy: q", `ratelimit: "` + strings.Repeat("x", 99) + `";r=0;t=3`}},
	}
	for i := range answers {
		answers[i].status = http.StatusOK
	}
	run(t, answers)
}

func TestBucketValues(t *testing.T) {
	const most = ratelimit.MaxCount
	answers := []readTest{
		{name: "a limit alone", lines: []string{"x-ratelimit-limit-tokens: 100"}},
		{name: "what remains alone", lines: []string{"x-ratelimit-remaining-tokens: 100"}, want: ratelimit.Info{Tokens: bucket(0, 100, 0)}},
		{name: "negative: unknown", lines: []string{"x-ratelimit-limit-tokens: 100", "x-ratelimit-remaining-tokens: -1"}},
		{name: "unlimited", lines: []string{"x-ratelimit-limit-tokens: 18446744073709551615", "x-ratelimit-remaining-tokens: 18446744073709551615"},
			want: ratelimit.Info{Tokens: bucket(most, most, 0)}},
		{name: "NaN, infinite, overflowing", lines: []string{"x-ratelimit-remaining-tokens: NaN", "x-ratelimit-remaining-requests: Inf", "x-ratelimit-remaining-tokens-day: 1e999"}},
		{name: "empty", lines: []string{"x-ratelimit-remaining-tokens: ", "x-ratelimit-remaining-requests:  "}},
		{name: "a fraction is no whole token", lines: []string{"x-ratelimit-remaining-tokens: 0.9"}, want: ratelimit.Info{Tokens: bucket(0, 0, 0)}},
		{name: "more than fits", lines: []string{"x-ratelimit-limit-tokens: 100", "x-ratelimit-remaining-tokens: 130"}, want: ratelimit.Info{Tokens: bucket(100, 100, 0)}},
		{name: "several values: the least remaining, the greatest limit, the longest reset",
			lines: []string{"x-ratelimit-remaining-tokens: 9", "x-ratelimit-remaining-tokens: 7", "X-RateLimit-Remaining-Tokens: 8", "x-ratelimit-remaining-tokens: -1",
				"x-ratelimit-limit-tokens: 10", "x-ratelimit-limit-tokens: 20", "x-ratelimit-reset-tokens: 2s", "x-ratelimit-reset-tokens: 1s"},
			want: ratelimit.Info{Tokens: bucket(20, 7, 2*time.Second)}},
		{name: "zeros as placeholders", lines: []string{"x-ratelimit-limit-tokens: 0", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 0.000"}},
		{name: "zeros of one who refuses", status: 429, lines: []string{"x-ratelimit-limit-req-minute: 0", "x-ratelimit-remaining-req-minute: 0"},
			want: ratelimit.Info{Requests: bucket(0, 0, 0)}},
		{name: "a known share is tighter than an unknown", lines: []string{"x-ratelimit-remaining-tokens: 5", "x-ratelimit-limit-tokens-day: 10", "x-ratelimit-remaining-tokens-day: 9"},
			want: ratelimit.Info{Tokens: bucket(10, 9, 0)}},
		{name: "of unknown shares the least", lines: []string{"x-ratelimit-remaining-tokens: 5", "x-ratelimit-remaining-tokens-day: 4"}, want: ratelimit.Info{Tokens: bucket(0, 4, 0)}},
		{name: "of two exhausted the longest", lines: []string{"x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 1s", "x-ratelimit-limit-tokens-day: 10", "x-ratelimit-remaining-tokens-day: 0", "x-ratelimit-reset-tokens-day: 1h"},
			want: ratelimit.Info{Tokens: bucket(10, 0, time.Hour)}},
		{name: "a gateway and the provider behind it", lines: []string{"x-ratelimit-limit-requests: 10", "x-ratelimit-remaining-requests: 5", "anthropic-ratelimit-requests-limit: 4000", "anthropic-ratelimit-requests-remaining: 3999"},
			want: ratelimit.Info{Requests: bucket(10, 5, 0)}},
		{name: "neither requests nor tokens", lines: []string{"x-ratelimit-remaining-images: 0", "x-ratelimit-remaining-concurrent-requests: 0", "x-ratelimit-remaining-audio-seconds: 3"}},
		{name: "a name too long", lines: []string{"x-ratelimit-remaining-tokens-" + strings.Repeat("x", 99) + ": 0"}},
	}
	for i := range answers {
		if answers[i].status == 0 {
			answers[i].status = http.StatusOK
		}
	}
	run(t, answers)
}

// Windows of subscriptions: no counts, but a status and a Unix time.
func TestUnified(t *testing.T) {
	run(t, []readTest{
		{name: "both windows used up: the later", lines: []string{dateLine,
			"anthropic-ratelimit-unified-status: rejected", "anthropic-ratelimit-unified-reset: 1711486800",
			"anthropic-ratelimit-unified-5h-status: rejected", "anthropic-ratelimit-unified-5h-reset: 1711483800",
			"anthropic-ratelimit-unified-7d-status: allowed", "anthropic-ratelimit-unified-7d-reset: 1711569600"},
			want: wait(time.Hour)},
		{name: "the status of what is sold beyond", lines: []string{dateLine,
			"anthropic-ratelimit-unified-5h-status: rejected", "anthropic-ratelimit-unified-5h-reset: 1711483800",
			"anthropic-ratelimit-unified-overage-status: rejected", "anthropic-ratelimit-unified-overage-reset: 1711569600"},
			want: wait(10 * time.Minute)},
		{name: "without a status", lines: []string{dateLine, "anthropic-ratelimit-unified-reset: 1711483800"}, want: wait(10 * time.Minute)},
		{name: "allowed: something else refused", lines: []string{dateLine, "anthropic-ratelimit-unified-reset: 1711483800", "anthropic-ratelimit-unified-status: allowed"}},
		{name: "a share", status: 200, lines: []string{dateLine, "anthropic-ratelimit-unified-5h-utilization: 0.42", "anthropic-ratelimit-unified-5h-reset: 1711483800"}},
	})
}

func TestTooManyBuckets(t *testing.T) {
	for _, n := range []int{24, 25, 1000} {
		lines := []string{"Retry-After: 3"}
		for i := range n {
			lines = append(lines, fmt.Sprintf("x-ratelimit-remaining-tokens-%d: %d", i, i+1))
		}
		want := wait(3 * time.Second)
		if n <= 24 {
			want.Tokens = bucket(0, 1, 0)
		}
		if diff := cmp.Diff(want, ratelimit.Read(headers(lines...), 429, now)); diff != "" {
			t.Errorf("%d buckets (-want +got):\n%s", n, diff)
		}
	}
}

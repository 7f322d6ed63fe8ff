package ratelimit_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/ratelimit"
)

// date is the Date of responses in the tests: Unix time 1711483200. Ours runs seven minutes late, which no
// delay may show where the response has a Date.
var (
	date = time.Date(2024, 3, 26, 20, 0, 0, 0, time.UTC)
	now  = date.Add(-7 * time.Minute)
)

const dateLine = "Date: Tue, 26 Mar 2024 20:00:00 GMT"

// headers makes a map of lines as they would be sent, its keys in the case in which they are written.
func headers(lines ...string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h[name] = append(h[name], value)
	}
	return h
}

// wait is an Info with nothing but a delay.
func wait(d time.Duration) ratelimit.Info { return ratelimit.Info{RetryAfter: d, Told: true} }

func bucket(limit, remaining int64, reset time.Duration) ratelimit.Bucket {
	return ratelimit.Bucket{Known: true, Limit: limit, Remaining: remaining, Reset: reset}
}

type readTest struct {
	name   string
	status int // 0: 429
	lines  []string
	want   ratelimit.Info
}

func run(t *testing.T, tests []readTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status := tt.status
			if status == 0 {
				status = http.StatusTooManyRequests
			}
			h := headers(tt.lines...)
			before := h.Clone()
			if diff := cmp.Diff(tt.want, ratelimit.Read(h, status, now)); diff != "" {
				t.Errorf("Read (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, h); diff != "" {
				t.Errorf("Read changed the headers (-before +after):\n%s", diff)
			}
		})
	}
}

func TestDelayComesFrom(t *testing.T) {
	run(t, []readTest{
		{name: "nothing", want: ratelimit.Info{}},
		{name: "milliseconds before seconds", lines: []string{"retry-after-ms: 44871", "Retry-After: 45"}, want: wait(44871 * time.Millisecond)},
		{name: "Azure's own milliseconds", lines: []string{"x-ms-retry-after-ms: 250", "Retry-After: 1"}, want: wait(250 * time.Millisecond)},
		{name: "seconds where the milliseconds make no sense", lines: []string{"retry-after-ms: soon", "Retry-After: 45"}, want: wait(45 * time.Second)},
		{name: "Retry-After before resets",
			lines: []string{"Retry-After: 2", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 6m0s"},
			want:  ratelimit.Info{RetryAfter: 2 * time.Second, Told: true, Requests: bucket(0, 0, 6*time.Minute)}},
		{name: "the exhausted bucket, not the longest",
			lines: []string{"x-ratelimit-remaining-requests: 3", "x-ratelimit-reset-requests: 6m0s", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 7.66s"},
			want: ratelimit.Info{RetryAfter: 7660 * time.Millisecond, Told: true,
				Requests: bucket(0, 3, 6*time.Minute), Tokens: bucket(0, 0, 7660*time.Millisecond)}},
		{name: "the longest of the exhausted",
			lines: []string{"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1s", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 3s"},
			want: ratelimit.Info{RetryAfter: 3 * time.Second, Told: true,
				Requests: bucket(0, 0, time.Second), Tokens: bucket(0, 0, 3*time.Second)}},
		{name: "an exhausted bucket of another kind",
			lines: []string{"x-ratelimit-remaining-images: 0", "x-ratelimit-reset-images: 12"}, want: wait(12 * time.Second)},
		{name: "an exhausted bucket without a reset", // as Mistral's
			lines: []string{"x-ratelimit-limit-req-minute: 60", "x-ratelimit-remaining-req-minute: 0"},
			want:  ratelimit.Info{Requests: bucket(60, 0, 0)}},
		{name: "nothing exhausted",
			lines: []string{"x-ratelimit-remaining-tokens: 900", "x-ratelimit-reset-tokens: 20ms"},
			want:  ratelimit.Info{Tokens: bucket(0, 900, 20*time.Millisecond)}},
		{name: "429: the shortest of those that do not say what remains",
			lines: []string{"x-ratelimit-remaining-tokens: -1", "x-ratelimit-reset-tokens: 45", "x-ratelimit-reset-requests-day: 3h"},
			want:  wait(45 * time.Second)},
		{name: "503: those tell nothing", status: 503, lines: []string{"x-ratelimit-remaining-tokens: -1", "x-ratelimit-reset-tokens: 45"}},
		{name: "503: an exhausted bucket does", status: 503,
			lines: []string{"x-ratelimit-remaining: 0", "x-ratelimit-reset: 9"},
			want:  ratelimit.Info{RetryAfter: 9 * time.Second, Told: true, Requests: bucket(0, 0, 9*time.Second)}},
		{name: "Azure's words for unknown", // openai-dotnet issue 838
			lines: []string{"x-ratelimit-limit-tokens: -1", "x-ratelimit-remaining-tokens: -1", "x-ratelimit-reset-tokens: 0"}},
		{name: "301", status: 301, lines: []string{"Retry-After: 3"}, want: wait(3 * time.Second)},
	})
}

func TestRetryAfterOfAnAnswer(t *testing.T) {
	for _, status := range []int{200, 202, 299} {
		info := ratelimit.Read(headers("Retry-After: 15", "retry-after-ms: 9",
			"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 6s"), status, now)
		want := ratelimit.Info{Requests: bucket(0, 0, 6*time.Second)} // buckets are read, a delay is not
		if diff := cmp.Diff(want, info); diff != "" {
			t.Errorf("%d (-want +got):\n%s", status, diff)
		}
	}
}

func TestShouldRetry(t *testing.T) {
	yes, no := ratelimit.Info{ShouldRetry: true, Retry: true}, ratelimit.Info{ShouldRetry: true}
	run(t, []readTest{
		{name: "true", lines: []string{"x-should-retry: true"}, want: yes},
		{name: "True", lines: []string{"X-SHOULD-RETRY:  True "}, want: yes},
		{name: "false", lines: []string{"X-Should-Retry: false"}, want: no},
		{name: "both", lines: []string{"X-Should-Retry: true", "x-should-retry: false"}, want: no},
		{name: "neither", lines: []string{"X-Should-Retry: perhaps"}},
		{name: "on an answer", status: 200, lines: []string{"x-should-retry: false"}, want: no},
	})
}

func TestNames(t *testing.T) {
	run(t, []readTest{
		{name: "any case", lines: []string{"RETRY-AFTER: 3"}, want: wait(3 * time.Second)},
		{name: "spellings of one header", lines: []string{"Retry-After: 3", "retry-after: 5", "RETRY-AFTER: 4"}, want: wait(5 * time.Second)},
		{name: "Date in any case", lines: []string{"date: Tue, 26 Mar 2024 20:00:00 GMT", "retry-after: Tue, 26 Mar 2024 20:00:30 GMT"}, want: wait(30 * time.Second)},
		{name: "what only looks like ours", lines: []string{
			"Retry-After-All: 3", "X-Retry: 1", "x-ratelimit-: 0", "x-ratelimit: 0", "ratelimit-: 0", ": 0", "x-ratelimit-resetting: 4",
			"x-ratelimit-abusepenalty-active: False", "x-ratelimit-renewalperiod-requests: 60", "x-ratelimit-tokens-query-cost: 2804",
			"x-ratelimit-status: rejected", "anthropic-ratelimit: 0", "anthropic-version: 0"}},
	})
}

func TestReadNil(t *testing.T) {
	if diff := cmp.Diff(ratelimit.Info{}, ratelimit.Read(nil, 429, now)); diff != "" {
		t.Errorf("Read(nil) (-want +got):\n%s", diff)
	}
}

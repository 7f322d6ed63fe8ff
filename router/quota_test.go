package router_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

func withLimits(l router.Limits) router.Config {
	c := two(p95)
	c.Targets[0].Limits = l
	return c
}

// can tells whether an attempt can be started on a, and starts it.
func (w world) can(req router.Request) (*router.Flight, string) {
	w.t.Helper()
	req.Pin = "a"
	p := w.Plan(req)
	if len(p.Choices) == 0 {
		return nil, p.Refused[0].Why
	}
	f, err := w.Start(p.Choices[0], req)
	var no *router.UnavailableError
	if errors.As(err, &no) {
		return nil, no.Why
	}
	return f, ""
}

func TestConcurrencyLimit(t *testing.T) {
	in(t, withLimits(router.Limits{Concurrent: 2}), func(w world) {
		stale := w.Plan(router.Request{Endpoint: "chat", Model: "m", Pin: "a"}).Choices[0]
		first, _ := w.can(chat)
		w.can(chat)
		if _, why := w.can(chat); why != router.WhyConcurrency {
			t.Errorf("third attempt: %q, want the concurrency limit", why)
		}
		if _, err := w.Start(stale, chat); err == nil {
			t.Error("a stale choice exceeds the limit")
		}
		if got := targets(w.Plan(chat)); len(got) != 1 || got[0] != "b" {
			t.Errorf("choices = %v, want b", got)
		}
		w.Report(router.Report{Flight: first, Outcome: router.Cancelled})
		w.Report(router.Report{Flight: first, Outcome: router.Cancelled})
		if _, why := w.can(chat); why != "" {
			t.Errorf("after one has ended: %q", why)
		}
		if _, why := w.can(chat); why == "" {
			t.Error("a report that came twice freed two places")
		}
	})
}

// 60 a minute: 6 at once, then 54 evenly, so that no minute has more than 60.
func TestRequestsPerMinute(t *testing.T) {
	in(t, withLimits(router.Limits{RequestsPerMinute: 60}), func(w world) {
		count := func() (n int) {
			for {
				if _, why := w.can(chat); why != "" {
					if why != router.WhyRateLimit {
						t.Errorf("refused as %q", why)
					}
					return n
				}
				n++
			}
		}
		if got := count(); got != 6 {
			t.Errorf("%d at once, want 6", got)
		}
		pinned := chat
		pinned.Pin = "a"
		if got := time.Until(w.Plan(pinned).Until); got < 1111*ms || got > 1112*ms {
			t.Errorf("the next in %v, want 1/0.9 s", got)
		}
		sum := 0
		for range 600 { // a minute
			time.Sleep(100 * ms)
			sum += count()
		}
		if sum != 54 && sum != 53 {
			t.Errorf("%d in the minute after, want 54", sum)
		}
	})
}

// 60,000 tokens a minute: 6,000 at once, 900 a second. The prompt has 1000 tokens, the
// answer 100 by its cap.
func TestTokensPerMinute(t *testing.T) {
	in(t, withLimits(router.Limits{TokensPerMinute: 60000}), func(w world) {
		req := chat
		req.MaxTokens = 1
		n := 0
		for ; n < 100; n++ {
			if _, why := w.can(req); why != "" {
				break
			}
		}
		if n != 5 { // 1001 each
			t.Errorf("%d at once, want 5", n)
		}
		time.Sleep(10 * time.Second)
		// One larger than all that can be had at once takes it and leaves a debt.
		large := req
		large.PromptBytes = 4 * 15000
		if _, why := w.can(large); why != "" {
			t.Errorf("a large one: %q, want it to take what there is", why)
		}
		small := req
		small.PromptBytes = 0
		if _, why := w.can(small); why != router.WhyRateLimit {
			t.Errorf("after it: %q, want the rate limit", why)
		}
		time.Sleep(9 * time.Second) // a debt of 9001 takes 10 s
		if _, why := w.can(small); why != router.WhyRateLimit {
			t.Errorf("9s after it: %q, want the rate limit", why)
		}
		time.Sleep(1100 * ms)
		f, why := w.can(small)
		if why != "" {
			t.Errorf("10.1s after it: %q", why)
		}
		// It turns out to be larger than was thought.
		w.Report(router.Report{Flight: f, PromptTokens: 5000, OutputTokens: 100})
		if _, why := w.can(small); why != router.WhyRateLimit {
			t.Errorf("after more tokens than estimated: %q, want the rate limit", why)
		}
	})
}

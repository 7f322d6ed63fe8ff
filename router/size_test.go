package router_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// prompt returns chat with a prompt of so many tokens.
func prompt(tokens int) router.Request {
	req := chat
	req.PromptBytes = 4 * tokens
	return req
}

// record runs an attempt that takes no time to be entered.
func (w world) record(target string, req router.Request, ttft time.Duration) {
	w.t.Helper()
	f := w.start(target, req)
	f.Content(ttft)
	w.Report(router.Report{Flight: f, Elapsed: ttft, PromptTokens: req.PromptBytes / 4})
	time.Sleep(100 * ms)
}

// A long prompt is not bad luck: it must not count against short ones, and short
// ones must not make it look quick.
func TestLongPromptsDoNotPolluteShortOnes(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 400 * ms}}), func(w world) {
		for range 500 {
			w.record("a", prompt(500), 230*ms) // 0.2s + 0.06ms for each token
			w.record("a", prompt(20000), 1400*ms)
			w.record("b", prompt(500), 450*ms)
			w.record("b", prompt(500), 450*ms)
		}
		w.always("a", prompt(500))
		s := w.route("a", "m")
		if !near(s.Fixed, 200*ms) || !near(s.PerToken, 60*time.Microsecond) {
			t.Errorf("fit = %v + %v for each token, want 200ms + 60us", s.Fixed, s.PerToken)
		}
		// Half way between the sizes on a logarithmic scale: sqrt(500*20000) = 3162
		// tokens, which take 0.2 + 0.19 s.
		if s.PromptTokens < 3100 || s.PromptTokens > 3250 || !near(s.TTFT.P50, 390*ms) || !near(s.TTFT.P95, 390*ms) {
			t.Errorf("p50 %v and p95 %v of %d tokens, want 390ms of 3162", s.TTFT.P50, s.TTFT.P95, s.PromptTokens)
		}
		// Of its own limit a long prompt must be judged by long ones.
		if got := w.Plan(router.Request{Endpoint: "chat", Model: "m", PromptBytes: 80000, Streamed: true, Pin: "a"}); got.Choices[0].Abandon < 5*time.Second {
			t.Errorf("abandon a long prompt after %v", got.Choices[0].Abandon)
		}
	})
}

// The same route with the same mix of prompts is not worse than another that has got
// short ones only.
func TestSizeMixDoesNotDecide(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 400 * ms}}), func(w world) {
		for i := range 500 {
			tokens := 300 + 60*i
			w.record("a", prompt(tokens), 200*ms+time.Duration(tokens)*60*time.Microsecond)
			w.record("b", prompt(300), 218*ms)
		}
		time.Sleep(time.Second)
		if got := w.firsts(prompt(300), 200); got["a"] < 60 || got["b"] < 60 {
			t.Errorf("first choices = %v, want about as many of each", got)
		}
	})
}

func TestPromptTokensAreLearnedFromUsage(t *testing.T) {
	in(t, two(p95), func(w world) {
		if s := w.route("a", "m"); s.BytesPerToken != 4 {
			t.Errorf("%v bytes per token before there is usage, want 4", s.BytesPerToken)
		}
		for range 200 {
			w.Report(router.Report{Flight: w.start("a", chat), TTFT: 300 * ms, PromptTokens: 2000}) // of 4000 bytes
		}
		if s := w.route("a", "m"); s.BytesPerToken < 2 || s.BytesPerToken > 2.1 {
			t.Errorf("%v bytes per token, want 2", s.BytesPerToken)
		}
		for range 200 { // an image in each
			w.Report(router.Report{Flight: w.start("a", router.Request{Model: "m", PromptBytes: 1 << 20, Streamed: true}),
				TTFT: 300 * ms, PromptTokens: 800})
		}
		if s := w.route("a", "m"); s.BytesPerToken > 16 {
			t.Errorf("%v bytes per token, want 16 at most", s.BytesPerToken)
		}
	})
}

// Cached tokens take no time to speak of: they are no part of the size.
func TestCachedTokensDoNotCount(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 100 {
			f := w.start("a", prompt(10000))
			w.Report(router.Report{Flight: f, TTFT: 260 * ms, PromptTokens: 10000, CachedTokens: 9000})
			w.record("a", prompt(10000), 800*ms)
		}
		s := w.route("a", "m")
		if !near(s.Fixed, 200*ms) || !near(s.PerToken, 60*time.Microsecond) {
			t.Errorf("fit = %v + %v for each token, want 200ms + 60us", s.Fixed, s.PerToken)
		}
	})
}

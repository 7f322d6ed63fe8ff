package router_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// conversation is a request with so many messages of 1000 tokens each.
func conversation(id uint64, messages int) router.Request {
	req := chat
	req.PromptBytes = 4000 * messages
	for i := 2; i <= messages; i++ {
		req.Prefixes = append(req.Prefixes, router.Prefix{Hash: id<<16 + uint64(i), Bytes: 4000 * i})
	}
	return req
}

// turn is a streamed attempt of which so many tokens are reported as cached.
func (w world) turn(target string, req router.Request, ttft time.Duration, cached int) {
	w.t.Helper()
	f := w.start(target, req)
	time.Sleep(ttft)
	f.Content(ttft)
	w.Report(router.Report{Flight: f, Elapsed: ttft, TTFT: ttft, PromptTokens: req.PromptBytes / 4, CachedTokens: cached, OutputTokens: 10})
}

func TestConversationStays(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 5 * time.Second}}), func(w world) {
		for range 50 {
			w.stream("a", chat, 300*ms, time.Millisecond)
			w.stream("b", chat, 300*ms, time.Millisecond)
		}
		time.Sleep(300 * ms)
		if got := w.firsts(chat, 100); got["a"] < 20 || got["b"] < 20 {
			t.Fatalf("first choices = %v; want both routes, which are as good", got)
		}
		w.turn("b", conversation(1, 5), 300*ms, 0)
		time.Sleep(4 * time.Minute)
		w.always("b", conversation(1, 6))
		time.Sleep(2 * time.Minute) // nothing has used it
		if got := w.firsts(conversation(1, 6), 100); got["a"] < 20 {
			t.Errorf("first choices = %v after the cache has expired, want both routes", got)
		}
		if got := w.firsts(conversation(2, 6), 100); got["a"] < 20 {
			t.Errorf("first choices of another conversation = %v, want both routes", got)
		}
	})
}

// What a prefix is worth is learned: where nothing is reported as cached it binds
// nobody.
func TestNoCacheNoAffinity(t *testing.T) {
	in(t, two(budget.Budget{TTFT: budget.Layers{95: 5 * time.Second}, Hedge: -1}), func(w world) {
		for i := range 20 {
			for _, target := range []string{"a", "b"} {
				cached := 0
				if target == "b" {
					cached = 4000 // of the 5,000 tokens that it had seen
				}
				w.turn(target, conversation(uint64(i), 5), 300*ms, 0)
				w.turn(target, conversation(uint64(i), 6), 300*ms, cached)
			}
		}
		// 0.5 of 2, and 20 times 0 or 0.8: 1/22 and (1+16)/22.
		if a, b := w.status("a").CacheHits, w.status("b").CacheHits; a < 0.045 || a > 0.046 || b < 0.77 || b > 0.78 {
			t.Errorf("cache hits of %v and %v, want 0.045 and 0.773", a, b)
		}
		w.turn("a", conversation(100, 5), 300*ms, 0)
		w.turn("b", conversation(200, 5), 300*ms, 0)
		time.Sleep(300 * ms)
		if got := w.firsts(conversation(100, 6), 100); got["b"] < 20 {
			t.Errorf("first choices = %v; want both routes, since a has no cache", got)
		}
		w.always("b", conversation(200, 6))
		if got := w.Plan(conversation(200, 6)).Reason(); !matches(`^b: .*; has 6\d% of the prompt cached$`, got) {
			t.Errorf("reason %q", got) // 5/6 of it, 77% of the time
		}
	})
}

// A long prompt that is cached is a short one: a's 100 ms for 1000 uncached tokens keep
// the layer, b's as many for all 10,000 do not.
func TestCachedPromptIsShort(t *testing.T) {
	c := two(budget.Budget{TTFT: budget.Layers{95: 600 * ms}})
	in(t, c, func(w world) {
		for i := range 40 {
			id := uint64(i)
			w.turn("a", conversation(id, 9), 900*ms, 0)
			w.turn("a", conversation(id, 10), 100*ms, 9000)
			w.turn("b", conversation(1000+id, 9), 900*ms, 0)
			w.turn("b", conversation(1000+id, 10), 100*ms, 9000)
		}
		for _, target := range []string{"a", "b"} {
			s := w.status(target)
			if !near(s.PerToken, 100*time.Microsecond) || s.Fixed > 20*ms {
				t.Errorf("%s: TTFT is %v and %v a token, want 100µs for each that is not cached", target, s.Fixed, s.PerToken)
			}
		}
		w.turn("a", conversation(5000, 9), 900*ms, 0)
		time.Sleep(300 * ms)
		p := w.Plan(conversation(5000, 10))
		if p.Choices[0].Target != "a" || !matches(`^a: keeps best`, p.Reason()) {
			t.Errorf("%s, want a, which keeps 600ms with what it has cached", p.Reason())
		}
		pinned := conversation(6000, 10)
		if got := w.Plan(pinned).Reason(); !matches(`comes nearest`, got) {
			t.Errorf("%s, want nobody to keep 600ms for 10,000 tokens", got)
		}
	})
}

// Limits of our own count what is cached too, as providers do.
func TestLimitsCountCachedTokens(t *testing.T) {
	c := withLimits(router.Limits{TokensPerMinute: 60000}) // 6,000 at once
	c.Targets = c.Targets[:1]
	in(t, c, func(w world) {
		name := c.Targets[0].Name
		for i := range 10 {
			w.turn(name, conversation(1, 5), 300*ms, 5000*min(i, 1))
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Minute)
		req := conversation(1, 5)
		req.MaxTokens = 1
		choice := w.Plan(req).Choices[0]
		for i := range 2 {
			if _, err := w.Start(choice, req); (err == nil) != (i == 0) {
				t.Errorf("start %d of 5,000 tokens, nearly all cached: %v", i, err)
			}
		}
	})
}

func BenchmarkPlan10Prefixes(b *testing.B) {
	r := benchRouter(b)
	req := router.Request{Endpoint: "chat", Model: "m", PromptBytes: 70000, Streamed: true}
	for i := range 16 {
		req.Prefixes = append(req.Prefixes, router.Prefix{Hash: uint64(i+1) * 0x9e3779b97f4a7c15, Bytes: 4096 * (i + 1)})
	}
	c := r.Plan(req).Choices[0]
	for _, seen := range []int{0, 2, 14} {
		b.Run(fmt.Sprintf("%d_of_16", seen), func(b *testing.B) {
			req := req
			if seen > 0 {
				known := req
				known.Prefixes = req.Prefixes[:seen]
				f, err := r.Start(c, known)
				if err != nil {
					b.Fatal(err)
				}
				f.Content(300 * ms)
				r.Report(router.Report{Flight: f, Elapsed: 300 * ms})
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Plan(req)
			}
		})
	}
}

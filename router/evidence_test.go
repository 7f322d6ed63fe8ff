package router_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

var p95 = budget.Budget{TTFT: budget.Layers{95: 600 * ms}}

// cheap returns a config in which a costs half as much as b. That makes 2 less of
// score, as much as a chance of 0.2 to miss p95 at the weight of 0.5/0.05.
func cheap() router.Config {
	c := two(p95)
	c.Targets[0].Price = router.Price{Input: 1, Output: 1}
	c.Targets[1].Price = router.Price{Input: 2, Output: 2}
	return c
}

// A route that hangs is seen to be slow while nothing has completed or been given
// up.
func TestHangIsSeenBeforeAnythingEnds(t *testing.T) {
	in(t, cheap(), func(w world) {
		for range 200 { // a second each, so that about 43 + 8 samples have a say
			w.stream("a", chat, 300*ms, time.Millisecond)
			w.stream("b", chat, 500*ms, time.Millisecond)
		}
		w.always("a", chat)
		// A chance of 0.2 to miss takes 12 attempts without content among 51 samples.
		for range 15 {
			w.start("a", chat)
			time.Sleep(time.Second)
		}
		w.always("b", chat)
		if s := w.route("a", "m"); s.InFlight != 15 || s.TTFT.P95 < 600*ms || s.TTFT.N < 100 {
			t.Errorf("%d in flight, p95 %v, N %v; want 15, more than 600ms, and what had ended before",
				s.InFlight, s.TTFT.P95, s.TTFT.N)
		}
	})
}

// The same for what is not streamed.
func TestHangOfWholeAnswersIsSeen(t *testing.T) {
	in(t, two(budget.Budget{Total: budget.Layers{95: 5 * time.Second}}), func(w world) {
		req := chat
		req.Streamed = false
		for range 60 {
			w.whole("a", req, time.Second, 200)
			w.whole("b", req, 2*time.Second, 200)
		}
		w.always("a", req)
		for range 8 {
			w.start("a", req)
			time.Sleep(time.Second)
		}
		time.Sleep(5 * time.Second)
		w.always("b", req)
	})
}

// A cold route that hangs at once has no ended attempt to its name, yet must not
// keep the good name of its relatives.
func TestHangOfAColdRoute(t *testing.T) {
	in(t, cheap(), func(w world) {
		for range 100 {
			w.stream("b", chat, 500*ms, time.Millisecond)
		}
		w.always("a", chat)
		for range 5 { // 5 of 5 + 8 make a chance of 0.38, where 0.2 would do
			w.start("a", chat)
		}
		time.Sleep(3 * time.Second)
		w.always("b", chat)
	})
}

// What is given up counts as at least so long: if only what ended counted, a route
// would look the faster the more of it is cut off (survivorship).
func TestCensoredAttemptsCount(t *testing.T) {
	for _, outcome := range []router.Outcome{router.TimedOut, router.Cancelled, router.Lost} {
		t.Run(outcome.String(), func(t *testing.T) {
			in(t, two(p95), func(w world) {
				for range 200 {
					w.stream("a", chat, 300*ms, time.Millisecond)
					w.end("a", chat, outcome, time.Second)
				}
				a := w.route("a", "m")
				// Half of all takes more than a second, so p50 is about there or beyond.
				if !near(a.TTFT.P50, 300*ms) && a.TTFT.P50 < time.Second {
					t.Errorf("p50 = %v", a.TTFT.P50)
				}
				if a.TTFT.P95 < time.Second {
					t.Errorf("p95 = %v, want more than the 1s after which half was cut off", a.TTFT.P95)
				}
				if a.Failures > 0.002 {
					t.Errorf("failures = %v: %v is none of the route's", a.Failures, outcome)
				}
			})
		})
	}
}

// An attempt that is cut off early says nothing about what it would have done later.
func TestEarlyLossesDoNotMakeARouteSlow(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 300 {
			w.stream("a", chat, 300*ms, time.Millisecond)
			w.end("a", chat, router.Lost, 100*ms)
		}
		if a := w.route("a", "m"); !near(a.TTFT.P50, 300*ms) {
			t.Errorf("p50 = %v, want 300ms", a.TTFT.P50)
		}
	})
}

// A route that fails fast attracts nothing, by whatever its routes are ranked.
func TestFastFailureAttractsNothing(t *testing.T) {
	budgets := map[string]budget.Budget{
		"TTFT":      p95,
		"TPOT":      {TPOT: budget.Layers{95: 50 * ms}},
		"total":     {Total: budget.Layers{95: 10 * time.Second}},
		"no layers": {},
	}
	for name, b := range budgets {
		for _, streamed := range []bool{true, false} {
			in(t, two(b), func(w world) {
				req := chat
				req.Streamed = streamed
				for range 50 {
					w.end("a", req, router.Failed, 5*ms)
					w.stream("b", chat, 500*ms, 10*ms)
				}
				w.always("b", req)
				if a := w.route("a", "m"); a.Failures < 0.5 || a.TTFT.N != 0 {
					t.Errorf("%s, streamed %v: failures = %.2f, N = %v; want more than half, and no latency",
						name, streamed, a.Failures, a.TTFT.N)
				}
			})
		}
	}
}

// A stream that is cut after its first content is a failure, however quick that was.
func TestCutStreamsAreFailures(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 50 {
			f := w.start("a", chat)
			time.Sleep(50 * ms)
			f.Content(50 * ms)
			w.Report(router.Report{Flight: f, Outcome: router.Failed, Elapsed: 60 * ms})
			w.stream("b", chat, 500*ms, 10*ms)
		}
		w.always("b", chat)
	})
}

// The caller's own mistakes, cancels and lost races are no failures of the route.
func TestWhatIsNoFailure(t *testing.T) {
	in(t, two(p95), func(w world) {
		before := w.route("a", "m")
		for range 100 {
			f := w.start("a", chat)
			time.Sleep(10 * ms)
			w.Report(router.Report{Flight: f, Outcome: router.Failed, Elapsed: 10 * ms, Cause: router.CauseCaller})
		}
		after := w.route("a", "m")
		if after.Failures != before.Failures || after.TTFT != before.TTFT {
			t.Errorf("failures %v, TTFT %v; want %v and %v as before", after.Failures, after.TTFT, before.Failures, before.TTFT)
		}
		if want := (router.Attempts{Failed: 100}); after.Attempts != want {
			t.Errorf("attempts = %+v, want %+v", after.Attempts, want)
		}
		for _, outcome := range []router.Outcome{router.TimedOut, router.Cancelled, router.Lost} {
			for range 50 {
				w.end("a", chat, outcome, 10*ms)
			}
		}
		if got := w.route("a", "m").Failures; got != before.Failures {
			t.Errorf("failures = %v, want %v as before", got, before.Failures)
		}
	})
}

// LiteLLM's list kept the first samples and replaced only the last; here the newest
// count most.
func TestPercentilesFollow(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 10 {
			w.stream("a", chat, 4*time.Second, time.Millisecond)
		}
		for range 100 {
			w.stream("a", chat, 300*ms, time.Millisecond)
		}
		if a := w.route("a", "m"); !near(a.TTFT.P50, 300*ms) {
			t.Errorf("p50 = %v after 10 slow and 100 fast, want 300ms", a.TTFT.P50)
		}
		for range 40 {
			w.stream("a", chat, 4*time.Second, time.Millisecond)
		}
		if a := w.route("a", "m"); !near(a.TTFT.P50, 4*time.Second) {
			t.Errorf("p50 = %v after 40 more slow ones, want 4s", a.TTFT.P50)
		}
	})
}

// LiteLLM divided TTFT by the number of tokens, so that long answers looked quick.
func TestAnswerLengthDoesNotChangeTTFT(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 200 {
			for target, tokens := range map[string]int{"a": 10, "b": 1000} {
				f := w.start(target, chat)
				time.Sleep(300 * ms)
				f.Content(300 * ms)
				w.Report(router.Report{Flight: f, Elapsed: 400 * ms, PromptTokens: 1000, OutputTokens: tokens})
			}
		}
		time.Sleep(time.Second)
		got := w.firsts(chat, 200)
		if got["a"] < 60 || got["b"] < 60 {
			t.Errorf("first choices = %v, want about as many of each", got)
		}
	})
}

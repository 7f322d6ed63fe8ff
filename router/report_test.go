package router_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

func TestReportCountsOnce(t *testing.T) {
	in(t, two(p95), func(w world) {
		f := w.start("a", chat)
		time.Sleep(100 * ms)
		f.Content(100 * ms)
		f.Content(200 * ms)
		w.Report(router.Report{Flight: f, Elapsed: time.Second, TPOT: 10 * ms})
		w.Report(router.Report{Flight: f, Outcome: router.Failed, Elapsed: time.Second})
		f.Content(300 * ms)
		s := w.route("a", "m")
		if want := (router.Attempts{Completed: 1}); s.Attempts != want {
			t.Errorf("attempts = %+v, want %+v", s.Attempts, want)
		}
		if s.InFlight != 0 || s.TTFT.N < 0.9 || s.TTFT.N > 1 || s.TPOT.N < 0.9 || s.TPOT.N > 1 {
			t.Errorf("in flight %d, N of TTFT %v, of TPOT %v; want 0, 1, 1", s.InFlight, s.TTFT.N, s.TPOT.N)
		}
		w.Report(router.Report{}) // no flight: nothing
		var none *router.Flight
		none.Content(time.Second)
		if f, err := w.Start(router.Choice{Target: "a"}, chat); f != nil || err == nil {
			t.Error("a choice of no plan started a flight")
		}
	})
}

// Content may come with the report alone.
func TestReportBringsContent(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 300 {
			f := w.start("a", chat)
			time.Sleep(250 * ms)
			w.Report(router.Report{Flight: f, TTFT: 200 * ms, PromptTokens: 1000})
		}
		if s := w.route("a", "m"); !near(s.TTFT.P50, 200*ms) {
			t.Errorf("p50 = %v, want 200ms", s.TTFT.P50)
		}
	})
}

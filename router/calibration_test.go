package router_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// around fails unless a coverage is near the given shares, within so much.
func around(t *testing.T, what string, got router.Coverage, p50, p95, p99, within float64) {
	t.Helper()
	if math.Abs(got.P50-p50) > within || math.Abs(got.P95-p95) > within || math.Abs(got.P99-p99) > within {
		t.Errorf("%s: %.3f, %.3f and %.3f of %.0f came within their p50, p95 and p99; want %v, %v and %v",
			what, got.P50, got.P95, got.P99, got.N, p50, p95, p99)
	}
}

// Predictions of prompts of all sizes are right once there is evidence, and those who
// look see when they are not.
func TestCalibration(t *testing.T) {
	in(t, two(p95), func(w world) {
		rnd := rand.New(rand.NewPCG(1, 2))
		run := func(calls int, slower float64) {
			for range calls {
				tokens := math.Exp(rnd.Float64()*5 + 5) // 150 to 22,000
				fixed := slower * math.Exp(0.35*rnd.NormFloat64())
				w.record("a", prompt(int(tokens)), time.Duration(fixed*(200+0.05*tokens)*float64(time.Millisecond)))
				time.Sleep(400 * ms)
			}
		}
		run(1500, 1)
		got := w.status("a").Calibration
		around(t, "steady", got.TTFT, 0.5, 0.95, 0.99, 0.02)
		// 2 a second for 12.5 min: 2^(-t/15min) over them is 2*15min/ln2 * (1 - 2^(-12.5/15)).
		if want := 2 * 900 / math.Ln2 * (1 - math.Exp2(-12.5/15)); math.Abs(got.TTFT.N-want) > 10 {
			t.Errorf("N = %v, want %v", got.TTFT.N, want)
		}
		if got.Total != (router.Coverage{}) {
			t.Errorf("total %+v of no answer that was not streamed", got.Total)
		}
		before := got.TTFT
		run(60, 2) // twice as slow, for half a minute
		if got := w.status("a").Calibration.TTFT; got.P50 > before.P50-0.005 || got.P95 > before.P95-0.005 {
			t.Errorf("%.3f and %.3f came within p50 and p95 after a slow minute, want less than %.3f and %.3f", got.P50, got.P95, before.P50, before.P95)
		}
	})
}

func TestCalibrationOfWholeAnswers(t *testing.T) {
	in(t, two(p95), func(w world) {
		rnd := rand.New(rand.NewPCG(3, 4))
		for range 1500 {
			tokens := 20 + rnd.IntN(500)
			took := math.Exp(0.3*rnd.NormFloat64()) * (0.4 + 0.02*float64(tokens))
			w.whole("a", chat, time.Duration(took*float64(time.Second)), tokens)
		}
		got := w.status("a").Calibration
		around(t, "whole answers", got.Total, 0.5, 0.95, 0.99, 0.05)
		if got.TTFT != (router.Coverage{}) {
			t.Errorf("TTFT %+v of no streamed attempt", got.TTFT)
		}
	})
}

// What was cut off counts for the percentiles that it had passed; what says nothing
// about the route does not count.
func TestCalibrationOfWhatWasCutOff(t *testing.T) {
	for _, test := range []struct {
		name    string
		outcome router.Outcome
		cause   router.Cause
		after   time.Duration
		counts  float64
	}{
		{"lost early", router.Lost, 0, 10 * ms, 0},
		{"lost late", router.Lost, 0, 10 * time.Second, 1},
		{"cancelled early", router.Cancelled, 0, 10 * ms, 0},
		{"cancelled late", router.Cancelled, 0, 10 * time.Second, 1},
		{"timed out", router.TimedOut, 0, 10 * time.Second, 1},
		{"failed early", router.Failed, router.CauseRoute, 10 * ms, 0},
		{"failed late", router.Failed, router.CauseRoute, 10 * time.Second, 1},
		{"a fault of the caller's", router.Failed, router.CauseCaller, 10 * time.Second, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			in(t, two(p95), func(w world) {
				for range 200 {
					w.record("a", chat, 300*ms)
				}
				before := w.status("a").Calibration.TTFT
				w.Report(router.Report{Flight: w.start("a", chat), Outcome: test.outcome, Cause: test.cause, Elapsed: test.after})
				got := w.status("a").Calibration.TTFT
				if math.Abs(got.N-before.N-test.counts) > 1e-9 {
					t.Errorf("counts %v, want %v", got.N-before.N, test.counts)
				}
				if (got.P99 < before.P99) != (test.counts > 0) {
					t.Errorf("p99 from %v to %v", before.P99, got.P99)
				}
			})
		})
	}
}

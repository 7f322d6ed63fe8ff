package router_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// The rows of the table in the package comment: what opens a route and what does
// not, after 20 in a row.
func TestWhatIsAFailureOfTheRoute(t *testing.T) {
	failed := func(c router.Cause) router.Report { return router.Report{Outcome: router.Failed, Cause: c} }
	tests := []struct {
		name    string
		content bool
		rep     router.Report
		want    string
	}{
		{"5xx, 408, connection error, error or cut stream", false, failed(router.CauseRoute), router.StateOpen},
		{"cut after content", true, failed(router.CauseRoute), router.StateOpen},
		{"given up as hopeless", false, router.Report{Outcome: router.TimedOut, Elapsed: 10 * time.Minute}, router.StateOpen},
		{"the deadline passed before that", false, router.Report{Outcome: router.TimedOut, Elapsed: 100 * ms}, router.StateOK},
		{"the caller's own mistake", false, failed(router.CauseCaller), router.StateOK},
		{"429", false, failed(router.CauseRateLimit), router.StateCooling},
		{"401, 402, 403, insufficient_quota", false, failed(router.CauseKey), router.StateKeyRefused},
		{"the caller went away", false, router.Report{Outcome: router.Cancelled}, router.StateOK},
		{"the caller went away after content", true, router.Report{Outcome: router.Cancelled}, router.StateOK},
		{"lost the race", false, router.Report{Outcome: router.Lost}, router.StateOK},
		{"completed, finish_reason=length among them", true, router.Report{}, router.StateOK},
		{"late, but the limit was never kept", true, router.Report{Outcome: router.Completed, TTFT: 9 * time.Second}, router.StateOK},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in(t, two(p95), func(w world) {
				var flights []*router.Flight
				for range 20 {
					flights = append(flights, w.start("a", chat))
				}
				for _, f := range flights {
					if test.content {
						f.Content(100 * ms)
					}
					rep := test.rep
					rep.Flight = f
					w.Report(rep)
				}
				w.state("a", test.want)
			})
		})
	}
}

// A model that the target did not have yet is there for good once it answers: what was
// seen before is no reason to expect another 404. Not so on the route that models share.
func TestAbsentUntilItAnswers(t *testing.T) {
	shared := two(p95)
	for i := range shared.Targets {
		shared.Targets[i].Models = nil // any
	}
	unknown := chat
	unknown.Model = strings.Repeat("x", 1000)
	// failures is what is expected of a after so many 404 and an answer, which was asked for
	// before them or after.
	failures := func(c router.Config, req router.Request, model string, absent int, before bool) (share float64) {
		in(t, c, func(w world) {
			early := w.start("a", req)
			for range absent {
				w.Report(router.Report{Flight: w.start("a", req), Outcome: router.Failed, Cause: router.CauseAbsent})
			}
			time.Sleep(300 * ms)
			late := w.start("a", req)
			if before {
				early, late = late, early
			}
			w.Report(router.Report{Flight: early, Outcome: router.Cancelled})
			late.Content(100 * ms)
			w.Report(router.Report{Flight: late, Outcome: router.Completed})
			time.Sleep(300 * ms)
			share = w.route("a", model).Failures
		})
		return share
	}
	none := failures(two(p95), chat, "m", 0, false)
	if got := failures(two(p95), chat, "m", 5, false); got != none {
		t.Errorf("%.4f fail after five 404 and an answer, want %.4f as without the 404", got, none)
	}
	if got := failures(two(p95), chat, "m", 5, true); got < 10*none {
		t.Errorf("%.4f fail after an answer that was asked for before the 404, want those to count", got)
	}
	if got := failures(shared, unknown, "other", 5, false); got < 10*none {
		t.Errorf("%.4f fail on the shared route, where another model may have answered; want the 404 to count", got)
	}
}

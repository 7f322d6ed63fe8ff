package router_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
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

func TestBreakerOpensOn(t *testing.T) {
	well := func(w world) { w.quick("a", chat, 100*ms) }
	tests := []struct {
		name string
		do   func(w world)
		want string
	}{
		{"4 in a row: not yet", func(w world) { w.fails("a", 4) }, router.StateOK},
		{"5 in a row", func(w world) { w.fails("a", 5) }, router.StateOpen},
		{"4 and 4 with an answer between: not", func(w world) { w.fails("a", 4); well(w); w.fails("a", 4) }, router.StateOK},
		{"5 in a row, hours apart", func(w world) {
			for range 5 {
				w.fails("a", 1)
				time.Sleep(time.Hour)
			}
			w.Restore("b") // nothing
		}, router.StateHalfOpen},
		{"half of 20", func(w world) {
			for range 10 {
				well(w)
				w.fails("a", 1)
			}
		}, router.StateOpen},
		{"half of 19: too few", func(w world) {
			for range 9 {
				w.fails("a", 1)
				well(w)
			}
			w.fails("a", 1)
		}, router.StateOK},
		{"less than half of many", func(w world) {
			for range 30 {
				well(w)
				well(w)
				w.fails("a", 1)
			}
		}, router.StateOK},
		{"what is older than 2 minutes does not count", func(w world) {
			for range 9 {
				well(w)
				w.fails("a", 1)
			}
			time.Sleep(130 * time.Second)
			well(w)
			w.fails("a", 1)
		}, router.StateOK},
		{"failures that take 5 minutes each count too", func(w world) {
			var flights []*router.Flight
			for range 5 {
				flights = append(flights, w.start("a", chat))
			}
			time.Sleep(5 * time.Minute)
			for _, f := range flights {
				w.Report(router.Report{Flight: f, Outcome: router.Failed})
			}
		}, router.StateOpen},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in(t, two(p95), func(w world) {
				test.do(w)
				w.state("a", test.want)
				opened := test.want == router.StateOpen || test.want == router.StateHalfOpen
				if n := w.status("a").Openings; (n == 1) != opened || n > 1 {
					t.Errorf("%d openings are counted, want one if it has opened", n)
				}
			})
		})
	}
}

func TestAnOpenRouteIsRefused(t *testing.T) {
	in(t, two(p95), func(w world) {
		stale := w.Plan(chat).Choices
		w.fails("a", 5)
		p := w.Plan(chat)
		if got := targets(p); !slices.Equal(got, []string{"b"}) {
			t.Errorf("choices = %v, want b", got)
		}
		if len(p.Refused) != 1 || p.Refused[0].Target != "a" || p.Refused[0].Why != router.WhyOpen || !p.Until.Equal(p.Refused[0].Until) {
			t.Errorf("refused = %+v, until %v; want a, as open", p.Refused, p.Until)
		}
		if s := w.status("a"); !s.Until.Equal(p.Until) || s.Why == "" {
			t.Errorf("status until %v (%q), want %v and why", s.Until, s.Why, p.Until)
		}
		i := slices.IndexFunc(stale, func(c router.Choice) bool { return c.Target == "a" })
		if _, err := w.Start(stale[i], chat); err == nil {
			t.Error("an attempt started along an open route")
		}
	})
}

// opening returns for how long a is open, in s, and waits until it is over.
func (w world) opening() float64 {
	d := time.Until(w.status("a").Until)
	time.Sleep(d + ms)
	return d.Seconds()
}

func TestOpeningsDouble(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.fails("a", 5)
		for i, want := range []float64{15, 30, 60, 120, 240, 300, 300} {
			if got := w.opening(); got < want || got >= 1.1*want {
				t.Errorf("opening %d takes %.1fs, want %v to a tenth more", i, got, want)
			}
			w.state("a", router.StateHalfOpen)
			w.fails("a", 1) // the probe
			w.state("a", router.StateOpen)
		}
		w.opening()
		w.quick("a", chat, 100*ms)
		w.fails("a", 5)
		if got := w.opening(); got < 300 {
			t.Errorf("soon after it was closed an opening takes %.1fs, want the longest", got)
		}
		w.quick("a", chat, 100*ms)
		time.Sleep(5 * time.Minute)
		w.fails("a", 5)
		if got := w.opening(); got >= 16.5 {
			t.Errorf("after five minutes of being closed an opening takes %.1fs, want 15", got)
		}
	})
}

func TestProbes(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 10 {
			w.quick("a", chat, 100*ms)
		}
		w.fails("a", 5)
		w.opening()
		long := chat
		long.PromptBytes = 6100
		if got := targets(w.Plan(long)); !slices.Equal(got, []string{"b"}) {
			t.Errorf("choices of a long prompt = %v, want b: a probe is small", got)
		}
		p := w.Plan(chat)
		if got := targets(p); !slices.Equal(got, []string{"a", "b"}) || !p.Choices[0].Probe() || p.Choices[1].Probe() {
			t.Fatalf("choices = %+v, want a as a probe, then b", p.Choices)
		}
		again := w.Plan(chat)
		probe, err := w.Start(p.Choices[0], chat)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Start(again.Choices[0], chat); err == nil {
			t.Error("two probes at once")
		}
		if p := w.Plan(chat); len(p.Choices) != 1 || p.Refused[0].Why != router.WhyProbing {
			t.Errorf("choices %v, refused %v; want b only while a is probed", p.Choices, p.Refused)
		}
		// It is cancelled, which says nothing: the next may try.
		w.Report(router.Report{Flight: probe, Outcome: router.Cancelled, Elapsed: ms})
		w.state("a", router.StateHalfOpen)
		probe = w.start("a", chat)
		w.state("a", router.StateHalfOpen)
		probe.Content(100 * ms)
		w.state("a", router.StateOK)
		w.Report(router.Report{Flight: probe, Elapsed: time.Second})
		w.state("a", router.StateOK)
	})
}

// A route that only long prompts reach is probed by one in the end.
func TestAnyCallMayProbeAfterAWhile(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.fails("a", 5)
		w.opening()
		long := chat
		long.PromptBytes = 1 << 20
		time.Sleep(14 * time.Second)
		if p := w.Plan(long); p.Choices[0].Probe() {
			t.Error("a long prompt is a probe at once")
		}
		time.Sleep(time.Second)
		if p := w.Plan(long); !p.Choices[0].Probe() {
			t.Error("a long prompt is no probe after 15s")
		}
	})
}

// A probe of which nobody ever tells the end does not block the route for ever.
func TestALostProbe(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.fails("a", 5)
		w.opening()
		abandon := w.Plan(chat).Choices[0].Abandon
		lost := w.start("a", chat)
		time.Sleep(2*abandon - ms)
		if p := w.Plan(chat); len(p.Choices) != 1 {
			t.Errorf("choices %v, want b alone for twice the %v after which it is given up", p.Choices, abandon)
		}
		time.Sleep(ms)
		w.quick("a", chat, 100*ms)
		w.state("a", router.StateOK)
		w.Report(router.Report{Flight: lost, Outcome: router.Failed}) // old news
		w.state("a", router.StateOK)
	})
}

// What started before an opening has no say in it.
func TestEarlierAttemptsAreNoProbes(t *testing.T) {
	in(t, two(p95), func(w world) {
		early := []*router.Flight{w.start("a", chat), w.start("a", chat), w.start("a", chat)}
		w.fails("a", 5)
		early[0].Content(time.Second)
		w.state("a", router.StateOpen)
		w.opening()
		w.Report(router.Report{Flight: early[1], Outcome: router.Failed})
		w.state("a", router.StateHalfOpen)
		w.quick("a", chat, 100*ms)
		for range 4 {
			w.fails("a", 1)
		}
		w.Report(router.Report{Flight: early[2], Outcome: router.Failed})
		w.state("a", router.StateOK)
	})
}

// After an opening a route's share grows from a tenth to all in 30 s.
func TestRamp(t *testing.T) {
	in(t, cheap(), func(w world) {
		for range 20 {
			w.quick("a", chat, 100*ms)
			w.quick("b", chat, 100*ms)
		}
		w.always("a", chat)
		w.fails("a", 5)
		for range 200 { // so that its failures are no reason to avoid it
			time.Sleep(20 * time.Second)
			if w.status("a").State == router.StateHalfOpen {
				break
			}
		}
		time.Sleep(30 * time.Minute)
		w.quick("a", chat, 100*ms)
		for _, c := range []struct {
			after    time.Duration
			low, top int // of 1000: 4.6 deviations around the share
		}{{0, 56, 144}, {15 * time.Second, 477, 623}, {15 * time.Second, 1000, 1000}} {
			time.Sleep(c.after)
			if got := w.firsts(chat, 1000)["a"]; got < c.low || got > c.top {
				t.Errorf("a is first in %d of 1000 plans, want %d to %d", got, c.low, c.top)
			}
		}
	})
}

func TestTheLastRouteIsNeverOpened(t *testing.T) {
	three := two(p95)
	three.Targets = append(three.Targets, router.Target{Name: "c", Models: []string{"m"}})
	only := two(p95)
	only.Budgets["eu"] = budget.Budget{Targets: []string{"a"}}
	tests := []struct {
		name string
		c    router.Config
		do   func(w world)
		want []string // that are taken in the end
	}{
		{"alone", router.Config{Targets: three.Targets[:1]}, func(w world) { w.fails("a", 50) }, []string{"a"}},
		{"both fail", two(p95), func(w world) { w.fails("b", 5); w.fails("a", 50) }, []string{"a"}},
		{"three fail", three, func(w world) { w.fails("c", 5); w.fails("b", 5); w.fails("a", 50) }, []string{"a"}},
		{"alone for one endpoint", only, func(w world) { w.fails("a", 50) }, []string{"a", "b"}},
		{"the other is cooling down", two(p95), func(w world) {
			w.Report(router.Report{Flight: w.start("b", chat), Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: time.Hour})
			w.fails("a", 50)
		}, []string{"a"}},
		{"the other's key is refused", two(p95), func(w world) {
			w.Report(router.Report{Flight: w.start("b", chat), Outcome: router.Failed, Cause: router.CauseKey})
			w.fails("a", 50)
		}, []string{"a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in(t, test.c, func(w world) {
				test.do(w)
				got := targets(w.Plan(chat))
				slices.Sort(got)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("choices (-want +got):\n%s", diff)
				}
				w.state("a", router.StateDegraded) // and that is not hidden
			})
		})
	}
}

// Once nothing else is left that comes back soon, an open route is better than none.
func TestLastResort(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.fails("a", 5)
		pinned := chat
		pinned.Pin = "a"
		if c := w.Plan(pinned).Choices; len(c) != 1 || !c[0].LastResort() {
			t.Errorf("choices of a pinned call = %+v, want a as the last resort", c)
		}
		w.Report(router.Report{Flight: w.start("b", chat), Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: 2 * time.Second})
		if p := w.Plan(chat); len(p.Choices) != 0 || time.Until(p.Until) != 2*time.Second || len(p.Refused) != 2 {
			t.Errorf("choices %v, until %v, refused %v; want to wait 2s for b", p.Choices, p.Until, p.Refused)
		}
		time.Sleep(2 * time.Second)
		w.Report(router.Report{Flight: w.start("b", chat), Outcome: router.Failed, Cause: router.CauseKey})
		p := w.Plan(chat)
		if len(p.Choices) != 1 || !p.Choices[0].LastResort() || len(p.Refused) != 1 {
			t.Errorf("choices %+v, refused %v; want a as the last resort", p.Choices, p.Refused)
		}
		f, err := w.Start(p.Choices[0], chat)
		if err != nil {
			t.Fatal(err)
		}
		w.Report(router.Report{Flight: f, TTFT: 100 * ms})
		w.state("a", router.StateOpen) // no probe: its time has not come
	})
}

package router_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

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

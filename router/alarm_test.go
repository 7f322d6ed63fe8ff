package router_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// times enters n attempts with the given TTFT, a second apart.
func (w world) times(target string, n int, ttft time.Duration) {
	w.t.Helper()
	for range n {
		w.quick(target, chat, ttft)
		time.Sleep(time.Second)
	}
}

// p95: a miss adds ln(0.30/0.05) = 1.79 and a call in time ln(0.70/0.95) = -0.305, so
// that 3 misses in a row make 5, and 17 kept make -5. p99: ln(0.10/0.01) = 2.30 and
// ln(0.90/0.99) = -0.0953, so that 3 misses make 6, and 63 kept -6.
func TestAlarm(t *testing.T) {
	p99 := budget.Budget{TTFT: budget.Layers{99: 600 * ms}}
	const kept, missed = 300 * ms, time.Second
	tests := []struct {
		name string
		b    budget.Budget
		do   func(w world)
		want string
	}{
		{"2 misses", p95, func(w world) { w.times("a", 17, kept); w.times("a", 2, missed) }, router.StateOK},
		{"3 misses", p95, func(w world) { w.times("a", 17, kept); w.times("a", 3, missed) }, router.StateDegraded},
		{"3 misses, one kept before the last", p95, // 5.375 - 0.305 = 5.07
			func(w world) {
				w.times("a", 17, kept)
				w.times("a", 2, missed)
				w.times("a", 1, kept)
				w.times("a", 1, missed)
			}, router.StateDegraded},
		{"3 misses, two kept before the last", p95, // 4.76
			func(w world) {
				w.times("a", 17, kept)
				w.times("a", 2, missed)
				w.times("a", 2, kept)
				w.times("a", 1, missed)
			}, router.StateOK},
		{"after 16 kept it is not armed", p95, func(w world) { w.times("a", 16, kept); w.times("a", 30, missed) }, router.StateOK},
		{"a limit never kept", p95, func(w world) { w.times("a", 100, missed) }, router.StateOK},
		{"p99, 3 misses", p99, func(w world) { w.times("a", 63, kept); w.times("a", 3, missed) }, router.StateDegraded},
		{"p99, 2 misses", p99, func(w world) { w.times("a", 63, kept); w.times("a", 2, missed) }, router.StateOK},
		{"p99 after 62 kept", p99, func(w world) { w.times("a", 62, kept); w.times("a", 30, missed) }, router.StateOK},
		{"none on a p50", budget.Budget{TTFT: budget.Layers{50: 600 * ms}},
			func(w world) { w.times("a", 100, kept); w.times("a", 30, missed) }, router.StateOK},
		{"it ends after 17 kept", p95, // the third miss makes up for those before
			func(w world) { w.times("a", 17, kept); w.times("a", 3, missed); w.times("a", 17, kept) }, router.StateOK},
		{"it does not end after 16", p95,
			func(w world) { w.times("a", 17, kept); w.times("a", 3, missed); w.times("a", 16, kept) }, router.StateDegraded},
		{"it is forgotten after 5 minutes of silence", p95,
			func(w world) { w.times("a", 17, kept); w.times("a", 3, missed); time.Sleep(5 * time.Minute) }, router.StateOK},
		{"it persists for less than 10s", p95, // 9 misses: at 2, 5 and 8 s
			func(w world) { w.times("a", 17, kept); w.times("a", 9, missed) }, router.StateDegraded},
		{"it persists for 10s", p95, // the fifth ring comes 12 s after the first
			func(w world) { w.times("a", 17, kept); w.times("a", 15, missed) }, router.StateOpen},
		{"a long prompt is no illness", p95, func(w world) {
			w.times("a", 40, kept)
			for range 30 { // about 0.24 s and 60 µs a token
				w.quick("a", prompt(30000), 2*time.Second)
				time.Sleep(time.Second)
			}
		}, router.StateOK},
		{"a hang is seen while it lasts", p95, func(w world) {
			w.times("a", 17, kept)
			for range 3 {
				w.start("a", chat)
			}
			time.Sleep(700 * ms)
		}, router.StateDegraded},
		{"losers past the limit are misses", p95, func(w world) {
			w.times("a", 17, kept)
			for range 3 {
				w.end("a", chat, router.Lost, 700*ms)
			}
		}, router.StateDegraded},
		{"losers before it say nothing", p95, func(w world) {
			w.times("a", 17, kept)
			for range 30 {
				w.end("a", chat, router.Lost, 500*ms)
			}
		}, router.StateOK},
		{"TPOT", budget.Budget{TPOT: budget.Layers{95: 20 * ms}}, func(w world) {
			for i := range 20 {
				w.stream("a", chat, kept, time.Duration(10+i/17*20)*ms)
			}
		}, router.StateDegraded},
		{"total", budget.Budget{Total: budget.Layers{95: 2 * time.Second}}, func(w world) {
			for i := range 20 {
				w.whole("a", chat, time.Duration(1+i/17*2)*time.Second, 100)
			}
		}, router.StateDegraded},
		{"total of longer answers", budget.Budget{Total: budget.Layers{95: 2 * time.Second}}, func(w world) {
			for i := range 40 {
				w.whole("a", chat, time.Duration(1+i/20*3)*time.Second, 50+i/20*400)
			}
		}, router.StateOK},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in(t, two(test.b), func(w world) {
				test.do(w)
				w.Plan(chat)
				w.state("a", test.want)
			})
		})
	}
}

// many returns a config with so many equal targets, t0 and on.
func many(n int) router.Config {
	c := router.Config{Budgets: map[string]budget.Budget{"chat": p95, "batch": {}}}
	for i := range n {
		c.Targets = append(c.Targets, router.Target{Name: fmt.Sprint("t", i), Models: []string{"m"}})
	}
	return c
}

// slow makes the alarm of a route persist.
func (w world) slow(target string) {
	w.t.Helper()
	w.times(target, 20, 300*ms)
	w.times(target, 15, time.Second)
}

// A route that is only slow is avoided, but still there when all others fail, and
// for endpoints that promise no tail.
func TestASlowRouteIsTheLast(t *testing.T) {
	in(t, many(3), func(w world) {
		w.slow("t0")
		w.state("t0", router.StateOpen)
		p := w.Plan(chat)
		if got := targets(p); len(got) != 3 || got[2] != "t0" || !p.Choices[2].LastResort() || len(p.Refused) != 0 {
			t.Errorf("choices = %+v, want t0 at the end as the last resort", p.Choices)
		}
		batch := chat
		batch.Endpoint = "batch"
		w.times("t1", 40, 10*time.Second)
		w.times("t2", 40, 10*time.Second)
		w.always("t0", batch)
		f, err := w.Start(p.Choices[2], chat)
		if err != nil {
			t.Fatal(err)
		}
		w.Report(router.Report{Flight: f, TTFT: ms})
		if s := w.status("t0").State; s == router.StateOK {
			t.Error("an attempt that was no probe closed the breaker")
		}
	})
}

func TestASlowProbeOpensAgain(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.times("b", 20, 300*ms)
		w.slow("a")
		for range 5 {
			w.state("a", router.StateOpen)
			time.Sleep(time.Until(w.status("a").Until) + ms)
			w.quick("a", chat, time.Second)
		}
		w.state("a", router.StateOpen)
		// At the longest opening it is not ill any more but slow, which scores tell.
		time.Sleep(time.Until(w.status("a").Until) + ms)
		w.quick("a", chat, time.Second)
		w.state("a", router.StateOK)
		w.times("a", 30, time.Second)
		w.state("a", router.StateOK)
	})
	in(t, two(p95), func(w world) {
		w.slow("a")
		time.Sleep(20 * time.Second)
		w.quick("a", chat, 300*ms)
		w.state("a", router.StateOK)
	})
	in(t, two(p95), func(w world) { // one that hangs is slow as well
		w.slow("a")
		time.Sleep(20 * time.Second)
		w.end("a", chat, router.Lost, time.Second)
		w.state("a", router.StateOpen)
	})
}

// An error's opening ends with a slow answer: that is one.
func TestASlowProbeOfAFailedRoute(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.times("a", 20, 300*ms)
		w.fails("a", 5)
		time.Sleep(20 * time.Second)
		w.quick("a", chat, time.Second)
		w.state("a", router.StateOK)
	})
}

func TestNoMoreThanHalfAreOpenedForLatency(t *testing.T) {
	in(t, many(5), func(w world) {
		for _, target := range []string{"t0", "t1"} {
			w.slow(target)
			w.state(target, router.StateOpen)
		}
		time.Sleep(6 * time.Minute) // their alarms are forgotten, but nobody has probed them
		w.slow("t2")
		w.state("t2", router.StateDegraded)
	})
}

// When most have an alarm it is the client or the network, or the promise.
func TestNoneIsOpenedWhenMostAreSlow(t *testing.T) {
	in(t, many(3), func(w world) {
		for _, ttft := range []time.Duration{300 * ms, time.Second} {
			for range 40 {
				for _, target := range []string{"t0", "t1", "t2"} {
					w.quick(target, chat, ttft)
				}
				time.Sleep(time.Second)
			}
		}
		for _, target := range []string{"t0", "t1", "t2"} {
			w.state(target, router.StateDegraded)
		}
	})
}

func TestHealthEvents(t *testing.T) {
	var got []string
	c := two(p95)
	var w world
	c.OnHealth = func(e router.Event) {
		w.Snapshot() // no lock is held
		w.Plan(chat)
		until := 0
		if !e.Until.IsZero() {
			until = int(time.Until(e.Until).Seconds())
		}
		got = append(got, fmt.Sprintf("%s/%s %d %s %d", e.Target, e.Model, e.Key, e.State, until))
		if e.Why == "" || !e.At.Equal(time.Now()) {
			t.Errorf("event %+v: no reason, or not now", e)
		}
	}
	in(t, c, func(inner world) {
		w = inner
		w.slow("a")
		w.Restore("a")
		w.fails("b", 5)
		time.Sleep(20 * time.Second)
		w.quick("b", chat, 100*ms)
		for _, cause := range []router.Cause{router.CauseRateLimit, router.CauseKey} {
			flights := []*router.Flight{w.start("a", chat), w.start("a", chat)}
			for _, f := range flights {
				w.Report(router.Report{Flight: f, Outcome: router.Failed, Cause: cause, RetryAfter: 7 * time.Second})
			}
			time.Sleep(10 * time.Second)
		}
		w.Restore("a")
	})
	want := []string{
		"a/m -1 degraded 0", "a/m -1 open 15", "a/m -1 ok 0",
		"b/m -1 open 15", "b/m -1 ok 0",
		"a/m 0 cooling down 7", "a/ 0 key refused 15", "a/ 0 ok 0",
	}
	for i := range got { // jitter
		if got[i] == "a/m -1 open 16" || got[i] == "b/m -1 open 16" {
			got[i] = got[i][:len(got[i])-1] + "5"
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("events:\n%q\nwant\n%q", got, want)
	}
}

package router_test

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// limited reports that flights were answered by 429.
func (w world) limited(retryAfter time.Duration, flights ...*router.Flight) {
	w.t.Helper()
	for _, f := range flights {
		w.Report(router.Report{Flight: f, Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: retryAfter})
	}
}

// cooling fails unless a cools down for so long from now on.
func (w world) cooling(want time.Duration) {
	w.t.Helper()
	s := w.status("a")
	got := time.Duration(0)
	if s.State == router.StateCooling {
		got = time.Until(s.Until)
	}
	if got != want {
		w.t.Errorf("a cools down for %v, want %v", got, want)
	}
}

func TestCooldownAsTold(t *testing.T) {
	in(t, two(p95), func(w world) {
		flights := []*router.Flight{w.start("a", chat), w.start("a", chat), w.start("a", chat), w.start("a", chat)}
		w.limited(30*time.Second, flights[0])
		w.cooling(30 * time.Second)
		p := w.Plan(chat)
		if got := targets(p); len(got) != 1 || got[0] != "b" || p.Refused[0].Why != router.WhyCooling {
			t.Errorf("choices %v, refused %v; want b while a cools down", got, p.Refused)
		}
		time.Sleep(10 * time.Second)
		w.limited(5*time.Second, flights[1]) // shorter: no
		w.cooling(20 * time.Second)
		w.limited(0, flights[2]) // a second by itself: no
		w.cooling(20 * time.Second)
		w.limited(40*time.Second, flights[3])
		w.cooling(40 * time.Second)
		time.Sleep(40*time.Second - 1)
		w.cooling(1)
		time.Sleep(time.Nanosecond)
		w.cooling(0)
		if got := w.Plan(chat); len(got.Choices) != 2 {
			t.Errorf("choices %v after the cooldown, want both", got.Choices)
		}
		w.limited(time.Second, w.start("a", chat))
		if got := w.status("a").Cooldowns; got != 2 { // what is told while one runs is of that one
			t.Errorf("%d cooldowns are counted, want 2", got)
		}
	})
}

// A day at most is believed; other failures may tell to wait as well.
func TestCooldownOfOtherFailures(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.Report(router.Report{Flight: w.start("a", chat), Outcome: router.Failed, Cause: router.CauseCaller, RetryAfter: time.Minute})
		w.cooling(0)
		w.Report(router.Report{Flight: w.start("a", chat), RetryAfter: time.Minute}) // on an answer it says nothing
		w.cooling(0)
		w.Report(router.Report{Flight: w.start("a", chat), Outcome: router.Failed, RetryAfter: 1000 * time.Hour})
		w.cooling(24 * time.Hour)
	})
}

func TestCooldownUntold(t *testing.T) {
	in(t, two(p95), func(w world) {
		for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			// What is refused together counts once.
			w.limited(0, w.start("a", chat), w.start("a", chat), w.start("a", chat))
			w.cooling(want * time.Second)
			time.Sleep(want * time.Second)
		}
		w.quick("a", chat, 100*ms)
		w.limited(0, w.start("a", chat))
		w.cooling(time.Second)
	})
}

// Each key cools down, and is refused, by itself.
func TestKeys(t *testing.T) {
	c := two(p95)
	c.Targets = c.Targets[:1]
	c.Targets[0].Keys = 3
	in(t, c, func(w world) {
		used := func() map[int]int {
			count := make(map[int]int)
			for range 30 {
				for _, c := range w.Plan(chat).Choices {
					count[c.Key()]++
				}
			}
			return count
		}
		if got := used(); got[0] != 10 || got[1] != 10 || got[2] != 10 {
			t.Errorf("keys of 30 plans = %v, want them in turns", got)
		}
		withKey := func(k int) *router.Flight {
			for {
				if c := w.Plan(chat).Choices[0]; c.Key() == k {
					f, err := w.Start(c, chat)
					if err != nil {
						t.Fatal(err)
					}
					return f
				}
			}
		}
		f := withKey(1)
		if got := used(); got[1] != 0 {
			t.Errorf("keys = %v, want those with fewer under way than 1", got)
		}
		w.limited(time.Minute, f)
		if got := used(); got[1] != 0 || got[0] == 0 || got[2] == 0 {
			t.Errorf("keys = %v, want all but 1", got)
		}
		w.state("a", router.StateOK)
		w.Report(router.Report{
			Flight: withKey(0), TTFT: 100 * ms,
			Requests: router.Headroom{Known: true, Limit: 100, Left: 40, Reset: time.Minute},
		})
		if got := used(); got[2] != 30 {
			t.Errorf("keys = %v, want 2, which has more left", got)
		}
		w.Report(router.Report{Flight: withKey(2), Outcome: router.Failed, Cause: router.CauseKey, Reason: "401 invalid_api_key"})
		if got := used(); got[0] != 30 {
			t.Errorf("keys = %v, want 0", got)
		}
		if k := w.status("a").Keys[2]; k.State != router.StateKeyRefused || k.Why != "401 invalid_api_key" {
			t.Errorf("key 2 = %+v, want refused and why", k)
		}
	})
}

func TestRefusedKey(t *testing.T) {
	refused := func(w world, f *router.Flight) {
		w.Report(router.Report{Flight: f, Outcome: router.Failed, Cause: router.CauseKey})
	}
	in(t, two(p95), func(w world) {
		late := w.start("a", chat)
		refused(w, w.start("a", chat))
		for _, wait := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
			w.state("a", router.StateKeyRefused)
			if p := w.Plan(chat); len(p.Choices) != 1 || p.Refused[0].Why != router.WhyKeyRefused || time.Until(p.Until) != wait {
				t.Errorf("choices %v, refused %v; want b, and a in %v", p.Choices, p.Refused, wait)
			}
			time.Sleep(wait)
			first, second := w.Plan(chat), w.Plan(chat)
			if !first.Choices[0].Probe() || first.Choices[0].Target != "a" {
				t.Fatalf("choices %+v, want a as a probe", first.Choices)
			}
			f, err := w.Start(first.Choices[0], chat)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Start(second.Choices[0], chat); err == nil {
				t.Error("two calls try the key at once")
			}
			refused(w, f)
		}
		if !w.Restore("a") || w.Restore("c") {
			t.Error("want a restored, and no target c")
		}
		w.state("a", router.StateOK)
		refused(w, late) // it started before: old news
		w.state("a", router.StateOK)
		refused(w, w.start("a", chat))
		time.Sleep(5 * time.Minute)
		w.start("a", chat).Content(100 * ms)
		w.state("a", router.StateOK)
	})
}

// A key is refused for all models, a cooldown is one model's.
func TestWhatKeysShare(t *testing.T) {
	c := two(p95)
	c.Targets[0].Models = []string{"m", "n"}
	in(t, c, func(w world) {
		n := chat
		n.Model = "n"
		w.limited(time.Minute, w.start("a", chat))
		if p := w.Plan(n); len(p.Choices) != 1 {
			t.Errorf("choices for n = %v: a provider's limits are by model", p.Choices)
		}
		w.Report(router.Report{Flight: w.start("a", n), Outcome: router.Failed, Cause: router.CauseKey})
		if p := w.Plan(n); len(p.Choices) != 0 {
			t.Errorf("choices for n = %v, want none", p.Choices)
		}
		w.state("a", router.StateKeyRefused)
	})
}

// Near the end of a provider's limit another route is taken, until it fills up again.
func TestSteeringBeforeTheLimit(t *testing.T) {
	for _, b := range []budget.Budget{p95, {}} {
		for _, tokens := range []bool{false, true} {
			in(t, two(b), func(w world) {
				for range 30 {
					w.quick("a", chat, 300*ms)
					w.quick("b", chat, 300*ms)
				}
				h := router.Headroom{Known: true, Limit: 100000, Left: 10000, Reset: time.Minute}
				rep := router.Report{Flight: w.start("a", chat), TTFT: 300 * ms, Requests: h}
				if tokens {
					rep.Requests, rep.Tokens = router.Headroom{}, h
				}
				w.Report(rep)
				w.always("b", chat)
				if got := w.status("a").Keys[0].Left; got < 0.1 || got > 0.11 {
					t.Errorf("left = %v, want 0.1 and what came back in 0.3s", got)
				}
				time.Sleep(7 * time.Second) // 0.1 + 0.9*7.3/60 is above 0.2
				if got := w.firsts(chat, 100); got["a"] < 20 {
					t.Errorf("first choices %v, want a again", got)
				}
			})
		}
	}
}

// What was started since the latest response counts as spent.
func TestHeadroomIsSpent(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.Report(router.Report{
			Flight: w.start("a", chat), TTFT: 300 * ms,
			Requests: router.Headroom{Known: true, Limit: 100, Left: 30, Reset: time.Hour},
		})
		for range 20 {
			w.start("a", chat)
		}
		if got := w.status("a").Keys[0].Left; got != 0.1 {
			t.Errorf("left = %v, want 0.1", got)
		}
	})
}

// Whatever is told in whatever order, a cooldown never gets shorter.
func TestACooldownIsNeverShortened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noDeadline := struct{ testing.TB }{t}
		rapid.Check(noDeadline, func(rt *rapid.T) {
			r, err := router.New(two(p95))
			if err != nil {
				rt.Fatal(err)
			}
			w := world{r, t}
			req := chat
			req.Pin = "a"
			var flights []*router.Flight
			for range 20 {
				f, err := r.Start(r.Plan(req).Choices[0], req)
				if err != nil {
					rt.Fatal(err)
				}
				flights = append(flights, f)
			}
			var until time.Time
			for _, f := range flights {
				time.Sleep(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "pause")) * ms)
				told := time.Duration(rapid.IntRange(0, 10000).Draw(rt, "told")) * ms
				cause := rapid.SampledFrom([]router.Cause{router.CauseRateLimit, router.CauseRoute}).Draw(rt, "cause")
				r.Report(router.Report{Flight: f, Outcome: router.Failed, Cause: cause, RetryAfter: told})
				if at := time.Now().Add(told); at.After(until) {
					until = at
				}
				now, k := time.Now(), w.status("a").Keys[0]
				if until.After(now) && (k.State != router.StateCooling || k.Until.Before(until)) {
					rt.Fatalf("key %+v, told to wait until %v", k, until)
				}
				if k.Until.After(until) {
					until = k.Until // by default, if not told
				}
			}
		})
	})
}

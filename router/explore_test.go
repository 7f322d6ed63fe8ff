package router_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// sent is one call of drive.
type sent struct {
	at      time.Duration // since the drive began
	target  string
	explore bool
}

// drive sends a call every so often, each along the first choice that it can start,
// with a TTFT as took says: the median, times luck.
func (w world) drive(every, long time.Duration, took func(target string, at time.Duration) time.Duration) (log []sent) {
	w.t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	var calls sync.WaitGroup
	start := time.Now()
	for at := time.Duration(0); at < long; at = time.Since(start) {
		for _, c := range w.Plan(chat).Choices {
			f, err := w.Start(c, chat)
			if err != nil {
				continue
			}
			log = append(log, sent{at, c.Target, c.Explore()})
			ttft := time.Duration(float64(took(c.Target, at)) * math.Exp(0.35*rnd.NormFloat64()))
			tally := w.Ledger("chat").Tally(true)
			calls.Go(func() {
				time.Sleep(ttft)
				f.Content(ttft)
				tally.Content(ttft)
				tally.Completed(0, ttft)
				w.Report(router.Report{Flight: f, Elapsed: ttft, PromptTokens: 1000, OutputTokens: 10})
			})
			break
		}
		time.Sleep(every)
	}
	calls.Wait()
	return log
}

// on counts the calls on a target from one time to another, and those that explored.
func on(log []sent, target string, from, to time.Duration) (calls, explored int) {
	for _, s := range log {
		if s.target == target && s.at >= from && s.at < to {
			calls++
			if s.explore {
				explored++
			}
		}
	}
	return calls, explored
}

// What nobody has seen is tried within a few calls while what is known breaks the
// promise: the fifth call explores b. It is believed after a few more.
func TestWhatNobodyHasSeenIsTried(t *testing.T) {
	in(t, cheap(), func(w world) {
		log := w.drive(2*time.Second, time.Minute, func(target string, _ time.Duration) time.Duration {
			return map[string]time.Duration{"a": 1800 * ms, "b": 200 * ms}[target]
		})
		for i, s := range log {
			if s.explore != (i == 4) || (i == 4 || i >= 10) && s.target != "b" {
				t.Errorf("call %d went to %s, explored %v", i, s.target, s.explore)
			}
		}
	})
}

// b costs more, and nobody has seen it; what is known of it is what a does, which keeps
// nothing. Without exploration nobody would ever find out that b does.
func TestNewTargetIsFound(t *testing.T) {
	for _, every := range []time.Duration{20 * ms, 200 * ms, 2 * time.Second} {
		t.Run(every.String(), func(t *testing.T) {
			in(t, cheap(), func(w world) {
				for range 300 {
					w.record("a", chat, 800*ms)
				}
				found := max(3*time.Minute, 300*every)
				long := found + 100*every
				log := w.drive(every, long, func(target string, _ time.Duration) time.Duration {
					return map[string]time.Duration{"a": 800 * ms, "b": 200 * ms}[target]
				})
				if calls, _ := on(log, "b", found, long); calls < 90 {
					t.Errorf("b has %d of 100 calls after %v, want nearly all", calls, found)
				}
			})
		})
	}
}

// a costs less and is slow for 20 minutes. Until then it is looked at now and then, and
// when it is well it has the calls.
func TestRecoveredRouteIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		b     budget.Budget
		every time.Duration
	}{
		"a call a second":      {p95, time.Second},
		"a call in 2 s":        {p95, 2 * time.Second},
		"nothing was promised": {budget.Budget{}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			c := cheap()
			c.Budgets["chat"] = test.b
			in(t, c, func(w world) {
				const change, long = 20 * time.Minute, 36 * time.Minute
				log := w.drive(test.every, long, func(target string, at time.Duration) time.Duration {
					if target == "a" && at < change {
						return 900 * ms
					} else if target == "a" {
						return 200 * ms
					}
					return 300 * ms
				})
				calls, explored := on(log, "a", 0, change)
				if all := int(change / test.every); explored < 3 || calls > all/25 {
					t.Errorf("a has %d of %d calls while it is slow, %d to explore; want a few", calls, all, explored)
				}
				calls, _ = on(log, "a", change+11*time.Minute, long)
				if all := int((long - change - 11*time.Minute) / test.every); calls < all*9/10 {
					t.Errorf("a has %d of %d calls from 11 minutes after it is well again, want nearly all", calls, all)
				}
			})
		})
	}
}

// explored drives cheap() until a plan explores: b, which nobody has seen.
func (w world) explored() router.Plan {
	w.t.Helper()
	for range 110 {
		if p := w.Plan(chat); p.Choices[0].Explore() {
			return p
		}
		f, err := w.Start(w.Plan(chat).Choices[0], chat)
		if err != nil {
			w.t.Fatal(err)
		}
		f.Content(900 * ms)
		w.Report(router.Report{Flight: f, Elapsed: time.Second})
		time.Sleep(300 * ms)
	}
	w.t.Fatal("nothing was explored in 110 calls")
	return router.Plan{}
}

func TestExploration(t *testing.T) {
	in(t, cheap(), func(w world) {
		for range 50 {
			w.record("a", chat, 900*ms)
		}
		p := w.explored()
		if len(p.Choices) != 2 || p.Choices[0].Target != "b" || p.Choices[1].Target != "a" || p.Choices[1].Explore() {
			t.Fatalf("choices %+v, want b to be explored and a next, which a hedge would take", p.Choices)
		}
		if got := p.Reason(); got != "b: explored, since it may have become better; then a" {
			t.Errorf("reason %q", got)
		}
		time.Sleep(300 * ms) // another plan at the same time, which has not heard of it
		q := w.Plan(chat)
		if !q.Choices[0].Explore() {
			t.Fatalf("%s, want an exploration", q.Reason())
		}
		f, err := w.Start(p.Choices[0], chat)
		if err != nil {
			t.Fatal(err)
		}
		var no *router.UnavailableError
		if _, err := w.Start(q.Choices[0], chat); !errors.As(err, &no) || no.Why != router.WhyExplored || no.Target != "b" {
			t.Errorf("the second exploration: %v, want it refused", err)
		}
		if _, err := w.Start(q.Choices[1], chat); err != nil {
			t.Errorf("its next choice: %v", err)
		}
		if got := w.route("b", "m").InFlight; got != 1 {
			t.Errorf("%d in flight on b, want the one that explores", got)
		}
		f.Content(200 * ms)
		w.Report(router.Report{Flight: f, Elapsed: time.Second})
	})
}

// One that explores and of which nothing is heard does not keep others from it for ever.
func TestLostExploration(t *testing.T) {
	in(t, cheap(), func(w world) {
		for range 50 {
			w.record("a", chat, 900*ms)
		}
		p := w.explored()
		f, err := w.Start(p.Choices[0], chat)
		if err != nil {
			t.Fatal(err)
		}
		w.Report(router.Report{Flight: f, Outcome: router.Lost, Elapsed: 100 * ms})
		w.explored() // the next one, once 100 calls have passed
	})
}

// A route of which nothing is known gets no more calls at a time than it has answered,
// and one, while there are others.
func TestColdRouteIsNotStampeded(t *testing.T) {
	in(t, cheap(), func(w world) {
		for range 50 {
			w.record("b", chat, 300*ms)
		}
		time.Sleep(300 * ms)
		var flights []*router.Flight
		burst := func(n int) (onA int) {
			for range n {
				c := w.Plan(chat).Choices[0]
				f, err := w.Start(c, chat)
				if err != nil {
					t.Fatal(err)
				}
				if c.Target == "a" {
					onA++
					flights = append(flights, f)
				} else {
					f.Content(300 * ms)
					w.Report(router.Report{Flight: f, Elapsed: 300 * ms})
				}
			}
			return onA
		}
		answer := func() {
			for _, f := range flights {
				f.Content(300 * ms)
				w.Report(router.Report{Flight: f, Elapsed: 300 * ms})
			}
			flights = nil
			time.Sleep(300 * ms)
		}
		// a is cheaper, and as good as b as far as is known.
		for _, want := range []int{1, 2, 4, 8} {
			if got := burst(50); got != want {
				t.Errorf("%d of 50 calls at once on a, want %d", got, want)
			}
			answer()
		}
		if got := burst(50); got != 50 { // with 15 answers it is well known
			t.Errorf("%d of 50 calls on a, want all", got)
		}
	})
}

package router_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// Whatever becomes of attempts, in whatever order and at whatever times: there are
// never two probes at once, never is every route open, and no route stays so once
// its attempts do well.
func TestBreakerOfAnyHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noDeadline := struct{ testing.TB }{t}
		rapid.Check(noDeadline, func(t *rapid.T) {
			c := two(p95)
			c.Targets = append(c.Targets, router.Target{Name: "c", Models: []string{"m"}})
			c.Budgets["batch"] = budget.Budget{}
			c.Seed = rapid.Uint64().Draw(t, "seed")
			r, err := router.New(c)
			if err != nil {
				t.Fatal(err)
			}
			p := &probing{r: r, config: c, probes: make(map[*router.Flight]probe)}
			t.Repeat(map[string]func(*rapid.T){
				"start":   p.start,
				"fail":    p.fail,
				"content": p.content,
				"end":     p.end,
				"sleep":   p.sleep,
				"reload":  p.reload,
				"":        p.check,
			})
			p.recover(t)
		})
	})
}

type probing struct {
	r       *router.Router
	config  router.Config
	flights []*router.Flight
	probes  map[*router.Flight]probe // of those that are under way
}

type probe struct {
	target string
	until  time.Time // when it is given up
}

func (p *probing) start(t *rapid.T) {
	req := chat
	req.Endpoint = rapid.SampledFrom([]string{"chat", "chat", "batch"}).Draw(t, "endpoint")
	req.PromptBytes = rapid.SampledFrom([]int{400, 4000, 40000}).Draw(t, "bytes")
	req.Pin = rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "pin")
	p.begin(t, req)
}

func (p *probing) reload(t *rapid.T) {
	r, err := p.r.Reload(p.config, all)
	if err != nil {
		t.Fatal(err)
	}
	p.r = r
}

func (p *probing) begin(t *rapid.T, req router.Request) *router.Flight {
	choices := p.r.Plan(req).Choices
	if len(choices) == 0 {
		t.Fatalf("no choice for %+v", req)
	}
	c := choices[0]
	f, err := p.r.Start(c, req)
	if err != nil {
		t.Fatal(err)
	}
	p.flights = append(p.flights, f)
	if c.Probe() {
		for _, other := range p.probes {
			if other.target == c.Target && time.Now().Before(other.until) {
				t.Fatalf("two probes of %s at once", c.Target)
			}
		}
		p.probes[f] = probe{c.Target, time.Now().Add(2 * c.Abandon)}
	}
	return f
}

// fail starts and fails some attempts in a row, so that breakers open often enough.
func (p *probing) fail(t *rapid.T) {
	req := chat
	req.Pin = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "pin")
	for range rapid.IntRange(1, 6).Draw(t, "times") {
		f := p.begin(t, req)
		p.done(f, router.Report{Outcome: router.Failed, Elapsed: ms})
	}
}

func (p *probing) draw(t *rapid.T) *router.Flight {
	if len(p.flights) == 0 {
		return nil
	}
	return rapid.SampledFrom(p.flights).Draw(t, "flight")
}

func (p *probing) content(t *rapid.T) {
	f := p.draw(t)
	f.Content(time.Duration(rapid.IntRange(100, 1200).Draw(t, "ttft")) * ms)
	delete(p.probes, f)
}

func (p *probing) end(t *rapid.T) {
	outcome := rapid.SampledFrom([]router.Outcome{
		router.Completed, router.Failed, router.Failed, router.TimedOut, router.Cancelled, router.Lost,
	}).Draw(t, "outcome")
	cause := rapid.SampledFrom([]router.Cause{router.CauseRoute, router.CauseRoute, router.CauseCaller}).Draw(t, "cause")
	p.done(p.draw(t), router.Report{Outcome: outcome, Cause: cause})
}

func (p *probing) done(f *router.Flight, rep router.Report) {
	rep.Flight = f
	p.r.Report(rep)
	p.r.Report(rep)
	delete(p.probes, f)
	for i := range p.flights {
		if p.flights[i] == f {
			p.flights = append(p.flights[:i], p.flights[i+1:]...)
			return
		}
	}
}

func (p *probing) sleep(t *rapid.T) {
	time.Sleep(time.Duration(rapid.SampledFrom([]int{1, 100, 1000, 10000, 16000, 60000, 400000}).Draw(t, "ms")) * ms)
}

func (p *probing) check(t *rapid.T) {
	open := 0
	for _, s := range p.r.Snapshot().Routes {
		if s.State == router.StateOpen || s.State == router.StateHalfOpen {
			open++
		}
	}
	if open == 3 {
		t.Fatal("every route is open")
	}
}

// recover lets all attempts from now on do well.
func (p *probing) recover(t *rapid.T) {
	for range 20 {
		time.Sleep(time.Minute)
		for _, target := range []string{"a", "b", "c"} {
			req := chat
			req.Pin = target
			p.done(p.begin(t, req), router.Report{TTFT: 100 * ms, Elapsed: time.Second})
		}
	}
	for _, s := range p.r.Snapshot().Routes {
		if s.State == router.StateOpen || s.State == router.StateHalfOpen {
			t.Fatalf("%s is still %s after 20 minutes of good answers: %s", s.Target, s.State, s.Why)
		}
	}
}

// In no minute are there more attempts than a target's limit.
func TestNoMinuteExceedsTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noDeadline := struct{ testing.TB }{t}
		rapid.Check(noDeadline, func(rt *rapid.T) {
			limit := rapid.IntRange(1, 200).Draw(rt, "limit")
			r, err := router.New(withLimits(router.Limits{RequestsPerMinute: limit}))
			if err != nil {
				rt.Fatal(err)
			}
			w := world{r, t}
			var started []time.Time
			for range rapid.IntRange(1, 300).Draw(rt, "calls") {
				time.Sleep(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "pause")) * ms)
				if _, why := w.can(chat); why == "" {
					started = append(started, time.Now())
				}
				if i := len(started) - 1 - limit; i >= 0 && started[len(started)-1].Sub(started[i]) < time.Minute {
					rt.Fatalf("%d attempts within %v", limit+1, started[len(started)-1].Sub(started[i]))
				}
			}
		})
	})
}

// Keys, breakers, limits and waiting calls from many goroutines at once. Of use under
// -race.
func TestHealthConcurrently(t *testing.T) {
	c := many(3)
	for i := range c.Targets {
		c.Targets[i].Keys = 2
		c.Targets[i].Limits.Concurrent = 4
	}
	var r *router.Router
	c.OnHealth = func(router.Event) { r.Snapshot() }
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = router.New(c); err != nil {
			t.Fatal(err)
		}
		w := world{r, t}
		for k := range 20 {
			go func() {
				for i := range 100 {
					f, err := w.Wait(context.Background(), chat)
					if err != nil {
						time.Sleep(time.Minute)
						continue
					}
					one, err := w.Start(f.Choices[0], chat)
					if err != nil {
						continue
					}
					time.Sleep(time.Duration(k*i%700) * ms)
					if i%3 == 0 {
						one.Content(time.Duration(i*20) * ms)
					}
					w.Report(router.Report{
						Flight: one, Outcome: router.Outcome(1 + (i+k)%5), Cause: router.Cause((i + k) / 5 % 4),
						RetryAfter: time.Duration(i%7) * time.Second,
						Requests:   router.Headroom{Known: i%2 == 0, Limit: 100, Left: int64(i), Reset: time.Second},
					})
					if i%50 == 49 {
						w.Restore(fmt.Sprint("t", k%3))
					}
				}
			}()
		}
		synctest.Wait()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		for _, s := range w.Snapshot().Routes {
			if s.InFlight != 0 {
				t.Errorf("%d in flight on %s, want none", s.InFlight, s.Target)
			}
			for k := range s.Keys {
				if s.Keys[k].InFlight != 0 {
					t.Errorf("%d in flight on key %d of %s, want none", s.Keys[k].InFlight, k, s.Target)
				}
			}
		}
	})
}

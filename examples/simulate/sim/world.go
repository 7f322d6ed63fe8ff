package sim

import (
	"math"
	"net/http"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Deadline is how long an application waits for a whole answer before it goes away.
const Deadline = 60 * time.Second

// World is the simulated providers of one run, and what is asked of them. What a
// request meets depends on the seed, the scenario, the call, the target and how many
// requests of the call the target has had, and on the time at which it is sent; never
// on what others did. (State has the exceptions.) So every policy meets the same luck.
// It is safe for concurrent use: it never changes.
type World struct {
	scenario Scenario
	seed     uint64
	rate     float64
	early    bool
	length   time.Duration

	sites   []site
	moments [][]moment // of each target
	calls   []Call
}

// Conditions are what a scenario is played under.
type Conditions struct {
	Seed  uint64
	Rate  float64 // calls per second
	Early bool    // headers come at once; else with the first token
	// Length is how long calls arrive. 0: 60, 20 and 4 minutes at 0.5, 5 and 50 calls
	// per second.
	Length time.Duration
	Trace  *Trace // measured times or calls in place of the built-in ones; nil: none
}

// NewWorld makes the world of one run.
func NewWorld(s Scenario, c Conditions) *World {
	w := &World{scenario: s, seed: uint64(luckOf(c.Seed, nameHash(s.Name))), rate: c.Rate, early: c.Early, length: c.Length}
	if w.length == 0 {
		w.length = usualLength(c.Rate)
	}
	w.sites = builtin()
	if c.Trace != nil && len(c.Trace.places) > 0 {
		w.sites = c.Trace.places
	}
	for i := range w.sites {
		w.moments = append(w.moments, w.timeline(i))
	}
	w.calls = w.workload(c.Trace)
	return w
}

// usualLength gives a low rate enough calls to say something of its p99, and a high
// one enough time for what goes wrong to be met.
func usualLength(rate float64) time.Duration {
	switch {
	case rate < 2:
		return 60 * time.Minute
	case rate < 20:
		return 20 * time.Minute
	}
	return 4 * time.Minute
}

func nameHash(s string) uint64 {
	l := luck(0)
	for _, c := range []byte(s) {
		l = luckOf(uint64(l), uint64(c))
	}
	return uint64(l)
}

// Scenario returns what happens.
func (w *World) Scenario() Scenario { return w.scenario }

// Budget returns what was promised.
func (w *World) Budget() budget.Budget { return w.scenario.Promise() }

// Calls returns what is asked, by time. It is not to be changed.
func (w *World) Calls() []Call { return w.calls }

// Length is how long calls arrive.
func (w *World) Length() time.Duration { return w.length }

// Targets returns what a policy may know of the targets.
func (w *World) Targets() []Target {
	targets := make([]Target, len(w.sites))
	for i := range w.sites {
		targets[i] = w.sites[i].Target
	}
	return targets
}

// Reply is what a request meets if nobody ends it before. Times count from its
// sending.
type Reply struct {
	Status  int           // of the response
	Headers time.Duration // 0: they never come
	TTFT    time.Duration // 0: no content ever comes
	Total   time.Duration // when it is over, well or not; 0: never
	Output  int           // tokens that come
	Failed  bool          // an error, or an answer that is cut after Output tokens
	Cached  int           // tokens of the prompt that the target still had

	Stall   time.Duration // pause before token StallAt; 0: none
	StallAt int           // the first token is 1

	// Where a rate limit holds: how many requests a window takes, how many of them are
	// left, and how long it lasts.
	Limit, Left int
	Reset       time.Duration
}

// Reply returns what the nth request of a call (from 0 on) to a target meets when it is
// sent at that time and the target still has so many tokens of its prompt.
func (w *World) Reply(c *Call, target, nth int, at time.Duration, cached int) Reply {
	return w.reply(c, target, at, cached, luckOf(w.seed, uint64(c.Number), uint64(target), uint64(nth)))
}

// Sample is Reply with other luck: a draw from the same distribution.
func (w *World) Sample(c *Call, target int, at time.Duration, cached int, other uint64) Reply {
	return w.reply(c, target, at, cached, luckOf(w.seed, other, uint64(target), 's'))
}

func (w *World) reply(c *Call, target int, at time.Duration, cached int, l luck) Reply {
	s, m, d := &w.sites[target], w.at(target, at), l.draws()
	effect := m.effect
	if effect.Share > 0 && d.struck >= effect.Share {
		effect = Effect{}
	}
	if effect.Status != 0 {
		return refusal(effect.Status, &d)
	}
	r := Reply{Status: http.StatusOK, Cached: cached}
	first, pace := w.times(s, m, &d)
	first = stretch(first+time.Duration(c.Prompt-cached)*prefill, orOne(effect.Slow))
	pace = stretch(pace, orOne(effect.Pace))
	if w.early {
		r.Headers = min(first, stretch(headersMedian, math.Exp(headersSigma*d.headers)))
	}
	if effect.Hang {
		return r
	}
	if !w.early {
		r.Headers = first
	}
	r.TTFT, r.Output = first, c.Output
	r.interrupt(&effect, &d)
	r.Total = first + time.Duration(r.Output-1)*pace + r.Stall
	return r
}

// times are those of an empty prompt, without any trouble.
func (w *World) times(s *site, m *moment, d *draws) (first, pace time.Duration) {
	if s.series != nil {
		return s.series.times(m.block, d.pick)
	}
	first, pace = s.first(d), s.between(d)
	if m.spell {
		first = stretch(first, s.spells.slow)
	}
	return first, pace
}

// interrupt cuts or stalls the stream of a struck request.
func (r *Reply) interrupt(e *Effect, d *draws) {
	if r.Output < 2 {
		return
	}
	at := 1 + int(d.where*float64(r.Output-1)) // tokens that come before it
	switch {
	case e.Cut:
		r.Output, r.Failed = at, true
	case e.Stall > 0:
		r.Stall, r.StallAt = e.Stall, at+1
	}
}

func refusal(status int, d *draws) Reply {
	at := stretch(errorMedian, math.Exp(headersSigma*d.headers))
	return Reply{Status: status, Headers: at, Total: at, Failed: true}
}

func orOne(factor float64) float64 {
	if factor == 0 {
		return 1
	}
	return factor
}

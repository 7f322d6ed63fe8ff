package router_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// draw is how long an attempt of a call takes to its content on a target.
type draw func(call *rand.Rand, target string) time.Duration

// run is what became of some calls.
type run struct {
	mu    sync.Mutex
	calls []called // in the order of their start
}

// called is one call: its own times, whatever attempts it took.
type called struct {
	start    time.Time
	ttft     time.Duration
	first    string        // target
	hedge    string        // target; empty: none
	hedgedAt time.Duration // age
	won      bool          // by the hedge
}

func (r *run) hedges() (n int) {
	for _, c := range r.calls {
		if c.hedge != "" {
			n++
		}
	}
	return n
}

func (r *run) share() float64 { return float64(r.hedges()) / float64(len(r.calls)) }

// to returns what became of those before it.
func (r *run) to(i int) *run { return &run{calls: r.calls[:i]} }

// late returns the share of calls beyond a limit.
func (r *run) late(limit time.Duration) float64 {
	n := 0
	for _, c := range r.calls {
		if c.ttft > limit {
			n++
		}
	}
	return float64(n) / float64(len(r.calls))
}

// from returns what became of the calls from the given one on.
func (r *run) from(i int) *run { return &run{calls: r.calls[i:]} }

// race runs n calls as a middleware does, one every so often, until all have content.
// It is to be run in virtual time.
func (w world) race(n int, every time.Duration, req router.Request, took draw) *run {
	return w.raceOf(n, every, contender{w: w, req: req, took: took, recorded: honest})
}

// raceOf is like race, for calls that are like one.
func (w world) raceOf(n int, every time.Duration, one contender) *run {
	var all sync.WaitGroup
	r := &run{calls: make([]called, n)}
	for i := range n {
		all.Go(func() {
			c := one
			c.rnd = rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
			done := c.call()
			r.mu.Lock()
			defer r.mu.Unlock()
			r.calls[i] = done
		})
		time.Sleep(every)
	}
	all.Wait()
	return r
}

// contender is a call under way.
type contender struct {
	w     world
	req   router.Request
	took  draw
	first string // target of the first attempt, if not as planned
	// recorded is what the router is told of a hedge that won, by its own time and that
	// of its call.
	recorded func(own, call time.Duration) time.Duration
	rnd      *rand.Rand
}

func honest(own, call time.Duration) time.Duration { return own }

// attempt is one of its attempts: content comes at the given age of the call.
type attempt struct {
	flight  *router.Flight
	start   time.Duration
	content time.Duration
	target  string
}

func (c *contender) start(choice router.Choice, age time.Duration) (attempt, error) {
	f, err := c.w.Start(choice, c.req)
	if err != nil {
		return attempt{}, err
	}
	return attempt{f, age, age + c.took(c.rnd, choice.Target), choice.Target}, nil
}

func (c *contender) call() called {
	start := time.Now()
	plan := c.w.Plan(c.req)
	if i := slices.IndexFunc(plan.Choices, func(choice router.Choice) bool { return choice.Target == c.first }); i > 0 {
		plan.Choices[0], plan.Choices[i] = plan.Choices[i], plan.Choices[0]
	}
	x, err := c.start(plan.Choices[0], 0)
	if err != nil {
		x, _ = c.start(plan.Choices[1], 0)
	}
	tally := c.w.Ledger(c.req.Endpoint).Tally(true)
	out := called{start: start, first: x.target}
	y := attempt{content: math.MaxInt64}
	ask, until := plan.HedgeFrom, plan.Choices[0].Abandon
	for ask > 0 && ask < min(x.content, until) {
		time.Sleep(ask - time.Since(start))
		h := plan.Hedge(x.flight, 1)
		if h.Again > 0 && h.At <= ask {
			if y, err = c.start(h.Choice, ask); err == nil {
				out.hedge, out.hedgedAt = y.target, ask
				break
			}
			y.content = math.MaxInt64
		}
		ask = h.Again
	}
	winner, loser := &x, &y
	if out.won = y.content < x.content; out.won {
		winner, loser = &y, &x
	}
	if y.flight == nil && x.content > until { // hopeless: the next one, from the start
		time.Sleep(until - time.Since(start))
		c.w.Report(router.Report{Flight: x.flight, Outcome: router.TimedOut, Elapsed: until})
		c.req.Attempts++
		x, err = c.start(plan.Choices[1], until)
		if err != nil {
			x, _ = c.start(plan.Choices[0], until)
		}
		*winner = x
	}
	time.Sleep(winner.content - time.Since(start))
	own := winner.content - winner.start
	if out.won {
		own = c.recorded(own, winner.content)
	}
	winner.flight.Content(own)
	tally.Content(winner.content)
	tally.Completed(0, winner.content)
	if loser.flight != nil {
		c.w.Report(router.Report{Flight: loser.flight, Outcome: router.Lost, Elapsed: winner.content - loser.start})
	}
	c.w.Report(router.Report{Flight: winner.flight, Elapsed: own, PromptTokens: c.req.PromptBytes / 4})
	out.ttft = winner.content
	return out
}

// usually returns a draw by which most attempts take a time about the usual one, and a
// share of them the slow one, whatever the target.
func usually(usual time.Duration, share float64, slow time.Duration) draw {
	return func(call *rand.Rand, target string) time.Duration {
		took := usual
		if call.Float64() < share {
			took = slow
		}
		return time.Duration(float64(took) * math.Exp(0.15*call.NormFloat64()))
	}
}

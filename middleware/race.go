package middleware

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/router"
)

const (
	maxTries     = 3                      // attempts of a call with fewer routes than that
	retryPause   = 500 * time.Millisecond // before a route is tried again; doubles
	maxToContent = 10 * time.Minute       // where nobody set a deadline, as in openai-go
)

// run plays the race: one attempt at a time, the next one at once when one
// fails or is abandoned, until the first has content.
func (c *liveCall) run() (*http.Response, error) {
	r := &race{liveCall: c}
	defer func() { r.plan.Release() }()
	choice, flight, err := r.find()
	if err != nil {
		return nil, r.refuse(err)
	}
	r.most = max(len(r.plan.Choices)+len(r.plan.Refused), maxTries)
	r.news = make(chan *attempt, r.most)
	r.launch(choice, flight)
	timer := time.NewTimer(r.untilNext())
	defer timer.Stop()
	for {
		select {
		case a := <-r.news:
			if resp, err, over := r.hear(a); over {
				return resp, err
			}
		case <-timer.C:
			if resp, err, over := r.tick(); over {
				return resp, err
			}
		case <-r.ctx.Done():
			return r.stopped(causeOf(r.ctx, r.req.Context()))
		}
		timer.Reset(r.untilNext())
	}
}

// race is a call while no attempt of it has content.
type race struct {
	*liveCall
	running *attempt  // nil between two attempts
	next    int       // index of the next choice
	most    int       // attempts that it may take
	pauses  int       // made so far
	resume  time.Time // when a pause ends
	avoid   string    // a provider that cannot serve this request
	untried bool      // only what was not tried will do: the plan is a second look
}

// find waits for a route and takes a place on it.
func (r *race) find() (router.Choice, *router.Flight, error) {
	for {
		if err := r.await(); err != nil {
			return router.Choice{}, nil, err
		}
		if choice, flight, ok := r.board(); ok {
			return choice, flight, nil
		} else if r.avoid != "" {
			return choice, nil, ErrNoTarget
		}
		// Other calls were quicker, everywhere: the next plan knows.
	}
}

// await plans the call. Where no route may be taken now it waits for one: its
// turn at the limits, or the end of a cooldown.
func (r *race) await() error {
	r.plan.Release()
	start := time.Now()
	plan, err := r.t.router.Wait(r.ctx, r.asks)
	r.rec.Waited += time.Since(start)
	r.plan, r.next, r.untried = plan, 0, false
	if err == nil {
		return nil
	}
	none, ok := errors.AsType[*router.NoRouteError](err)
	switch cause := causeOf(r.ctx, r.req.Context()); {
	case ok && len(none.Refused) == 0:
		return fmt.Errorf("%w: %w", ErrNoTarget, err)
	case cause != nil:
		return fmt.Errorf("%w: %w", cause, err)
	default:
		return err
	}
}

// board takes a place on the best route that is left and may be taken.
func (r *race) board() (router.Choice, *router.Flight, bool) {
	for r.next < len(r.plan.Choices) {
		choice := r.plan.Choices[r.next]
		r.next++
		if r.avoid != "" && r.t.upstreams[choice.Target].Provider == r.avoid || r.untried && r.tried(choice) {
			continue
		}
		if flight, err := r.t.router.Start(choice, r.asks); err == nil {
			return choice, flight, true
		}
	}
	return router.Choice{}, nil, false
}

// another is like board; where the last fault was a key's, it looks at the
// target's other keys too.
func (r *race) another(cause router.Cause) (router.Choice, *router.Flight, bool) {
	choice, flight, ok := r.board()
	if ok || cause != router.CauseKey && cause != router.CauseRateLimit {
		return choice, flight, ok
	}
	r.plan.Release()
	r.plan, r.next, r.untried = r.t.router.Plan(r.asks), 0, true
	return r.board()
}

// tried reports whether an attempt of this call took the choice.
func (r *race) tried(choice router.Choice) bool {
	return slices.ContainsFunc(r.attempts, func(a *attempt) bool {
		return a.up.Name == choice.Target && a.key == choice.Key()
	})
}

// launch starts an attempt.
func (r *race) launch(choice router.Choice, flight *router.Flight) {
	a := &attempt{
		call: r.liveCall, up: r.t.upstreams[choice.Target], key: choice.Key(),
		flight: flight, start: time.Now(), abandon: choice.Abandon,
	}
	a.ctx, a.cancel = context.WithCancelCause(r.ctx)
	a.trace()
	r.attempts = append(r.attempts, a)
	r.running = a
	r.t.running.Add(1)
	go a.run()
}

// hear takes in what an attempt came to, and reports whether that ends the race.
func (r *race) hear(a *attempt) (*http.Response, error, bool) {
	switch {
	case a.given:
		return nil, nil, false // what became of it does not matter any more
	case a.fault == nil:
		resp, err := r.commit(a)
		return resp, err, true
	}
	a.end(a.fault)
	r.running = nil
	if r.recover(a) {
		return nil, nil, false
	}
	resp, err := r.lose()
	return resp, err, true
}

// recover follows a failed attempt by another: at once while a route is left
// that was not tried, else after a pause. It reports false if the call ends
// here.
func (r *race) recover(a *attempt) bool {
	j := judge(a.fault)
	remedy := j.remedy
	if a.limits.ShouldRetry && !a.limits.Retry && remedy == again {
		remedy = elsewhere // the provider's word is not to ask it again
	}
	switch {
	case remedy == stop, len(r.attempts) >= r.most:
		return false
	case remedy == otherMaker && r.avoid != "":
		return false // that was tried
	case remedy == otherMaker:
		r.avoid = a.up.Provider
	}
	if choice, flight, ok := r.another(j.cause); ok {
		// The first step to a healthy route is always made: that is what other
		// targets are for. All else is rationed.
		if (len(r.attempts) > 1 || choice.LastResort()) && !r.t.retries.take() {
			r.forgo(flight)
			return false
		}
		r.launch(choice, flight)
		return true
	}
	if remedy != again || !r.t.retries.take() {
		return false
	}
	r.resume = time.Now()
	if j.cause != router.CauseRateLimit { // its cooldown is pause enough
		r.resume = r.resume.Add(retryPause << r.pauses)
		r.pauses++
	}
	return true
}

// forgo gives a place back.
func (r *race) forgo(flight *router.Flight) {
	r.t.router.Report(router.Report{Flight: flight, Outcome: Lost})
}

// tick does what has become due.
func (r *race) tick() (*http.Response, error, bool) {
	age := time.Since(r.rec.Start)
	r.tally.Waiting(age)
	switch {
	case r.unbounded() && age >= maxToContent:
		resp, err := r.stopped(ErrNoContent)
		return resp, err, true
	case r.running == nil && !time.Now().Before(r.resume):
		return r.again()
	case r.mayAbandon() && time.Since(r.running.start) >= r.running.abandon:
		r.abandon()
	}
	return nil, nil, false
}

// again plans anew after a pause.
func (r *race) again() (*http.Response, error, bool) {
	choice, flight, err := r.find()
	if err == nil {
		r.launch(choice, flight)
		return nil, nil, false
	}
	if r.ctx.Err() != nil {
		return nil, r.abort(causeOf(r.ctx, r.req.Context())), true
	}
	resp, err := r.lose()
	return resp, err, true
}

// abandon gives the running attempt up, once another has its place.
func (r *race) abandon() {
	choice, flight, ok := r.board()
	switch {
	case !ok: // it was the last one after all
	case r.running.giveUp(ErrAbandoned):
		r.launch(choice, flight)
	default:
		r.forgo(flight) // it has just come to something
	}
}

// mayAbandon reports whether another route is left to go to. The last one is
// never abandoned: a slow answer is better than none.
func (r *race) mayAbandon() bool {
	return r.running != nil && r.running.abandon > 0 && r.next < len(r.plan.Choices) && len(r.attempts) < r.most
}

// stopped ends the race from outside: the deadline, the caller's cancel, Close.
// An answer that has come all the same is not thrown away. An attempt that can
// not be given up any more has one, and is about to tell.
func (r *race) stopped(cause error) (*http.Response, error) {
	for len(r.news) > 0 || r.running != nil && !r.running.giveUp(cause) {
		if a := <-r.news; !a.given && a.fault == nil {
			return r.commit(a)
		}
	}
	return nil, r.abort(cause)
}

func (r *race) unbounded() bool {
	_, bounded := r.ctx.Deadline()
	return !bounded
}

// untilNext is the time to the next thing that becomes due.
func (r *race) untilNext() time.Duration {
	now := time.Now()
	age := now.Sub(r.rec.Start)
	wait := maxToContent
	if r.unbounded() {
		wait = maxToContent - age
	}
	if at, ok := r.tally.Next(age); ok {
		wait = min(wait, at-age)
	}
	switch {
	case r.running == nil:
		wait = min(wait, r.resume.Sub(now))
	case r.mayAbandon():
		wait = min(wait, r.running.start.Add(r.running.abandon).Sub(now))
	}
	return max(wait, 0)
}

// abort ends the call while it waits for content.
func (c *liveCall) abort(cause error) error {
	c.tally.Waiting(time.Since(c.rec.Start))
	for _, a := range c.attempts {
		a.giveUp(cause)
	}
	return c.refuse(cause)
}

// lose ends the call with the fault of its last attempt: the target's own
// response if there was one, otherwise an error.
func (c *liveCall) lose() (*http.Response, error) {
	a := c.attempts[len(c.attempts)-1]
	err := c.refuse(a.fault)
	if a.resp == nil || a.resp.StatusCode < 400 {
		return nil, err
	}
	return c.errorResponse(a), nil
}

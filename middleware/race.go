package middleware

import (
	"context"
	"errors"
	"net/http"
	"time"
)

const (
	maxTries     = 3                      // attempts of a call with fewer routes than that
	retryPause   = 500 * time.Millisecond // before a route is tried again; doubles
	maxToContent = 10 * time.Minute       // where nobody set a deadline, as in openai-go
)

// errNoContent ends a call that nobody set a deadline for.
var errNoContent = errors.New("no content within 10 minutes")

// run plays the race: one attempt at a time, the next one at once when one
// fails or is abandoned, until the first has content.
func (c *liveCall) run() (*http.Response, error) {
	c.news = make(chan *attempt, c.tries())
	r := &race{liveCall: c}
	r.launch()
	timer := time.NewTimer(r.untilNext())
	defer timer.Stop()
	for {
		select {
		case a := <-c.news:
			if resp, err, over := r.hear(a); over {
				return resp, err
			}
		case <-timer.C:
			if err := r.tick(); err != nil {
				return r.stopped(err)
			}
		case <-c.ctx.Done():
			return r.stopped(context.Cause(c.ctx))
		}
		timer.Reset(r.untilNext())
	}
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
	if r.recover(a) {
		return nil, nil, false
	}
	resp, err := r.lose(a)
	return resp, err, true
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

// race is a call while no attempt of it has content.
type race struct {
	*liveCall
	running *attempt  // nil between two attempts
	next    int       // index of the next choice
	pauses  int       // made so far
	resume  time.Time // when a pause ends
}

// tries is the most attempts that the call may take.
func (c *liveCall) tries() int { return max(len(c.plan.Choices), maxTries) }

// launch starts the next attempt.
func (r *race) launch() {
	choice := r.plan.Choices[r.next%len(r.plan.Choices)]
	r.next++
	a := &attempt{call: r.liveCall, up: r.t.upstreams[choice.Target], start: time.Now()}
	a.ctx, a.cancel = context.WithCancelCause(r.ctx)
	a.abandon = choice.Abandon
	a.flight = r.t.router.Start(choice, r.asks)
	r.attempts = append(r.attempts, a)
	r.running = a
	r.t.running.Add(1)
	go a.run()
}

// recover follows a failed attempt by another, at once while a route is left
// that was not tried. It reports false if the call ends here.
func (r *race) recover(a *attempt) bool {
	r.running = nil
	switch remedy := remedyFor(a.fault); {
	case remedy == stop, len(r.attempts) >= r.tries():
		return false
	case r.next < len(r.plan.Choices):
		r.launch()
	case remedy == elsewhere:
		return false
	default:
		r.resume = time.Now().Add(retryPause << r.pauses)
		r.pauses++
	}
	return true
}

// tick does what has become due.
func (r *race) tick() error {
	age := time.Since(r.rec.Start)
	r.tally.Waiting(age)
	if r.unbounded() && age >= maxToContent {
		return errNoContent
	}
	switch {
	case r.running == nil && !time.Now().Before(r.resume):
		r.launch()
	case r.mayAbandon() && time.Since(r.running.start) >= r.running.abandon:
		if r.running.giveUp(ErrAbandoned) {
			r.launch()
		}
	}
	return nil
}

// mayAbandon reports whether another route is left to go to. The last one is
// never abandoned: a slow answer is better than none.
func (r *race) mayAbandon() bool {
	return r.running != nil && r.running.abandon > 0 && r.next < len(r.plan.Choices)
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
func (c *liveCall) lose(a *attempt) (*http.Response, error) {
	err := c.refuse(a.fault)
	if a.resp == nil || a.resp.StatusCode < 400 {
		return nil, err
	}
	return c.errorResponse(a), nil
}

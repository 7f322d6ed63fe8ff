package middleware

import (
	"net/http"
	"time"
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

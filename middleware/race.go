package middleware

import (
	"net/http"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/router"
)

const (
	maxTries     = 3                      // attempts of a call with fewer routes than that, and of a route beside which none is left
	retryPause   = 500 * time.Millisecond // before a route is tried again; doubles
	maxToContent = 10 * time.Minute       // where nobody set a deadline, as in openai-go
)

// run plays the race: an attempt, a hedge beside it if that pays, and the next
// one at once when all that ran have failed or were abandoned, until the first
// has content.
func (c *liveCall) run() (*http.Response, error) {
	r := &race{liveCall: c}
	defer func() { r.plan.Release() }()
	choice, flight, err := r.find()
	if err != nil {
		return nil, r.refuse(err)
	}
	r.tries = max(len(r.plan.Choices)+len(r.plan.Refused), maxTries)
	r.most = r.tries * (1 + len(r.budget.Models))
	r.news = make(chan *attempt, r.most)
	r.launch(choice, flight, false)
	if !r.set.shadow {
		r.explain(&r.plan) // now that nobody waits for it
	}
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
	running [2]*attempt // in the order of their start, then nil; none between two attempts
	next    int         // index of the next choice
	most    int         // attempts that it may take
	tries   int         // times that it may go over its routes
	rounds  int         // made so far, the one under way apart
	pauses  int         // of them, those that waited for nothing in particular
	resume  time.Time   // when a pause ends
	untried bool        // only what was not tried will do: the plan is a second look
	bottom  bool        // the endpoint has no further model

	hedgeAt time.Duration // age of the running attempt at which to ask about a hedge; 0: never
	hedged  bool          // there was one
}

// enlist adds an attempt to those that run.
func (r *race) enlist(a *attempt) {
	if r.running[0] == nil {
		r.running[0] = a
	} else {
		r.running[1] = a
	}
}

// drop takes an attempt out of those that run.
func (r *race) drop(a *attempt) {
	switch a {
	case r.running[0]:
		r.running[0], r.running[1] = r.running[1], nil
	case r.running[1]:
		r.running[1] = nil
	}
}

func (r *race) alone() bool { return r.running[0] != nil && r.running[1] == nil }

// hear takes in what an attempt came to, and reports whether that ends the race.
func (r *race) hear(a *attempt) (*http.Response, error, bool) {
	switch {
	case a.given:
		return nil, nil, false // what became of it does not matter any more
	case a.fault == nil:
		resp, err := r.decide(a)
		return resp, err, true
	}
	a.end(a.fault)
	r.drop(a)
	if r.running[0] != nil {
		return nil, nil, false // an error does not win while another attempt is left
	}
	if r.failed = a; r.recover(a) {
		return nil, nil, false
	}
	resp, err := r.lose()
	return resp, err, true
}

// decide ends the race: whatever else is running has lost it.
func (r *race) decide(a *attempt) (*http.Response, error) {
	r.drop(a)
	switch other := r.running[0]; {
	case other == nil:
	case other.probe:
		other.linger()
	default:
		other.giveUp(errLost)
	}
	return r.commit(a)
}

// tick does what has become due.
func (r *race) tick() (*http.Response, error, bool) {
	age := time.Since(r.rec.Start)
	r.tally.Waiting(age)
	switch {
	case r.unbounded() && age >= maxToContent:
		resp, err := r.stopped(ErrNoContent)
		return resp, err, true
	case r.running[0] == nil && !time.Now().Before(r.resume):
		return r.again()
	}
	for _, a := range r.running {
		if r.mayAbandon(a) && time.Since(a.start) >= a.abandon {
			r.abandon(a)
			return nil, nil, false
		}
	}
	if r.mayHedge() && time.Since(r.running[0].start) >= r.hedgeAt {
		r.hedge()
	}
	return nil, nil, false
}

// abandon gives an attempt up, once another has its place.
func (r *race) abandon(a *attempt) {
	if !r.alone() {
		if a.giveUp(ErrAbandoned) {
			r.drop(a)
		} else {
			a.abandon = 0 // it has just come to something
		}
		return
	}
	choice, flight, ok := r.another(router.CauseRoute)
	switch {
	case !ok: // it was the last one after all
	case a.giveUp(ErrAbandoned):
		r.drop(a)
		r.launch(choice, flight, false)
	default:
		r.forgo(flight) // it has just come to something
	}
}

// mayAbandon reports whether another attempt runs, or another route is left to go
// to. The last one is never abandoned: a slow answer is better than none.
func (r *race) mayAbandon(a *attempt) bool {
	return a != nil && a.abandon > 0 &&
		(!r.alone() || (r.next < len(r.plan.Choices) || r.mayDescend()) && len(r.attempts) < r.most)
}

// stopped ends the race from outside: the deadline, the caller's cancel, Close.
// An answer that has come all the same is not thrown away. An attempt that can
// not be given up any more has one, and is about to tell.
func (r *race) stopped(cause error) (*http.Response, error) {
	for {
		waits := len(r.news) > 0
		for _, a := range r.running {
			waits = a != nil && !a.given && !a.giveUp(cause) || waits
		}
		if !waits {
			return nil, r.abort(cause)
		}
		if a := <-r.news; !a.given {
			r.drop(a)
			if a.fault == nil {
				return r.decide(a)
			}
		}
	}
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
	if r.running[0] == nil {
		wait = min(wait, r.resume.Sub(now))
	}
	for _, a := range r.running {
		if r.mayAbandon(a) {
			wait = min(wait, a.start.Add(a.abandon).Sub(now))
		}
	}
	if r.mayHedge() {
		wait = min(wait, r.running[0].start.Add(r.hedgeAt).Sub(now))
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

// lose ends the call with the fault of the attempt that failed last: the
// target's own response if there was one, otherwise an error.
func (c *liveCall) lose() (*http.Response, error) {
	a := c.failed
	err := c.refuse(a.fault)
	if a.resp == nil || a.resp.StatusCode < 400 {
		return nil, err
	}
	return c.errorResponse(a), nil
}

// tried reports whether an attempt of this call went to the target with the key.
func (c *liveCall) tried(target string, key int) bool {
	return slices.ContainsFunc(c.attempts, func(a *attempt) bool {
		return a.up.Name == target && a.key == key
	})
}

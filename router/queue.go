package router

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// mostWait is how long a call without a deadline waits, as openai-go would.
const mostWait = 2 * time.Minute

// queue is the calls that wait for a place, first come first served.
type queue struct {
	waiting atomic.Int32
	mu      sync.Mutex // guards all below; taken before any other lock
	line    []*waiter
}

// waiter is one call in the queue.
type waiter struct {
	router *Router
	req    Request
	plan   Plan
	served bool
	ready  chan struct{} // closed when it is served
	slept  bool          // it was not served at once
}

// want is what places a call could take: calls that want the same keep their order
// even where a later one would need less.
type want struct {
	router                              *Router
	endpoint, model, pin, avoid, format string
	keepModel                           bool
}

func (w *waiter) want() want {
	return want{w.router, w.req.Endpoint, w.req.Model, w.req.Pin, w.req.Avoid, w.req.Format, w.req.KeepModel}
}

// Wait is like [Router.Plan], but if no route may be taken now it waits until one
// may: for a place at the limits of its targets, first come first served, or for
// the shortest cooldown. It fails at once if none can come back before the deadline
// of ctx (2 minutes from now, if there is none), and else when ctx ends. The error
// is a [*SaturatedError] if limits of our own held the call back, or a
// [*NoRouteError].
//
// The first choice of the plan has its place at the target's limits already. It is
// either started or given back by [Plan.Release].
func (r *Router) Wait(ctx context.Context, req Request) (Plan, error) {
	defer r.events.flush()
	start := time.Now()
	if r.queue.waiting.Load() == 0 {
		if p := r.book(req); len(p.Choices) > 0 {
			return p, nil
		}
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = start.Add(mostWait)
	}
	w := r.enqueue(req)
	for {
		if p, served := r.queue.look(w); served {
			p.Waited = w.waited(start)
			return p, nil
		} else if wait, ok := p.patience(deadline); !ok || ctx.Err() != nil {
			return r.giveUp(ctx, w, start)
		} else if !r.sleep(ctx, w, wait) {
			r.serve()
		}
	}
}

// sleep returns true if something happened before the time was over.
func (r *Router) sleep(ctx context.Context, w *waiter, wait time.Duration) bool {
	w.slept = true
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-w.ready:
	case <-ctx.Done():
	case <-timer.C:
		return false
	}
	return true
}

// waited is for how long the call was held back since start: what planning takes is no
// wait.
func (w *waiter) waited(start time.Time) time.Duration {
	if !w.slept {
		return 0
	}
	return time.Since(start)
}

// giveUp takes a call out of the queue. One that was served meanwhile goes on.
func (r *Router) giveUp(ctx context.Context, w *waiter, start time.Time) (Plan, error) {
	p, served := r.queue.leave(w)
	p.Waited = w.waited(start)
	if served {
		return p, nil
	}
	waited, err := p.Waited, ctx.Err()
	if deadline, ok := ctx.Deadline(); ok && err == nil && !time.Now().Before(deadline) {
		err = context.DeadlineExceeded // its timer is about to say so
	}
	for i := range p.Refused {
		if why := p.Refused[i].Why; why == WhyConcurrency || why == WhyRateLimit {
			return p, &SaturatedError{Endpoint: p.endpoint.name, Model: w.req.Model, Waited: waited, Refused: p.Refused, Err: err}
		}
	}
	none := &NoRouteError{
		Endpoint: p.endpoint.name, Model: w.req.Model, Avoid: w.req.Avoid,
		Waited: waited, Until: p.Until, Refused: p.Refused, Err: err,
	}
	if p.onlyOtherFormats() {
		none.Format = w.req.Format
	}
	return p, none
}

// patience returns how long to wait before looking again, or false if that would be
// in vain. Some limits end nobody knows when. For a refused key nobody waits: it is
// more likely to be refused again.
func (p *Plan) patience(deadline time.Time) (time.Duration, bool) {
	var until time.Time
	for _, e := range p.Refused {
		if e.Why == WhyKeyRefused {
			continue
		}
		end := e.Until
		if end.IsZero() {
			end = deadline
		}
		if until.IsZero() || end.Before(until) {
			until = end
		}
	}
	if until.IsZero() || until.After(deadline) || !time.Now().Before(deadline) {
		return 0, false
	}
	return max(time.Until(until), time.Millisecond), true
}

// enqueue puts a call at the end of the line, and serves those in it.
func (r *Router) enqueue(req Request) *waiter {
	w := &waiter{router: r, req: req, ready: make(chan struct{})}
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	r.queue.line = append(r.queue.line, w)
	r.queue.waiting.Add(1)
	r.serveLocked()
	return w
}

// serve gives places to those who wait, if there are any. Called whenever one may
// have become free, with no lock held.
func (r *Router) serve() {
	if r.queue.waiting.Load() == 0 {
		return
	}
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	r.serveLocked()
}

func (r *Router) serveLocked() {
	var failed []*waiter // one for each thing that is wanted in vain
	r.queue.line = slices.DeleteFunc(r.queue.line, func(w *waiter) bool {
		for _, f := range failed {
			if f.want() == w.want() {
				w.plan = f.plan
				return false
			}
		}
		if w.plan = w.router.book(w.req); len(w.plan.Choices) == 0 {
			failed = append(failed, w)
			return false
		}
		w.served = true
		close(w.ready)
		r.queue.waiting.Add(-1)
		return true
	})
}

// look returns the latest plan of a call and whether it was served.
func (q *queue) look(w *waiter) (Plan, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return w.plan, w.served
}

// leave is like look, and takes a call out of the line that was not served.
func (q *queue) leave(w *waiter) (Plan, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.line, w); i >= 0 {
		q.line = slices.Delete(q.line, i, i+1)
		q.waiting.Add(-1)
	}
	return w.plan, w.served
}

// book plans, and takes the first place that is to be had.
func (r *Router) book(req Request) Plan {
	now := time.Now()
	p := Plan{router: r, endpoint: r.endpoint(req.Endpoint), request: req}
	p.make(now)
	for i := range p.Choices {
		c := &p.Choices[i]
		q := c.way.route.account.quota
		if q == nil {
			toFront(p.Choices, i)
			return p
		}
		why, until := q.take(now, r.demand(c.way.route, &req, now))
		if why == "" {
			held := *c.way
			held.hold = &hold{quota: q}
			c.way = &held
			toFront(p.Choices, i)
			return p
		}
		p.refuse(c.way.route, refusal{why, until})
	}
	p.Choices = nil
	return p
}

// Release gives back the place that the first choice of a plan by [Router.Wait]
// has, unless it was started. It may be called more than once, and for any plan.
func (p Plan) Release() {
	if len(p.Choices) == 0 || !p.Choices[0].hold().use() {
		return
	}
	p.Choices[0].hold().quota.release(time.Now(), 0)
	p.router.serve()
	p.router.events.flush()
}

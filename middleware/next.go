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

// find waits for a route and takes a place on it.
func (r *race) find() (router.Choice, *router.Flight, error) {
	for {
		if err := r.await(); err != nil {
			return router.Choice{}, nil, err
		}
		if choice, flight, ok := r.board(); ok {
			return choice, flight, nil
		}
		// Other calls were quicker, everywhere: the next plan knows.
	}
}

// await plans the call. Where no route may be taken now it waits for one: its
// turn at the limits, or the end of a cooldown.
func (r *race) await() error {
	r.plan.Release()
	plan, err := r.set.router.Wait(r.ctx, r.asks)
	r.rec.Waited += plan.Waited
	r.plan, r.next, r.untried, r.bottom = plan, 0, false, false
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
		if r.unwanted(choice) {
			if r.next == 1 {
				r.plan.Release() // the place that it has is not wanted
			}
			continue
		}
		if flight, err := r.set.router.Start(choice, r.asksFor(choice.Model)); err == nil {
			return choice, flight, true
		}
	}
	return router.Choice{}, nil, false
}

// another is like board; where the last fault was a key's, it looks at the
// target's other keys too, and then at the endpoint's next models.
func (r *race) another(cause router.Cause) (router.Choice, *router.Flight, bool) {
	choice, flight, ok := r.board()
	if !ok && (cause == router.CauseKey || cause == router.CauseRateLimit) {
		asks := r.asks
		asks.Model, asks.KeepModel = r.plan.Model(), true
		r.replan(asks)
		r.untried = true
		choice, flight, ok = r.board()
	}
	for !ok && r.descend() {
		choice, flight, ok = r.board()
	}
	return choice, flight, ok
}

// descend goes on to the endpoint's next model, once no route of this one is left. A
// provider that could not serve this model may well serve that one.
func (r *race) descend() bool {
	if !r.mayDescend() {
		return false
	}
	asks := r.asks
	asks.After, asks.Avoid = r.plan.Model(), ""
	r.replan(asks)
	r.bottom = len(r.plan.Choices) == 0
	if !r.bottom {
		r.asks.Avoid = ""
	}
	return !r.bottom
}

func (r *race) mayDescend() bool {
	return len(r.budget.Models) > 0 && !r.asks.KeepModel && !r.bottom
}

func (r *race) replan(asks router.Request) {
	r.plan.Release()
	r.plan, r.next, r.untried = r.set.router.Plan(asks), 0, false
}

// unwanted reports whether the choice is of no use to this call.
func (r *race) unwanted(choice router.Choice) bool {
	return r.avoids(choice) || r.untried && r.tried(choice.Target, choice.Key())
}

// avoids reports whether the choice's provider cannot serve this request.
func (r *race) avoids(choice router.Choice) bool {
	return r.asks.Avoid != "" && r.set.upstreams[choice.Target].Provider == r.asks.Avoid
}

// launch starts an attempt.
func (r *race) launch(choice router.Choice, flight *router.Flight, hedge bool) {
	in := r.inFor(choice.Model)
	a := &attempt{
		call: r.liveCall, in: in, up: r.set.upstreams[choice.Target], key: choice.Key(),
		flight: flight, start: time.Now(), abandon: flight.Abandon(), hedge: hedge,
		limit: in.capFor(flight), probe: choice.Probe(),
	}
	if a.probe {
		a.detach(r.ctx, r.req.Context())
	} else {
		a.ctx, a.cancel = context.WithCancelCause(r.ctx)
	}
	a.traced = a.way.follow(a.ctx, a.start, r.set.trace)
	r.attempts = append(r.attempts, a)
	r.asks.Attempts++
	r.failed = nil
	r.enlist(a)
	r.hedgeAt = r.plan.HedgeFrom
	r.t.running.Add(1)
	go a.run()
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
	case remedy == otherMaker && r.asks.Avoid != "" && !r.mayDescend():
		return false // that was tried
	case remedy == otherMaker && r.asks.Avoid != "":
		r.next = len(r.plan.Choices) // on to the next model
	case remedy == otherMaker:
		r.asks.Avoid = a.up.Provider
	}
	if choice, flight, ok := r.another(j.cause); ok {
		// The first step to a healthy route is always made: that is what other
		// targets are for. All else is rationed.
		if (len(r.attempts) > 1 || choice.LastResort()) && !r.t.retries.take() {
			r.forgo(flight)
			return false
		}
		r.launch(choice, flight, false)
		return true
	}
	other := j.cause == router.CauseKey || remedy == otherMaker && r.othersRefused() // another target may come back in time
	pause := j.cause != router.CauseRateLimit && !other                              // a cooldown is pause enough
	switch {
	case remedy != again && !other, r.rounds+1 >= r.tries, pause && r.pauses+1 >= maxTries, !r.t.retries.take():
		return false
	}
	r.rounds++
	r.resume = time.Now()
	if pause {
		r.resume = r.resume.Add(retryPause << r.pauses)
		r.pauses++
	}
	return true
}

// othersRefused reports whether there is a target that could serve the call if it
// were available.
func (r *race) othersRefused() bool {
	return slices.ContainsFunc(r.plan.Refused, func(e router.UnavailableError) bool {
		return r.set.upstreams[e.Target].Provider != r.asks.Avoid
	})
}

// forgo gives a place back.
func (r *race) forgo(flight *router.Flight) {
	r.set.router.Report(router.Report{Flight: flight, Outcome: Lost})
}

// again plans anew after a pause.
func (r *race) again() (*http.Response, error, bool) {
	choice, flight, err := r.find()
	if err == nil {
		r.launch(choice, flight, false)
		return nil, nil, false
	}
	if r.ctx.Err() != nil {
		return nil, r.abort(causeOf(r.ctx, r.req.Context())), true
	}
	resp, err := r.lose()
	return resp, err, true
}

package middleware

import (
	"context"
	"time"

	"github.com/ontime-llm/ontime/internal/ratelimit"
)

// detach makes an attempt that outlives its call, if it loses: a probe. Were it
// cancelled with the call, a route that has become well and is slower than others
// would never be found out. Until then it ends when something ends the call, other
// than an answer.
func (a *attempt) detach(call, callers context.Context) {
	a.ctx, a.cancel = context.WithCancelCause(context.WithoutCancel(call))
	a.tied = context.AfterFunc(call, func() {
		if cause := causeOf(call, callers); isOurs(cause) || callers.Err() != nil {
			a.cancel(cause)
		}
	})
}

// linger leaves a probe that has lost under way until it has content, or would have
// been abandoned. For its call it is over. It reports false if it was already.
func (a *attempt) linger() bool {
	if !a.closed.CompareAndSwap(false, true) {
		return false
	}
	a.given = true
	a.open(errLost)
	a.tied()
	left := time.AfterFunc(a.abandon-time.Since(a.start), func() { a.cancel(ErrAbandoned) })
	closing := context.AfterFunc(a.call.t.ended, func() { a.cancel(ErrClosed) })
	context.AfterFunc(a.ctx, func() {
		left.Stop()
		closing()
	})
	a.lingers.Store(true)
	if a.over.Load() { // it came to something at the same time: only the first report counts
		a.lingered()
	}
	if a.hasContent.Load() {
		a.cancel(errLost)
	}
	return true
}

// lingered reports what became of a probe that had lost. It runs at the end of the
// attempt's goroutine.
func (a *attempt) lingered() {
	fault := a.fault
	if a.hasContent.Load() {
		fault = errLost // that it came is known
	}
	r := Attempt{Outcome: outcomeOf(fault), Err: fault, Total: time.Since(a.start)}
	limits := ratelimit.Info{}
	switch {
	case fault == nil && a.event != nil:
		recordWhole(&r, a.event)
	case a.resp != nil:
		limits = a.limits
	}
	a.report(&r, limits)
}

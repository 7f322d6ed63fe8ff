package middleware

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/internal/ratelimit"
	"github.com/ontime-llm/ontime/router"
)

// causeOf is why ctx has ended: our own reason, or the error of the caller's
// context. What cause the caller gave is the caller's: it is not judged here.
// Nil: it has not ended.
func causeOf(ctx, callers context.Context) error {
	cause := context.Cause(ctx)
	if cause == nil || isOurs(cause) || callers.Err() == nil {
		return cause
	}
	return callers.Err()
}

func isOurs(cause error) bool {
	return slices.ContainsFunc(ourReasons, func(reason error) bool { return cause == reason })
}

// ourReasons are why we end an attempt or a call ourselves.
var ourReasons = []error{errLost, ErrNoContent, errTail, ErrAbandoned, ErrStalled, ErrDeadline, ErrBodyClosed, ErrClosed}

// outcomeOf says how an attempt ended that fault ended.
func outcomeOf(fault error) Outcome {
	if fault == nil {
		return Completed
	}
	if _, ok := errors.AsType[*ConnectError](fault); ok {
		return Failed // also where it is a timeout of the transport's own
	}
	switch {
	case errors.Is(fault, errLost):
		return Lost
	case errors.Is(fault, ErrAbandoned), errors.Is(fault, ErrStalled), errors.Is(fault, ErrNoContent),
		errors.Is(fault, ErrDeadline), errors.Is(fault, context.DeadlineExceeded):
		return TimedOut
	case errors.Is(fault, ErrBodyClosed), errors.Is(fault, ErrClosed), errors.Is(fault, context.Canceled):
		return Cancelled
	default:
		return Failed
	}
}

// end closes the books with all that was measured, unless they are. It runs
// where the meter may be read: in the attempt's goroutine, or in the race once
// it was told.
func (a *attempt) end(fault error) {
	if r := a.measured(fault); r != nil {
		a.report(r, a.limits)
	}
}

// measured writes the record, unless there is one.
func (a *attempt) measured(fault error) *Attempt {
	a.books.Lock()
	defer a.books.Unlock()
	if !a.closed.CompareAndSwap(false, true) {
		return nil
	}
	a.kept = true
	r := a.open(fault)
	r.Server = a.server
	switch {
	case a.stream != nil:
		a.stream.meter.record(r)
		if fault == nil {
			r.Total = a.stream.meter.end
		}
	case a.event != nil:
		recordWhole(r, a.event)
	}
	if r.Warning == "" && a.overran(&r.Usage) {
		r.Warning = warnPast
	}
	a.remember()
	r.Cost = a.up.price(a.in.asks.Model).Cost(r.Usage.Input, r.Usage.CachedInput, r.Usage.Output)
	return r
}

// remember notes who made a stored answer, for the calls that will name it.
func (a *attempt) remember() {
	id := ""
	switch {
	case a.stream != nil:
		id = a.stream.meter.id
	case a.event != nil:
		id = string(a.event.ID)
	}
	a.call.t.states.remember(id, a.up.Name)
}

// giveUp ends an attempt that is still under way: how far it came is known,
// what its goroutine is measuring is not. It reports false if the attempt was
// over already.
func (a *attempt) giveUp(fault error) bool {
	if !a.closed.CompareAndSwap(false, true) {
		return false
	}
	a.given = true
	a.cancel(fault)
	a.report(a.open(fault), ratelimit.Info{})
	return true
}

// open starts the record.
func (a *attempt) open(fault error) *Attempt {
	a.record = Attempt{
		Target: a.up.Name, Region: a.up.Region, Provider: a.up.Provider, Address: a.up.address,
		Model: a.up.model(a.in.asks.Model), Fallback: a.in.fallback(a.call.in),
		Hedge: a.hedge, Start: a.start.Sub(a.call.rec.Start), Outcome: outcomeOf(fault), Err: fault,
		Headers: time.Duration(a.headers.Load()), Status: int(a.status.Load()), MaxTokens: a.limit,
		Total: time.Since(a.start), Timing: a.way.timing(),
	}
	return &a.record
}

// minRetryAfter is what "at once" is taken for, so that nobody spins.
const minRetryAfter = 100 * time.Millisecond

func headroom(b ratelimit.Bucket) router.Headroom {
	return router.Headroom{Known: b.Known, Limit: b.Limit, Left: b.Remaining, Reset: b.Reset}
}

// report teaches the router.
func (a *attempt) report(r *Attempt, limits ratelimit.Info) {
	rep := router.Report{
		Flight: a.flight, Outcome: r.Outcome, Elapsed: time.Since(a.start),
		TTFT: r.TTFT, TPOT: r.TPOT, Total: r.Total,
		PromptTokens: r.Usage.Input, CachedTokens: r.Usage.CachedInput, OutputTokens: r.Usage.Output,
		ReasoningTokens: r.Usage.Reasoning,
		ServedModel:     r.ServedModel,
		Cause:           judge(r.Err).cause, Reason: briefly(r.Err),
		Requests: headroom(limits.Requests), Tokens: headroom(limits.Tokens),
	}
	if rep.Cause == router.CauseAbsent && len(a.in.asks.State) > 0 {
		rep.Cause = router.CauseCaller // what it names is absent, perhaps, and not the model
	}
	if limits.Told {
		rep.RetryAfter = max(limits.RetryAfter, minRetryAfter)
	}
	if r.Usage.Estimated {
		rep.OutputTokens = 0
	}
	a.call.set.router.Report(rep)
}

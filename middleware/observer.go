package middleware

import "context"

// Observer is told of every call when it is over: first of its attempts, in
// their order, then of the call. Its methods run on the goroutine that ended the
// call, which may be one of ours: they have to be quick, must not panic, and
// must not close the client. They may run concurrently. What they are given is
// theirs to read, not to change.
type Observer interface {
	ObserveAttempt(Attempt)
	ObserveCall(Call)
}

// ContextObserver is an Observer whose ObserveCallContext is called in place of ObserveCall.
// The context is the one that the application made the call with, and may have ended: it is
// for its values, such as the span that the call is part of.
type ContextObserver interface {
	Observer
	ObserveCallContext(context.Context, Call)
}

// CallFunc is an Observer of calls alone.
type CallFunc func(Call)

// ObserveAttempt does nothing: a Call carries its attempts.
func (CallFunc) ObserveAttempt(Attempt) {}

// ObserveCall calls f.
func (f CallFunc) ObserveCall(c Call) { f(c) }

// observers tells several in order.
type observers []Observer

func (os observers) observe(ctx context.Context, c Call) {
	for _, o := range os {
		for _, a := range c.Attempts {
			o.ObserveAttempt(a)
		}
		if of, ok := o.(ContextObserver); ok {
			of.ObserveCallContext(ctx, c)
		} else {
			o.ObserveCall(c)
		}
	}
}

var _ Observer = CallFunc(nil)

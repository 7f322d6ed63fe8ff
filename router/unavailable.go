package router

import (
	"fmt"
	"strings"
	"time"
)

// Why a route may not be taken now, as [UnavailableError.Why] has it.
const (
	WhyOpen        = "breaker open"      // it failed, or was slow for too long
	WhyProbing     = "breaker half-open" // another call is finding out, or this one is too large to do so
	WhyCooling     = "cooling down"      // the provider said to wait
	WhyKeyRefused  = "key refused"       // none of its API keys is accepted
	WhyRateLimit   = "rate limit"        // of Limits.RequestsPerMinute or TokensPerMinute
	WhyConcurrency = "concurrency limit" // of Limits.Concurrent
	WhyAllowance   = "hedge allowance"   // the endpoint's share of calls that may be hedged is used up
	WhyExplored    = "explored"          // another call has just done so
	WhyUnplanned   = "not of a plan"     // the choice was made by no plan
)

// UnavailableError says why an attempt cannot take a route now. The call goes to its
// next choice. It is no failure of anything, and is not to be reported.
type UnavailableError struct {
	Target, Model string
	Why           string    // one of the constants above
	Until         time.Time // when it may be well again; zero: not known
}

// Error names the route, and says why and until when it may not be taken.
func (e *UnavailableError) Error() string {
	s := fmt.Sprintf("target %q is not available for model %q: %s", e.Target, e.Model, e.Why)
	if !e.Until.IsZero() {
		s += " until " + e.Until.UTC().Format("15:04:05.000Z")
	}
	return s
}

// SaturatedError says that every route was at a limit of its own for as long as the
// call could wait: raise [Target.Limits] if the provider allows more, add a target,
// or send less.
type SaturatedError struct {
	Endpoint, Model string
	Waited          time.Duration
	Refused         []UnavailableError // what held back each route in the end
	Err             error              // the context's; nil if no place would have come in time
}

// Error says how long the call waited, and what held back each route.
func (e *SaturatedError) Error() string {
	return fmt.Sprintf("endpoint %q: every route for model %q is at its limit, waited %v: %s",
		e.Endpoint, e.Model, e.Waited.Round(time.Millisecond), listRefused(e.Refused))
}

// Unwrap returns the context's error, if that ended the wait.
func (e *SaturatedError) Unwrap() error { return e.Err }

// NoRouteError says that no route can be taken before the call's deadline, or at all.
type NoRouteError struct {
	Endpoint, Model string
	Format          string // the call's, if targets would serve it in another; else empty
	Avoid           string // the provider that would not do; empty: none
	Waited          time.Duration
	Until           time.Time          // when one may be well again, past the deadline; zero: not known
	Refused         []UnavailableError // what holds back each route; none: no target may serve the call
	Err             error              // the context's, if it ended meanwhile
}

// Error says what holds back each route or, where no target may serve the call, what to
// change.
func (e *NoRouteError) Error() string {
	switch {
	case e.Format != "":
		return fmt.Sprintf("endpoint %q: no target may serve model %q in the format %q: add a target that takes it, or add it to the formats of one that does",
			e.Endpoint, e.Model, e.Format)
	case len(e.Refused) > 0:
		return fmt.Sprintf("endpoint %q: no route for model %q%s comes back before the deadline: %s",
			e.Endpoint, e.Model, otherThan(e.Avoid), listRefused(e.Refused))
	case e.Avoid != "":
		return fmt.Sprintf("endpoint %q: no target%s may serve model %q, and that one cannot serve the call: let another provider's target serve the model",
			e.Endpoint, otherThan(e.Avoid), e.Model)
	}
	return fmt.Sprintf("endpoint %q: no target may serve model %q: name the model in a target's models, or check the endpoint's targets",
		e.Endpoint, e.Model)
}

// otherThan names a provider that will not do, if there is one.
func otherThan(provider string) string {
	if provider == "" {
		return ""
	}
	return fmt.Sprintf(" of a provider other than %q", provider)
}

// Unwrap returns the context's error, if that ended the wait.
func (e *NoRouteError) Unwrap() error { return e.Err }

func listRefused(refused []UnavailableError) string {
	var all []string
	for i := range refused {
		all = append(all, refused[i].Error())
	}
	return strings.Join(all, "; ")
}

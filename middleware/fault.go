package middleware

import (
	"errors"
	"net/http"
)

// remedy is what may be tried after an attempt's fault, before any content.
type remedy uint8

const (
	stop      remedy = iota // the call ends with it
	elsewhere               // another route
	again                   // another route, or the same one a little later
)

// remedyFor decides by the fault alone:
//
//	no response, cut, empty, not an answer, redirect    another route, then again
//	408, 409, 425, 5xx                                  another route, then again
//	429                                                 another route
//	401, 402, 403, 404                                  another route: it is this target's affair
//	other 4xx                                           none: the caller's own mistake
//
// An error inside a 200 stream counts as the status it amounts to.
func remedyFor(fault error) remedy {
	provider, ok := errors.AsType[*ProviderError](fault)
	if !ok {
		return again
	}
	switch status := provider.Status; {
	case status == http.StatusTooManyRequests,
		status == http.StatusUnauthorized, status == http.StatusPaymentRequired,
		status == http.StatusForbidden, status == http.StatusNotFound:
		return elsewhere
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		return again
	case status >= 400 && status < 500:
		return stop
	default:
		return again
	}
}

// blameless reports whether a fault says nothing about the route: the request
// itself was wrong.
func blameless(fault error) bool {
	provider, ok := errors.AsType[*ProviderError](fault)
	return ok && remedyFor(fault) == stop && provider.Status != 0
}

package middleware

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ontime-llm/ontime/router"
)

// remedy is what may be tried after an attempt's fault, before any content.
type remedy uint8

const (
	stop       remedy = iota // the call ends with it
	otherMaker               // a route of another provider, once
	elsewhere                // another route
	again                    // another route, or the same one a little later
)

// judgement is what a fault means for the call and for the route.
type judgement struct {
	remedy remedy
	cause  router.Cause
}

// judge decides by the fault alone. An error inside a 200 stream counts as the
// status that it amounts to.
//
//	fault                                                 the call goes on to                   blamed
//	no response, cut, empty, not an answer, redirect      another route, then again             the route
//	408, 409, 425, 5xx                                    another route, then again             the route
//	429                                                   another route, or waits               the key, for a while
//	401, 402, 403, and 429 for a used-up quota            another key or route, or waits        the key, until it is well
//	404                                                   a route of another provider, once     the route, in the choice
//	400 or 413 with a code for: model not found,          a route of another provider, once     nobody
//	  parameter not supported, context too long
//	other 4xx, an answer too large to hold                nothing: the caller's own mistake     nobody
func judge(fault error) judgement {
	if errors.Is(fault, ErrTooLarge) {
		return judgement{stop, router.CauseCaller}
	}
	e, ok := errors.AsType[*ProviderError](fault)
	if !ok {
		return judgement{again, router.CauseRoute}
	}
	switch e.Status {
	case http.StatusTooManyRequests:
		if e.isOneOf(quotaCodes) {
			return judgement{elsewhere, router.CauseKey}
		}
		return judgement{again, router.CauseRateLimit}
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return judgement{elsewhere, router.CauseKey}
	case http.StatusNotFound:
		return judgement{otherMaker, router.CauseAbsent}
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return judgement{again, router.CauseRoute}
	}
	switch {
	case e.Status < 400 || e.Status >= 500:
		return judgement{again, router.CauseRoute}
	case e.Status != http.StatusUnprocessableEntity && e.isOneOf(unfitCodes):
		return judgement{otherMaker, router.CauseCaller}
	default:
		return judgement{stop, router.CauseCaller}
	}
}

// Codes of a quota that no waiting brings back.
var quotaCodes = []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"}

// Codes of a request that one provider cannot serve and another may.
var unfitCodes = []string{
	"model_not_found", "DeploymentNotFound", "unsupported_model", "model_not_supported",
	"unsupported_parameter", "unsupported_value", "context_length_exceeded", "string_above_max_length",
}

func (e *ProviderError) isOneOf(codes []string) bool {
	return slices.Contains(codes, e.Code) || slices.Contains(codes, e.Type)
}

// blameless reports whether a fault is the request's own.
func blameless(fault error) bool {
	cause := judge(fault).cause
	return cause == router.CauseCaller || cause == router.CauseAbsent
}

// briefly is a provider's error in the few words that events and snapshots have
// room for.
func briefly(fault error) string {
	e, ok := errors.AsType[*ProviderError](fault)
	if !ok {
		return ""
	}
	code := e.Code
	if code == "" {
		code = e.Type
	}
	return strings.TrimSpace(strconv.Itoa(e.Status) + " " + code)
}

package load

import (
	"errors"
	"strconv"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// failure is what kind of end a call came to, in a few words of ours; empty if it was
// answered. direct: a first request that failed is a failure, whatever followed.
func failure(call *middleware.Call, direct bool) string {
	switch {
	case direct && len(call.Attempts) > 0 && call.Attempts[0].Outcome != middleware.Completed:
		return kind(call.Attempts[0].Err, call.Attempts[0].Outcome)
	case call.Outcome == middleware.Completed:
		return ""
	default:
		return kind(call.Err, call.Outcome)
	}
}

// kinds are our own errors, in the words of a table.
var kinds = []struct {
	err  error
	name string
}{
	{middleware.ErrTruncated, "cut off"},
	{middleware.ErrEmpty, "empty"},
	{middleware.ErrNotAnswer, "no answer"},
	{middleware.ErrRedirect, "redirect"},
	{middleware.ErrStalled, "stalled"},
	{middleware.ErrNoTarget, "no target"},
	{middleware.ErrBadRequest, "bad request"},
	{middleware.ErrTooLarge, "too large"},
}

func kind(err error, outcome middleware.Outcome) string {
	if e, ok := errors.AsType[*middleware.ProviderError](err); ok && e.Status > 0 {
		return "HTTP " + strconv.Itoa(e.Status)
	}
	if e, ok := errors.AsType[*middleware.ConnectError](err); ok {
		return e.Error()
	}
	if outcome == middleware.TimedOut {
		return "timeout"
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.name
		}
	}
	if _, ok := errors.AsType[*router.SaturatedError](err); ok {
		return "at its limit"
	}
	if _, ok := errors.AsType[*router.NoRouteError](err); ok {
		return "no route"
	}
	if _, ok := errors.AsType[*middleware.AuthError](err); ok {
		return "auth failed"
	}
	return "other"
}

package otel

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/ontime-llm/ontime/middleware"
)

// operationOf is the conventions' name for what a call asked for.
func operationOf(c *middleware.Call) string {
	if op, ok := operations[c.Format]; ok {
		return op
	}
	return "chat"
}

// providerOf is the conventions' name for whose target it is. Where nobody tells, it is the
// one whose format the call has, as for a client that is pointed at a proxy.
func providerOf(c *middleware.Call, a *middleware.Attempt) string {
	if a != nil {
		if p := known(a); p != "" {
			return p
		}
	}
	if c.Format == "messages" {
		return "anthropic"
	}
	return "openai"
}

// known is the provider that the target's configuration or its host tells; empty if neither
// does.
func known(a *middleware.Attempt) string {
	if p, ok := providers[a.Provider]; ok {
		return p
	}
	host, _, err := net.SplitHostPort(a.Address)
	if err != nil {
		host = a.Address
	}
	for _, h := range hosts {
		if strings.HasSuffix(host, h.suffix) {
			return h.provider
		}
	}
	// A server of one's own has its host in place of a provider, and speaks somebody's format.
	if strings.HasPrefix(a.Address, a.Provider) {
		return ""
	}
	return a.Provider
}

// kindOf is why the attempt with the index i was made.
func kindOf(a *middleware.Attempt, i int) string {
	switch {
	case a.Hedge:
		return "hedge"
	case i > 0:
		return "failover"
	}
	return "first"
}

// finishReason is the call's, "error" where there should have been one; empty where there
// is none to be had.
func finishReason(c *middleware.Call) string {
	switch {
	case c.FinishReason != "" || c.Outcome == middleware.Completed || len(c.Attempts) == 0:
		return c.FinishReason
	case operationOf(c) == embeddings:
		return ""
	}
	return finishError
}

// told reports whether it was the provider that counted.
func told(u *middleware.Usage) bool { return !u.Estimated && u.Input+u.Output > 0 }

// words are for what we decided, and for what is no HTTP status.
var words = []struct {
	err  error
	word string
}{
	{middleware.ErrUnknownEndpoint, "unknown_endpoint"},
	{middleware.ErrNoTarget, "no_target"},
	{middleware.ErrBadRequest, "bad_request"},
	{middleware.ErrTooLarge, "too_large"},
	{middleware.ErrTruncated, "truncated"},
	{middleware.ErrEmpty, "empty"},
	{middleware.ErrNotAnswer, "not_answer"},
	{middleware.ErrRedirect, "redirect"},
	{middleware.ErrAbandoned, "abandoned"},
	{middleware.ErrStalled, "stalled"},
	{middleware.ErrNoContent, "no_content"},
	{middleware.ErrDeadline, "deadline"},
	{middleware.ErrClosed, "client_closed"},
}

// errorWord is a status or a word of ours for how a call or an attempt ended; empty if that
// was no error.
func errorWord(outcome middleware.Outcome, err error) string {
	if outcome == middleware.Completed || outcome == middleware.Lost {
		return ""
	}
	for _, w := range words {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	if e, ok := errors.AsType[*middleware.ProviderError](err); ok {
		if e.Status >= 100 && e.Status < 600 {
			return strconv.Itoa(e.Status)
		}
		return "provider_error"
	}
	if _, ok := errors.AsType[*middleware.AuthError](err); ok {
		return "auth"
	}
	if _, ok := errors.AsType[*middleware.ConnectError](err); ok {
		return "connect"
	}
	switch {
	case outcome == middleware.Cancelled:
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return otherError
}

const maxText = 128 // bytes

// clip bounds what callers and providers choose.
func clip(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), maxText)], "")
}

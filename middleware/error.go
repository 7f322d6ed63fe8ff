package middleware

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// What we decided, as opposed to what a provider said. Each is found by
// errors.Is in the error of a call.
var (
	// ErrUnknownEndpoint: the endpoint that the call names has no budget. Add
	// it to the configuration, or correct the name.
	ErrUnknownEndpoint = errors.New("unknown endpoint")
	// ErrNoTarget: no target that the endpoint allows serves the model, or none of
	// them speaks the call's format.
	ErrNoTarget = errors.New("no target serves this model for this endpoint")
	// ErrForeignOrigin: the request is addressed to an origin that is not ours
	// to route. Drop the per-call base URL.
	ErrForeignOrigin = errors.New("request is not addressed to this client")
	// ErrForeignCredential: the request carries a credential that is not this
	// client's. Credentials belong to targets, in the configuration.
	ErrForeignCredential = errors.New("request carries a credential of its own")
	// ErrAdmin: an administration call, and the home target has no admin key.
	ErrAdmin = errors.New("administration call without an admin key on the home target")
	// ErrBadRequest: the body cannot be read as what its path says, or a header
	// cannot be sent; nothing was sent.
	ErrBadRequest = errors.New("request cannot be read")
	// ErrTooLarge: a request body, an event of a stream, or an answer in place of
	// a stream, beyond what may be buffered.
	ErrTooLarge = errors.New("too large to be kept")
	// ErrTruncated: the answer ended in its middle.
	ErrTruncated = errors.New("answer was cut off")
	// ErrEmpty: the answer ended before any content.
	ErrEmpty = errors.New("answer was empty")
	// ErrNotAnswer: the response is no answer at all, such as a proxy's page.
	ErrNotAnswer = errors.New("response is not an answer")
	// ErrRedirect: the target answered with a redirect, which is never
	// followed: it would take the credential along.
	ErrRedirect = errors.New("target redirected the request")
	// ErrAbandoned: no content came in the time that a target is given while
	// another is left.
	ErrAbandoned = errors.New("no content in time, another target was tried")
	// ErrStalled: an answer's content stopped coming for minutes, whatever else
	// came. It was cut off.
	ErrStalled = errors.New("content stopped coming")
	// ErrNoContent: nothing came within 10 minutes, and nobody had set a
	// deadline.
	ErrNoContent = errors.New("no content within 10 minutes")
	// ErrDeadline: the endpoint's own deadline passed.
	ErrDeadline = errors.New("endpoint's deadline passed")
	// ErrBodyClosed: the answer was read after its body was closed.
	ErrBodyClosed = errors.New("answer was closed before its end")
	// ErrClosed: the client is closed.
	ErrClosed = errors.New("client is closed")
)

// Error is how a call ends that has no HTTP response to give, or whose stream
// broke. Err says why, Attempts what was tried; nothing in its text is a
// provider's: a provider's own words are in [ProviderError], for errors.As.
type Error struct {
	Endpoint string
	Model    string
	Target   string    // the last one tried, or the one that the stream came from; empty: nothing was sent
	Attempts []Attempt // what was tried, with what was measured
	Err      error     // the cause
}

// Error names the endpoint, the cause, and each attempt that failed.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("ontime: ")
	if e.Endpoint != "" {
		fmt.Fprintf(&b, "endpoint %s: ", printable(e.Endpoint))
	}
	b.WriteString(e.Err.Error())
	if len(e.Attempts) > 0 {
		b.WriteString(" (tried ")
		for i, a := range e.Attempts {
			if i > 0 {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%s: %s", a.Target, a.reason())
		}
		b.WriteString(")")
	}
	return b.String()
}

// printable quotes a name that would break a line of a log: an unknown endpoint's can
// be anything.
func printable(name string) string {
	if quoted := strconv.Quote(name); len(quoted) > len(name)+len(`""`) {
		return quoted
	}
	return name
}

// unknownEndpoint lists some of those that there are.
func unknownEndpoint(known []string) error {
	const most = 10
	more := ""
	if len(known) > most {
		more = fmt.Sprintf(" and %d more", len(known)-most)
		known = known[:most]
	}
	return fmt.Errorf("%w: the configuration has %s%s", ErrUnknownEndpoint, strings.Join(known, ", "), more)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// reason is one attempt's end in a few of our own words.
func (a *Attempt) reason() string {
	after := a.Total.Round(time.Millisecond)
	if a.Err == nil {
		return fmt.Sprintf("%s after %s", a.Outcome, after)
	}
	return fmt.Sprintf("%v after %s", a.Err, after)
}

// ProviderError is an error that a provider reported: by an HTTP status, or
// inside a stream. Its text carries status, type and code. Message is the
// provider's own and may quote the prompt or a key: it is for the caller, and
// is never logged or counted by this package.
type ProviderError struct {
	Target  string
	Status  int    // of HTTP, or what the error inside a stream amounts to; 0 unknown
	Type    string // at most 64 of [A-Za-z0-9._-]
	Code    string // likewise
	Message string `json:"-"`
}

func newProviderError(target string, info *dialect.ErrorInfo) *ProviderError {
	return &ProviderError{
		Target: target, Status: info.Status,
		Type: info.Type, Code: info.Code, Message: string(info.Message),
	}
}

// Error leaves Message out.
func (e *ProviderError) Error() string {
	var parts []string
	if e.Status != 0 {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))))
	}
	if e.Type != "" {
		parts = append(parts, "type "+e.Type)
	}
	if e.Code != "" && e.Code != e.Type {
		parts = append(parts, "code "+e.Code)
	}
	if len(parts) == 0 {
		return "provider reported an error"
	}
	return "provider reported " + strings.Join(parts, ", ")
}

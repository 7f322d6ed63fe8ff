package middleware

import (
	"errors"
	"net/http"
	"strings"
)

var errMoved = errors.New("it changed where the request goes")

// AuthError is a credential that could not be put on a request: the target's Auth
// failed, or it changed the request's scheme, host or port. Nothing was sent, and
// a call goes on to another target. Its text is ours, since the cause's may
// quote a token.
type AuthError struct {
	Target string
	Err    error `json:"-"` // the cause
}

// Error says what happened, not why.
func (e *AuthError) Error() string {
	if errors.Is(e.Err, errMoved) {
		return "target's Auth failed: " + errMoved.Error()
	}
	return "target's Auth failed"
}

// Unwrap returns the cause.
func (e *AuthError) Unwrap() error { return e.Err }

// sign adds what is this target's alone, and makes sure that authorize did not
// send it elsewhere. The error is an [*AuthError].
func (u *Upstream) sign(r *http.Request, authorize func(*http.Request, int) error, key int) error {
	for name, values := range u.Header {
		r.Header[name] = values[:len(values):len(values)] // authorize may append
	}
	if authorize == nil {
		return nil
	}
	if err := authorize(r, key); err != nil {
		return &AuthError{Target: u.Name, Err: err}
	}
	if !sameOrigin(r.URL, u.BaseURL) || r.Host != "" && !strings.EqualFold(r.Host, u.BaseURL.Host) {
		return &AuthError{Target: u.Name, Err: errMoved}
	}
	return nil
}

package middleware

import (
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// pass sends a request that is not inference to one target, and its response
// back. Nothing is measured, retried or buffered, redirects are not followed,
// and an upgraded connection is the caller's.
func (t *Transport) pass(r *http.Request, to destination) (*http.Response, error) {
	authorize := to.up.Authorize
	if admin(to.path) {
		if authorize = to.up.AuthorizeAdmin; authorize == nil {
			closeBody(r)
			return nil, &Error{Target: to.up.Name, Err: ErrAdmin}
		}
	}
	out := r.Clone(r.Context())
	out.URL = to.up.resolve(to.path, r.URL.RawQuery)
	out.Host = out.URL.Host
	out.Header = travelling(r.Header)
	if upgrade := r.Header["Upgrade"]; len(upgrade) > 0 {
		out.Header["Connection"], out.Header["Upgrade"] = []string{"Upgrade"}, upgrade
	}
	if err := to.up.sign(out, authorize, 0); err != nil {
		closeBody(r)
		if ended := r.Context().Err(); ended != nil {
			return nil, ended
		}
		return nil, &Error{Target: to.up.Name, Err: err}
	}
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		if ended := r.Context().Err(); ended != nil {
			return nil, ended
		}
		return nil, &Error{Target: to.up.Name, Err: &ConnectError{Target: to.up.Name, Err: err}}
	}
	resp.Request = r
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, nil
	}
	mark(resp.Header, to.up.Name, 1)
	secrets := secretsOf(out.Header, r.Header)
	secrets.redactHeader(resp.Header)
	if resp.StatusCode >= 400 {
		redactBody(resp, secrets)
	}
	t.watchMade(r, resp, to.up.Name)
	return resp, nil
}

// redactBody takes a quoted credential out of an error that is passed on.
func redactBody(resp *http.Response, secrets secrets) {
	start, err := io.ReadAll(io.LimitReader(resp.Body, maxFault))
	start = secrets.redact(start)
	rest := io.Reader(resp.Body)
	if err != nil {
		rest = brokenReader{err}
	}
	resp.Body = &heldBody{Reader: io.MultiReader(bytes.NewReader(start), rest), Closer: resp.Body}
	resp.ContentLength = -1
	resp.Header.Del("Content-Length")
}

// brokenReader is a reader that has failed.
type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

// mark makes an upstream's response header one that the caller may see.
func mark(h http.Header, target string, attempts int) {
	for name := range h {
		if upstreamHeaders[textproto.CanonicalMIMEHeaderKey(name)] || strings.HasPrefix(name, "X-Ontime-") {
			delete(h, name)
		}
	}
	h.Set("X-Ontime-Target", target)
	h.Set("X-Ontime-Attempts", strconv.Itoa(attempts))
	h.Set("X-Should-Retry", "false") // every retry that makes sense has been made
}

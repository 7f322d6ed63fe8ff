package middleware

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ontime-llm/ontime/router"
)

// Upstream is how to send to one target: where, as whom, and in which
// spelling. It is not changed after it was given to a Transport.
type Upstream struct {
	Name string // the target's, as the router knows it
	// Provider tells whose the target is: some refusals are worth a try with
	// another provider.
	Provider string
	Region   string   // for calls and logs
	BaseURL  *url.URL // with version path; its query goes with every request; never nil
	// Deployments has calls go to deployments/MODEL below BaseURL, as Azure's dated
	// API has it. Other requests lie right below BaseURL.
	Deployments bool
	// Authorize puts the target's credential on a request that is otherwise
	// complete: the one of its keys that the router chose. It runs once per
	// request and must not change the origin; if it fails, or does, nothing is
	// sent ([AuthError]). Nil: the target wants none.
	Authorize func(r *http.Request, key int) error
	// AuthorizeAdmin does the same for administration calls, whose key is not the
	// router's to choose. Nil: refused.
	AuthorizeAdmin func(r *http.Request, key int) error
	Header         http.Header       // sent with every request to this target alone
	Models         map[string]string // as the application names it -> as this target does; absent: unchanged
	// CapName is the member in which chat completions take their token cap
	// here. Empty: as the caller spells it, or else as the model does by its name.
	CapName string
	// AskUsage asks for usage at the end of a stream when the caller did not
	// (stream_options.include_usage), and takes the extra chunk out again.
	AskUsage bool
	Price    router.Price            // of models that Prices does not list
	Prices   map[string]router.Price // by model, as the application names it

	address string // of BaseURL
}

// address is the host and port of a URL.
func address(u *url.URL) string { return net.JoinHostPort(u.Hostname(), port(u)) }

// model is the name under which this target knows an application's model.
func (u *Upstream) model(name string) string {
	if own, ok := u.Models[name]; ok {
		return own
	}
	return name
}

// price is what the target charges for a model, as the application names it.
func (u *Upstream) price(model string) router.Price {
	if p, ok := u.Prices[model]; ok {
		return p
	}
	return u.Price
}

// callPath is where a call goes, escaped, below the base URL.
func (u *Upstream) callPath(in *inference) string {
	if u.Deployments {
		return "deployments/" + url.PathEscape(u.model(in.asks.Model)) + "/" + in.path
	}
	return in.path
}

// request makes the request of one attempt: the caller's headers that may
// travel, this target's own, its address and its credential. The error is an
// [*AuthError].
func (u *Upstream) request(ctx context.Context, from *http.Request, path string, body []byte, key int) (*http.Request, error) {
	r := (&http.Request{
		Method: from.Method, URL: u.resolve(path, from.URL.RawQuery),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: travelling(from.Header),
	}).WithContext(ctx)
	r.Host = r.URL.Host
	if body != nil {
		r.ContentLength = int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
	}
	return r, u.sign(r, u.Authorize, key)
}

// resolve joins an escaped path below the base URL, and a caller's query with
// the target's own, which wins.
func (u *Upstream) resolve(path, query string) *url.URL {
	to := join(u.BaseURL, path)
	if query == "" {
		return to
	}
	own := u.BaseURL.Query()
	for key, values := range parseQuery(query) {
		if !own.Has(key) {
			own[key] = values
		}
	}
	to.RawQuery = own.Encode()
	return to
}

func parseQuery(query string) url.Values {
	values, _ := url.ParseQuery(query) // what does not parse does not travel
	return values
}

// sameOrigin compares scheme, host and effective port.
func sameOrigin(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if strings.EqualFold(u.Scheme, "http") {
		return "80"
	}
	return "443"
}

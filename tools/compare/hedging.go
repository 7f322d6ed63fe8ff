package main

import (
	"net/http"
	"time"

	"github.com/cristalhq/hedgedhttp"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/hedgepolicy"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
)

const (
	never     = time.Hour              // hedges that are not to happen
	bestDelay = 110 * time.Millisecond // the best fixed one for the server's times, in hindsight
)

// hedgers are those that are compared by what their hedges save.
func hedgers() []subject {
	return []subject{
		{"openai-go, no hedge", dialPlain(nil)},
		{"hedgedhttp", dialPlain(hedged(bestDelay, false))},
		{"hedgedhttp, body mended", dialPlain(hedged(bestDelay, true))},
		{"failsafe-go", dialPlain(failsafe(bestDelay))},
		{"ontime, 10% hedges", dialOntime(0.1, inTime)},
	}
}

// hedged puts hedgedhttp around a transport. Its attempts share one body, so that the
// second of a POST goes out without; mended gives each its own.
func hedged(delay time.Duration, mended bool) func(http.RoundTripper) (http.RoundTripper, error) {
	return func(next http.RoundTripper) (http.RoundTripper, error) {
		if mended {
			next = ownBody{next}
		}
		return hedgedhttp.NewRoundTripper(delay, 2, next)
	}
}

type ownBody struct{ next http.RoundTripper }

func (o ownBody) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = body
	}
	return o.next.RoundTrip(r)
}

func failsafe(delay time.Duration) func(http.RoundTripper) (http.RoundTripper, error) {
	return func(next http.RoundTripper) (http.RoundTripper, error) {
		return failsafehttp.NewRoundTripper(next, hedgepolicy.NewWithDelay[*http.Response](delay)), nil
	}
}

// The promises that are made of ontime: none that matter, and those that the server's
// times allow.
var (
	easy   = budget.Budget{TTFT: budget.Layers{50: 300 * time.Millisecond, 95: 600 * time.Millisecond}, Total: budget.Layers{99: time.Minute}}
	inTime = budget.Budget{TTFT: budget.Layers{95: 100 * time.Millisecond, 99: 150 * time.Millisecond, 99.9: 220 * time.Millisecond}}
)

// dialOntime is this library with two targets, which are one server.
func dialOntime(hedge float64, chat budget.Budget) func(string) (caller, func(), error) {
	return func(base string) (caller, func(), error) {
		if chat.Hedge = hedge; hedge == 0 {
			chat.Hedge = -1
		}
		c, err := client.New(client.Config{
			Targets:   []client.Target{{Name: "one", BaseURL: base, APIKey: "k"}, {Name: "two", BaseURL: base, APIKey: "k"}},
			Endpoints: map[string]budget.Budget{"chat": chat},
			Grace:     -1,
		})
		if err != nil {
			return nil, nil, err
		}
		return through(c.Endpoint("chat")), func() { _ = c.Close() }, nil
	}
}

package middleware

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/router"
)

const defaultGrace = 10 * time.Second

// Config is what a Transport needs.
type Config struct {
	Router    *router.Router
	Upstreams []Upstream // one for each of the router's targets
	// Home serves what is not inference, and calls that name state of an unknown
	// target. It is one of Upstreams.
	Home string
	// Shadow plans every call and sends it to Home all the same. Call.Planned
	// has what would have been chosen.
	Shadow bool
	// Ceilings are the most output tokens that models can write, by the name that
	// the application has for each. A model that is not among them has none.
	Ceilings map[string]int
	// Origin is the only origin that requests may be addressed to, such as
	// https://ontime.invalid. See [Transport.Foreign] for the exception.
	Origin *url.URL
	// Placeholder is the only credential that a request may come with. It is
	// no secret.
	Placeholder string
	// Base sends the attempts. Nil: http.DefaultTransport.
	Base      http.RoundTripper
	Observers []Observer
	// Trace has every attempt's Timing complete, for some 10 allocations each.
	Trace bool
	// TraceID returns the id of the trace that a call is part of, for Call.TraceID;
	// empty if there is none. It is given the context of the call's request. Nil: no
	// call has one.
	TraceID func(context.Context) string
	// Explain is asked, once the first attempt of a call of that endpoint is under way
	// (with Shadow: before it), whether Call.Reason is wanted, which takes some 40 us. It
	// may be asked concurrently. Reload leaves it alone. Nil: no call has one.
	Explain func(endpoint string) bool
	// Grace is how long Close lets calls go on. 0: 10 s; negative: not at all.
	Grace time.Duration
}

// Transport is an http.RoundTripper that measures, caps, routes and fails over
// each inference call, and answers as a single provider would. It is safe for
// concurrent use, never changes the caller's request, and always closes its
// body.
type Transport struct {
	set         atomic.Pointer[set] // that calls enter under
	origin      *url.URL
	placeholder string
	base        http.RoundTripper
	observers   observers
	traceID     func(context.Context) string
	explains    func(endpoint string) bool

	states  *states
	manners mannersBook
	retries allowance

	mu      sync.Mutex
	calls   map[*liveCall]struct{} // not yet sealed
	closing bool
	idle    chan struct{}   // closed when closing and no call is left
	ended   context.Context // when Close does not wait any longer
	end     context.CancelCauseFunc
	running sync.WaitGroup // races, and attempts' goroutines
}

// NewTransport returns a Transport, or an error if a part of cfg is missing.
// Nothing is sent.
func NewTransport(cfg Config) (*Transport, error) {
	t := &Transport{
		origin: cfg.Origin, placeholder: cfg.Placeholder, base: cfg.Base, observers: cfg.Observers,
		traceID: cfg.TraceID, explains: cfg.Explain,
		states: newStates(), calls: make(map[*liveCall]struct{}), idle: make(chan struct{}),
	}
	t.ended, t.end = context.WithCancelCause(context.Background())
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	if t.origin == nil {
		return nil, errors.New("middleware: Config needs Origin")
	}
	s, err := newSet(cfg)
	if err != nil {
		return nil, err
	}
	t.set.Store(s)
	return t, nil
}

// RoundTrip serves a request of the endpoint that its context names (see
// [budget.With]), or else of "default".
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.serve(r, "", false)
}

// Endpoint returns a face of the Transport whose calls all belong to one
// endpoint. An endpoint without a budget makes calls fail with
// [ErrUnknownEndpoint].
func (t *Transport) Endpoint(name string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) { return t.serve(r, name, false) })
}

// Foreign returns a face for other SDKs than openai-go. Inference calls may
// also be addressed to one of the targets' base URLs, and are routed like any
// other. What is not inference must lie under one target's base URL, and goes
// to that target; to send it home would hand it home's credential.
func (t *Transport) Foreign() http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) { return t.serve(r, "", true) })
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (t *Transport) serve(r *http.Request, endpoint string, foreign bool) (*http.Response, error) {
	s := t.set.Load()
	to, err := t.admit(s, r, foreign)
	if err != nil {
		closeBody(r)
		return nil, &Error{Err: err}
	}
	if d, path, ok := inferencePath(r); ok {
		return t.infer(s, r, endpoint, d, path)
	}
	if t.isClosing() {
		closeBody(r)
		return nil, &Error{Err: ErrClosed}
	}
	return t.pass(r, to)
}

func (t *Transport) isClosing() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closing
}

// infer serves one call.
func (t *Transport) infer(s *set, r *http.Request, endpoint string, d dialect.Dialect, path string) (*http.Response, error) {
	if endpoint == "" {
		endpoint = budget.Endpoint(r.Context())
	}
	if endpoint == "" {
		endpoint = router.DefaultEndpoint
	}
	c, err := t.newCall(s, r, endpoint, d)
	if !t.enter(c) {
		closeBody(r)
		return nil, c.refuse(ErrClosed)
	}
	defer t.running.Done()
	if err == nil {
		err = c.prepare(d, path)
	}
	if err != nil {
		closeBody(r)
		return nil, c.refuse(err)
	}
	return c.run()
}

// enter counts a call as under way, unless the Transport is closing.
func (t *Transport) enter(c *liveCall) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closing {
		t.calls[c] = struct{}{}
		t.running.Add(1) // until its race is over: Close has to wait for attempts that it may yet start
	}
	return !t.closing
}

// forget takes a sealed call out.
func (t *Transport) forget(c *liveCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.calls, c)
	t.signalIdle()
}

func (t *Transport) signalIdle() {
	if t.closing && len(t.calls) == 0 {
		select {
		case <-t.idle:
		default:
			close(t.idle)
		}
	}
}

// Close refuses new calls, waits Config.Grace for those under way, then ends
// the rest, and returns when nothing of any call is running any more. It does
// not close Config.Base, nor wait for requests that are not inference.
func (t *Transport) Close() error {
	t.mu.Lock()
	t.closing = true
	t.signalIdle()
	t.mu.Unlock()
	if grace := t.set.Load().grace; grace > 0 {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-t.idle:
		case <-timer.C:
		}
	}
	for _, c := range t.underWay() {
		c.cancel(ErrClosed)
	}
	t.end(ErrClosed)
	t.running.Wait()
	return nil
}

func (t *Transport) underWay() []*liveCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	calls := make([]*liveCall, 0, len(t.calls))
	for c := range t.calls {
		calls = append(calls, c)
	}
	return calls
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}

var (
	_ http.RoundTripper = (*Transport)(nil)
	_ http.RoundTripper = roundTripper(nil)
)

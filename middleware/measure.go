package middleware

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/dialect"
)

// Option configures [Meter] and [MeterTransport].
type Option func(*gauge)

// Observe tells o of every call.
func Observe(o Observer) Option {
	return func(g *gauge) { g.observers = append(g.observers, o) }
}

// As names the target in calls and attempts. Without it the name is the host
// that the request goes to.
func As(target string) Option {
	return func(g *gauge) { g.target = target }
}

// Trace fills every attempt's [Timing], for some 15 allocations each.
func Trace() Option {
	return func(g *gauge) { g.trace = true }
}

// TraceID fills Call.TraceID, as [Config.TraceID] does.
func TraceID(of func(context.Context) string) Option {
	return func(g *gauge) { g.traceID = of }
}

// Meter returns a middleware that measures every inference call of a plain
// openai.Client, and changes nothing: not a byte of the request, the response,
// or their errors. Each of the SDK's own retries is a call of its own. What is no
// inference passes, and so does a request whose length is not told beforehand, or that is
// no JSON.
//
//	client := openai.NewClient(option.WithMiddleware(middleware.Meter(
//		middleware.Observe(middleware.CallFunc(func(c middleware.Call) { ... })))))
func Meter(opts ...Option) option.Middleware {
	g := newGauge(opts)
	return func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) { return g.measure(r, next) }
}

// MeterTransport does for any SDK what [Meter] does for openai-go. A nil next
// is http.DefaultTransport.
func MeterTransport(next http.RoundTripper, opts ...Option) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	g := newGauge(opts)
	return roundTripper(func(r *http.Request) (*http.Response, error) { return g.measure(r, next.RoundTrip) })
}

// gauge measures the calls of one client.
type gauge struct {
	observers observers
	target    string
	trace     bool
	traceID   func(context.Context) string
}

func newGauge(opts []Option) *gauge {
	g := new(gauge)
	for _, opt := range opts {
		opt(g)
	}
	return g
}

func (g *gauge) measure(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	d, path, ok := inferencePath(r)
	if !ok || r.ContentLength < 0 || r.ContentLength > maxRequest {
		return next(r)
	}
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	again := withBody(r, body)
	asks, err := d.Request(body)
	if err != nil {
		return next(again) // the provider's to refuse
	}
	c := g.newCall(r, &inference{dialect: d, path: path, body: body, asks: asks})
	if g.trace {
		again = again.WithContext(c.way.follow(r.Context(), c.rec.Start, true))
	}
	resp, err := next(again)
	if resp != nil && resp.Request == again {
		resp.Request = r
	}
	if err != nil {
		c.seal(c.broken(err))
		return resp, err
	}
	c.attempt.Headers = max(time.Since(c.rec.Start), 1)
	c.attempt.Status = resp.StatusCode
	c.attempt.Server = readServerTiming(resp.Header)
	switch {
	case resp.StatusCode/100 != 2:
		return c.httpFault(resp)
	case asks.Stream:
		c.stream(resp)
	default:
		resp.Body = &wholeTap{ReadCloser: resp.Body, call: c}
	}
	return resp, nil
}

func (g *gauge) newCall(r *http.Request, in *inference) *meteredCall {
	target := g.target
	if target == "" {
		target = r.URL.Host
	}
	c := &meteredCall{
		gauge: g, ctx: r.Context(), in: in, out: claim(r.Context()),
		rec: Call{
			Endpoint: budget.Endpoint(r.Context()), Format: formatOf(in.dialect), Model: in.asks.Model, Target: target,
			Streamed: in.asks.Stream, MaxTokens: in.askedCap(), AskedTokens: in.askedCap(), Start: time.Now(),
		},
		attempt: Attempt{Target: target, Address: address(r.URL), Model: in.asks.Model, MaxTokens: in.askedCap()},
	}
	if g.traceID != nil {
		c.rec.TraceID = g.traceID(r.Context())
	}
	return c
}

// httpFault reads an HTTP error and puts it back.
func (c *meteredCall) httpFault(resp *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxFault))
	resp.Body = &heldBody{Reader: io.MultiReader(bytes.NewReader(body), resp.Body), Closer: resp.Body}
	if err != nil {
		c.seal(c.broken(err))
		return resp, nil
	}
	info := dialect.ReadError(body)
	info.Status = resp.StatusCode
	c.seal(c.providerError(&info))
	return resp, nil
}

// stream puts a pump between the response's body and its reader.
func (c *meteredCall) stream(resp *http.Response) {
	s := newStream(resp.Body, c.in, c.rec.Start, c)
	ctx, stop := context.WithCancelCause(c.ctx)
	s.stop, s.done = stop, ctx.Done()
	c.tapped = s
	resp.Body = &tapBody{call: c, stream: s, src: resp.Body}
	go func() {
		defer stop(nil)
		s.tap()
		s.release()
	}()
}

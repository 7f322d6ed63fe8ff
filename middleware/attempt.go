package middleware

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/ratelimit"
	"github.com/ontime-llm/ontime/router"
)

const (
	maxAnswer = 64 << 20 // a whole answer is kept until it is known to be good
	maxFault  = 1 << 20  // of an HTTP error's body
)

// attempt is one request to one route. Its goroutine sends it, reads the
// answer to its end and tells the race once: it failed, or it has content.
type attempt struct {
	call   *liveCall
	in     *inference // the call's, for the attempt's model
	up     *Upstream
	key    int // which of the target's
	limit  int // its token cap; 0: none
	flight *router.Flight
	start  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc

	way    way
	traced context.Context // ctx, with the way's hooks

	// Readable at any time, for an attempt that is given up.
	headers atomic.Int64 // ns after start; 0: none came
	status  atomic.Int32

	// Set before the race is told.
	resp    *http.Response
	stream  *stream        // an answer that streams,
	body    []byte         // or one that is whole, or an HTTP error's
	event   *dialect.Event // what a whole answer says
	rest    *remainder     // of a whole answer that is too large to be kept
	fault   error          // why there is no answer
	limits  ratelimit.Info // what the response said of them
	server  ServerTiming   // and of the provider's times
	secrets secrets        // the request's, which are kept out of what comes back

	// The race's alone.
	hedge   bool          // another ran when it started
	abandon time.Duration // age at which it may be given up; 0: never
	given   bool          // was given up
	probe   bool          // it finds out about its route
	tied    func() bool   // cuts a probe from its call

	// The attempt's books, once they are closed.
	closed atomic.Bool
	record Attempt
	kept   bool // by the attempt itself: it was not given up

	left  bool       // its stream is through; guarded by call.mu
	books sync.Mutex // held while end writes record

	over, lingers, hasContent atomic.Bool // of a probe that lost, see linger
}

// run is the attempt's goroutine.
func (a *attempt) run() {
	defer a.call.t.running.Done()
	defer a.cancel(nil)
	if fault := a.exchange(); fault != nil || a.stream == nil {
		a.fault = fault
		if a.rest != nil {
			a.hasContent.Store(true)
		}
		a.tell()
		if a.rest != nil && !a.lingers.Load() {
			a.rest.await(a.ctx.Done())
		}
	} else {
		a.settle()
	}
	if a.resp != nil {
		a.resp.Body.Close()
	}
	a.over.Store(true)
	if a.lingers.Load() {
		a.lingered()
	}
}

// settle follows a stream that the caller has. Once the provider is through the
// call is over too, even if nobody reads on.
func (a *attempt) settle() {
	if !a.kept {
		return // given up at the same time: the call goes on without it
	}
	if a.record.Outcome == Completed {
		a.stream.drain()
	}
	a.call.leave(a)
}

// tell lets the race know. The channel has room for every attempt of a call.
func (a *attempt) tell() { a.call.news <- a }

// exchange sends the request and reads the answer. A stream has told the race
// by itself when it returns nil.
func (a *attempt) exchange() error {
	in, book := a.in, &a.call.t.manners
	m := book.of(a.up, in.asks.Model)
	resp, err := a.send(in.payload(a.up, m, a.limit))
	if err != nil {
		return err
	}
	for range 3 { // so much of ours it may refuse
		other, ok := m.mend(resp.StatusCode, a.body, in, a.up, a.limit)
		if !ok {
			break
		}
		m = other
		if resp, err = a.send(in.payload(a.up, m, a.limit)); err != nil {
			return err
		}
		if resp.StatusCode < 400 {
			book.learn(a.up, in.asks.Model, m)
		}
	}
	a.resp = resp
	switch {
	case resp.StatusCode/100 == 3:
		return ErrRedirect
	case resp.StatusCode/100 != 2:
		return a.httpFault()
	case in.asks.Stream:
		return a.readStream(in.asksUsage(a.up, m))
	default:
		return a.readWhole(nil)
	}
}

// send sends one body. Of an HTTP error the body is read too.
func (a *attempt) send(body []byte) (*http.Response, error) {
	resp, err := a.roundTrip(body)
	if err != nil {
		return nil, err
	}
	a.secrets.redactHeader(resp.Header)
	a.limits = ratelimit.Read(resp.Header, resp.StatusCode, time.Now())
	a.server = readServerTiming(resp.Header)
	a.headers.Store(int64(max(time.Since(a.start), 1)))
	a.status.Store(int32(resp.StatusCode))
	if resp.StatusCode >= 400 {
		a.body, err = readAll(resp.Body, resp.ContentLength, maxFault)
		a.body = a.secrets.redact(a.body)
		if err != nil && !errors.Is(err, ErrTooLarge) {
			return nil, a.broken(err)
		}
	}
	return resp, nil
}

// roundTrip sends the request. One that was lost on a connection from the pool,
// before any byte of an answer, is sent once more: the server had closed it.
func (a *attempt) roundTrip(body []byte) (*http.Response, error) {
	for again := false; ; again = true {
		req, err := a.up.request(a.traced, a.call.req, a.up.callPath(a.in), body, a.key)
		if err != nil {
			return nil, cmp.Or(causeOf(a.ctx, a.call.req.Context()), err)
		}
		a.secrets = secretsOf(req.Header, a.call.req.Header)
		a.way.again()
		resp, err := a.call.t.base.RoundTrip(req)
		if err == nil {
			return resp, nil
		}
		if again || !a.way.reused() || a.in.asks.SideEffects || a.ctx.Err() != nil {
			return nil, a.broken(err)
		}
	}
}

// broken is a transport's error, or our own reason for having ended it.
func (a *attempt) broken(err error) error {
	if cause := causeOf(a.ctx, a.call.req.Context()); cause != nil {
		return cause
	}
	return &ConnectError{Target: a.up.Name, Err: err}
}

func (a *attempt) httpFault() error {
	info := dialect.ReadError(a.body)
	info.Status = a.resp.StatusCode
	return a.providerError(&info)
}

func (a *attempt) providerError(info *dialect.ErrorInfo) error {
	info.Message = a.secrets.redact(info.Message) // of an error inside a stream too
	return newProviderError(a.up.Name, info)
}

// readStream pumps an answer that was asked for as a stream.
func (a *attempt) readStream(hideUsage bool) error {
	s := newStream(a.resp.Body, a.in, a.start, a)
	s.stop, s.done, s.hideUsage = a.cancel, a.ctx.Done(), hideUsage
	s.meter.bound = boundOf(a.limit, a.in.asks.N)
	a.stream = s
	fault := s.pump()
	s.release()
	if errors.Is(fault, errNotStream) {
		a.stream = nil
		return a.readWhole(s.sniffed)
	}
	return fault
}

// content tells the router, and the race, that the first content is there; the
// race alone, if a good answer ended without any.
func (a *attempt) content() {
	if ttft := a.stream.meter.firstContent; ttft > 0 {
		a.flight.Content(ttft)
	}
	a.hasContent.Store(true)
	if a.lingers.Load() {
		a.cancel(errLost)
	}
	a.tell()
}

// readWhole reads an answer that comes in one piece, of which start has been
// read already, and makes sure that it is one.
func (a *attempt) readWhole(start []byte) error {
	in := a.in
	src := io.MultiReader(bytes.NewReader(start), a.resp.Body)
	body, err := readAll(io.NopCloser(src), a.resp.ContentLength, maxAnswer)
	if errors.Is(err, ErrTooLarge) && !in.asks.Stream { // as a stream it would have to be rewritten
		a.body, a.rest = body, &remainder{src: src, over: make(chan struct{})}
		return nil
	}
	a.resp.Body.Close()
	if errors.Is(err, ErrTooLarge) {
		return ErrTooLarge
	}
	if err != nil {
		return a.broken(err)
	}
	ev := new(dialect.Event)
	switch err := in.dialect.Answer(body, ev); {
	case len(bytes.TrimSpace(body)) == 0:
		return ErrEmpty
	case err != nil:
		return ErrNotAnswer
	case ev.Err.Present:
		return a.providerError(&ev.Err)
	case !ev.Content && ev.Finish == "" && in.dialect != dialect.Embeddings && in.dialect != dialect.Responses:
		return ErrEmpty // a response may be still under way in the background
	}
	a.body, a.event = body, ev
	if in.asks.Stream {
		a.body = in.asStream(body)
	}
	a.end(nil)
	return nil
}

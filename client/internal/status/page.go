package status

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// Page is the status page of one client. It is a middleware.Observer of the calls
// that it shows, and an http.Handler. It is safe for concurrent use.
type Page struct {
	snapshot func() router.Snapshot

	opened  atomic.Bool
	since   atomic.Int64 // when it was, in Unix ns
	viewers atomic.Int32
	calls   ring
	books   books
	history history

	closing sync.Once
	closed  chan struct{}
}

// New returns a page about what snapshot returns, which is called concurrently.
func New(snapshot func() router.Snapshot) *Page {
	return &Page{snapshot: snapshot, books: books{all: make(map[string]*book)}, closed: make(chan struct{})}
}

// Open has calls noted from now on.
func (p *Page) Open() {
	if p.since.CompareAndSwap(0, time.Now().UnixNano()) {
		p.opened.Store(true)
	}
}

// Close ends the streams of all viewers. What is known can still be asked for.
func (p *Page) Close() { p.closing.Do(func() { close(p.closed) }) }

// Wants tells whether a call of the endpoint is to say why it went where it did: one
// a second is.
func (p *Page) Wants(endpoint string) bool {
	return p.opened.Load() && p.books.of(endpoint).wantsReason(time.Now())
}

// ObserveAttempt does nothing: a call carries its attempts.
func (p *Page) ObserveAttempt(middleware.Attempt) {}

// ObserveCall notes a call that has ended.
func (p *Page) ObserveCall(c middleware.Call) {
	if !p.opened.Load() {
		return
	}
	now := time.Now()
	p.calls.add(callOf(&c))
	if !isStray(&c) {
		p.books.of(c.Endpoint).enter(&c, now)
	}
	if p.history.due(now) {
		p.sample(p.snapshot())
	}
}

// sample keeps what a snapshot tells of the routes, and forgets endpoints that are
// gone.
func (p *Page) sample(s router.Snapshot) {
	p.history.add(&s)
	p.books.keep(s.Endpoints)
}

var _ middleware.Observer = (*Page)(nil)

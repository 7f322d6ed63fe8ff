package router

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

const (
	shareEvery   = time.Second      // how often others' blobs are looked for
	sealEvery    = 5 * time.Second  // how long a span is that is told of as one
	helloEvery   = 15 * time.Second // how often a replica says at least that it is there
	shareTimeout = 2 * time.Second  // of one request to the store
	shareStale   = 5 * time.Second  // without an exchange after which others are not waited for
	replicaGone  = time.Minute      // without a blob after which a replica does not count

	firstRetry = time.Second
	lastRetry  = 30 * time.Second

	mostPending = 60  // blobs that wait for the store; the oldest make room
	fetchLimit  = 500 // blobs at a time
	mostFetches = 64  // in a row; the rest is for the next exchange

	mostReplicas     = 1024
	replicaForgotten = 2 * time.Hour // by then the store has nothing of it any more
)

// sharing is how a router tells other replicas what it sees, and learns what they do.
// The nil sharing does neither. All but its atomics and status belongs to the goroutine of
// [Router.Share].
type sharing struct {
	store    *guardedStore
	replica  uint64
	router   atomic.Pointer[Router] // the latest; see [Router.Reload]
	running  atomic.Bool
	made     time.Time
	lastSync atomic.Int64 // in nanoseconds since then; 0: none
	urgent   atomic.Bool  // there is something that should not wait for the end of the span
	wake     chan struct{}
	random   *rand.Rand

	seq       uint64
	sealed    time.Time // the end of the latest span
	pending   []parcel
	published time.Time     // when the latest blob was
	offset    time.Duration // of the local clock from the store's
	cursor    string
	newest    time.Time // of the blobs that were fetched, by the store's clock
	replicas  map[uint64]*replica
	told      map[layerName]toldLayer
	heard     map[*route]*hearsay // in the exchange under way

	failures int // in a row
	retry    time.Time

	mu    sync.Mutex // guards state
	state SharedStatus
}

// parcel is a blob without its header, which says how old it is.
type parcel struct {
	seq  uint64
	end  time.Time // of its span
	span time.Duration
	body []byte
}

type replica struct {
	seq   uint64 // of its latest blob
	heard time.Time
}

func newSharing(s Store) *sharing {
	if s == nil {
		return nil
	}
	id := rand.Uint64()
	return &sharing{
		store:    guardStore(s),
		replica:  id,
		made:     time.Now(),
		wake:     make(chan struct{}, 1),
		random:   rand.New(rand.NewPCG(id, 0)),
		replicas: make(map[uint64]*replica),
		told:     make(map[layerName]toldLayer),
		heard:    make(map[*route]*hearsay),
		state:    SharedStatus{On: true, Lost: true, Why: "there was no exchange yet"},
	}
}

// serve makes r the router that shares from now on.
func (s *sharing) serve(r *Router) {
	if s != nil {
		s.router.Store(r)
	}
}

// Share exchanges what the replicas of a fleet see, through [Config.Shared], until the
// context has ended. It returns at once if there is no such store, or if it runs already.
// It goes on for whatever the router is reloaded into. Plans and reports never wait for
// it, and if the store fails all goes on with what this process sees itself.
func (r *Router) Share(ctx context.Context) {
	s := r.sharing
	if s == nil || s.running.Swap(true) {
		return
	}
	defer s.running.Store(false)
	s.sealed = time.Now()
	for ctx.Err() == nil {
		s.round(ctx)
		s.pause(ctx)
	}
}

// round does what is due.
func (s *sharing) round(ctx context.Context) {
	r, now := s.router.Load(), time.Now()
	waits := now.Before(s.retry)
	if now.Sub(s.sealed) >= sealEvery || !waits && s.urgent.Swap(false) {
		s.seal(r, now)
	}
	if waits {
		return
	}
	err := s.exchange(ctx, r)
	if ctx.Err() != nil {
		return
	}
	s.settle(r, err, time.Now())
	r.serve() // a route may have been opened to those who wait
	r.events.flush()
}

// exchange publishes, fetches, and asks for probes. A store that is full still has what
// others say.
func (s *sharing) exchange(ctx context.Context, r *Router) error {
	err := s.publish(ctx)
	if s.published.IsZero() {
		return err // the store's clock is not known
	}
	if failed := s.fetch(ctx, r); failed != nil {
		return failed
	}
	if failed := s.elect(ctx, r); failed != nil {
		return failed
	}
	return err
}

// settle notes how an exchange went, and when the next one may be.
func (s *sharing) settle(r *Router, err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(now)
	if err != nil {
		s.state.Errors++
		s.failures++
		wait := min(firstRetry<<min(s.failures-1, 10), lastRetry)
		s.retry = now.Add(time.Duration((0.5 + s.random.Float64()) * float64(wait)))
		if !s.state.Lost || s.failures == 1 {
			r.events.post(Event{At: now, Key: -1, State: StateUnshared, Why: shorten(err.Error())})
		}
		s.state.Lost, s.state.Why = true, shorten(err.Error())
		return
	}
	if s.failures > 0 {
		r.events.post(Event{At: now, Key: -1, State: StateOK, Why: "replicas share what they see again"})
	}
	s.failures = 0
	s.lastSync.Store(max(int64(now.Sub(s.made)), 1))
	s.state.Lost, s.state.Why, s.state.LastSync = false, "", now
}

// forget drops replicas that are gone, and counts the others. The caller holds mu.
func (s *sharing) forget(now time.Time) {
	s.state.Replicas = 0
	for id, other := range s.replicas {
		switch silent := now.Sub(other.heard); {
		case silent > replicaForgotten:
			delete(s.replicas, id)
		case silent <= replicaGone:
			s.state.Replicas++
		}
	}
}

// pause waits until the next round: replicas should not come in step.
func (s *sharing) pause(ctx context.Context) {
	const together = 200 * time.Millisecond // what is urgent at the same time goes in one blob
	short := time.NewTimer(together)
	defer short.Stop()
	select {
	case <-ctx.Done():
		return
	case <-short.C:
	}
	rest := time.NewTimer(time.Duration((0.9+0.2*s.random.Float64())*float64(shareEvery)) - together)
	defer rest.Stop()
	select {
	case <-ctx.Done():
	case <-rest.C:
	case <-s.wake:
	}
}

// call wakes the goroutine of Share.
func (s *sharing) call() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// hurry has what happened told at once.
func (s *sharing) hurry() {
	s.urgent.Store(true)
	s.call()
}

// live tells whether other replicas can be heard now. The nil sharing is not.
func (s *sharing) live(now time.Time) bool {
	if s == nil {
		return false
	}
	last := time.Duration(s.lastSync.Load())
	return last > 0 && now.Sub(s.made)-last < shareStale
}

func (s *sharing) status() SharedStatus {
	if s == nil {
		return SharedStatus{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *sharing) count(what *uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*what++
}

// shorten keeps an error to a line that fits a page.
func shorten(why string) string {
	const most = 200
	if len(why) > most {
		return why[:most] + "..."
	}
	return why
}

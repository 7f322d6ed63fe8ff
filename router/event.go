package router

import (
	"sync"
	"sync/atomic"
	"time"
)

// Event is a change in the health of a route or of an API key, or of what a route does
// (Change). It is plain data.
type Event struct {
	At     time.Time
	Target string    // empty: it is what replicas share
	Model  string    // "other" for the shared route; empty: all models, as with a refused key
	Key    int       // index of the target's API key; -1: the route as a whole
	State  string    // what it is from now on: one of the State constants; empty with a Change
	Why    string    // one line; no secrets
	Until  time.Time // when that may end; zero: not known
	Change Change    // what has changed; zero: its health
}

// events are changes of which the hook has not been told yet. They are entered
// under whatever lock, and handed on when none is held.
type events struct {
	hook    func(Event)
	waiting atomic.Bool
	mu      sync.Mutex // guards list
	list    []Event
}

func (e *events) post(one Event) {
	if e.hook == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, one)
	e.waiting.Store(true)
}

// flush tells the hook. The caller holds no lock.
func (e *events) flush() {
	if !e.waiting.Load() {
		return
	}
	e.mu.Lock()
	list := e.list
	e.list = nil
	e.waiting.Store(false)
	e.mu.Unlock()
	for _, one := range list {
		e.hook(one)
	}
}

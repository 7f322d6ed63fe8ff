package router_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// rude is a store that panics, or returns when it likes.
type rude struct {
	*memory
	mu     sync.Mutex
	panics bool
	stuck  chan struct{} // nil: it is not
	asked  int           // while it was
}

func (s *rude) enter() {
	s.mu.Lock()
	panics, stuck := s.panics, s.stuck
	if stuck != nil {
		s.asked++
	}
	s.mu.Unlock()
	if panics {
		panic("boo")
	}
	if stuck != nil {
		<-stuck
	}
}

func (s *rude) Publish(ctx context.Context, data []byte) (time.Time, error) {
	s.enter()
	return s.memory.Publish(ctx, data)
}

func (s *rude) Fetch(ctx context.Context, cursor string, limit int) ([]router.Blob, string, error) {
	s.enter()
	return s.memory.Fetch(ctx, cursor, limit)
}

func (s *rude) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// A store that panics, or does not care for its context, is a store that is lost: it takes
// nobody with it, is told of once, and is asked for nothing more until it returns.
func TestRudeStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(events)
		s := &rude{memory: new(memory)}
		c := two(tailBudget)
		c.OnHealth, c.Shared = log.add, s
		r, err := router.New(c)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); r.Share(ctx) }()
		lost := func(want bool, why string) {
			t.Helper()
			if s := r.Snapshot().Shared; s.Lost != want || !strings.Contains(s.Why, why) {
				t.Errorf("it says %+v, want lost %t since %q", s, want, why)
			}
		}
		time.Sleep(20 * time.Second)
		lost(false, "")
		s.set(func() { s.panics = true })
		time.Sleep(20 * time.Second)
		lost(true, "panicked: boo")
		s.set(func() { s.panics = false })
		time.Sleep(time.Minute)
		lost(false, "")

		stuck := make(chan struct{})
		s.set(func() { s.stuck = stuck })
		time.Sleep(2 * time.Minute)
		lost(true, "not returned")
		s.set(func() {
			if s.stuck = nil; s.asked != 1 {
				t.Errorf("it was asked %d times while it hung, want once", s.asked)
			}
		})
		close(stuck)
		time.Sleep(time.Minute)
		lost(false, "")
		want := []string{router.StateUnshared, router.StateOK, router.StateUnshared, router.StateOK}
		if got := log.shared(); !slices.Equal(got, want) {
			t.Errorf("it told of %q, want %q", got, want)
		}

		stuck = make(chan struct{})
		s.set(func() { s.stuck = stuck })
		time.Sleep(2 * time.Second) // it is being asked
		start := time.Now()
		cancel()
		<-ended
		if took := time.Since(start); took > time.Second {
			t.Errorf("the end took %v, want a second at most", took)
		}
		close(stuck)
	})
}

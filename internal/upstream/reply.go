package upstream

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// reply is everything the server does about one request, to be played by one of its two faces.
type reply struct {
	server  *Server
	arrived time.Time
	refused bool

	headers time.Duration // age; never: no status at all
	status  int
	header  http.Header
	body    source

	// What the statistics need. last is the age of the last event of a reply that is complete or fails by itself.
	first, last time.Duration
	good        bool
	tokens      func(age time.Duration) int
	settled     sync.Once
}

// source yields the pieces of a body in order: what is written at once.
type source interface {
	// next is the age at which the next piece is due, or at which the body ends.
	next() (age time.Duration, end ending)
	// append appends that piece and goes on to the one after it. To call when there is one: its end is open.
	append(dst []byte) []byte
}

// ending is how a body ends.
type ending uint8

const (
	open   ending = iota // it goes on
	closed               // end of file
	broken               // connection reset
)

func (r *reply) age() time.Duration { return time.Since(r.arrived) }

// wait sleeps until an age. The error is the cause why the context ended, or that the body was closed.
func (r *reply) wait(ctx context.Context, age time.Duration, stop <-chan struct{}) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var due <-chan time.Time
	if age != never {
		left := age - r.age()
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(left)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
		return nil
	case <-stop:
		return http.ErrBodyReadAfterClose
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settle counts the reply, once: it has been played to its end, or nobody waits for it any longer.
func (r *reply) settle() {
	r.settled.Do(func() {
		age := r.age()
		r.server.count(func(s *Stats) {
			s.InFlight--
			switch {
			case age >= r.last && r.good:
				s.Answered++
			case age >= r.last:
				s.Failed++
			case age >= r.first:
				s.CancelledAfter++
			default:
				s.CancelledBefore++
			}
			if r.tokens != nil {
				s.Tokens += r.tokens(age)
			}
		})
	})
}

package middleware

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// maxSilence is how long a stream may bring no content once it has begun to.
// Comments and pings do not count: they say that a connection lives, not that
// an answer comes. It is long because models think in between.
const maxSilence = 5 * time.Minute

// silence ends a stream whose content has stopped coming. What it costs per
// event is one atomic store.
type silence struct {
	start time.Time
	heard atomic.Int64 // when content last came: ns after start
	held  atomic.Bool  // the pump waits for the caller: nothing can be heard

	mu     sync.Mutex
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil before the first content, and once stopped
}

// watch begins to listen. It ends the stream by cancel.
func (s *silence) watch(cancel context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
	s.timer = time.AfterFunc(maxSilence, s.check)
}

func (s *silence) hear(now time.Time) { s.heard.Store(int64(now.Sub(s.start))) }

// hold says whether the pump is waiting for the caller. The time is noted before the
// wait is over, and looked at after it in check: what the caller took is nobody's silence.
func (s *silence) hold(held bool) {
	s.hear(time.Now())
	s.held.Store(held)
}

func (s *silence) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil {
		return
	}
	held := s.held.Load()
	quiet := time.Since(s.start) - time.Duration(s.heard.Load())
	if quiet >= maxSilence && !held {
		s.cancel(ErrStalled)
		return
	}
	s.timer.Reset(max(maxSilence-quiet, time.Second))
}

func (s *silence) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

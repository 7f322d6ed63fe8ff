package middleware

import (
	"context"
	"sync"
	"testing"
	"time"
)

// A caller who has let the pump wait for long, and reads on at the instant at which the
// clock is looked at, has not made the provider silent.
func TestWhatTheCallerTookIsNoSilence(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s := silence{start: time.Now().Add(-time.Hour)}
	s.watch(cancel)
	defer s.stop()
	for range 20_000 {
		s.mu.Lock() // check may come by itself too
		s.heard.Store(0)
		s.held.Store(true)
		s.mu.Unlock()
		var looks sync.WaitGroup
		looks.Go(s.check)
		s.hold(false)
		looks.Wait()
	}
	if cause := context.Cause(ctx); cause != nil {
		t.Errorf("the stream was ended: %v", cause)
	}
}

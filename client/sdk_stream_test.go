package client_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// Close ends a Next that waits for an event, and may be called again.
func TestSDKCloseEndsAWaitingNext(t *testing.T) {
	for name, after := range map[string]time.Duration{"between two events": 1500 * ms, "in a stall": time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, slow, client.Config{}, "one")
			if name == "in a stall" {
				f.servers["one"].Script(upstream.Step{Fault: upstream.Stall, Events: 2})
			}
			ctx, call := middleware.WithCall(t.Context())
			s := f.Chat.Completions.NewStreaming(ctx, question("hello"))
			time.AfterFunc(after, func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			start := time.Now()
			for s.Next() {
			}
			if took := time.Since(start); took != after {
				t.Errorf("%s: the stream ended after %v, want %v", name, took, after)
			}
			mustBe(t, s.Err(), middleware.ErrBodyClosed)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if call.Outcome != middleware.Cancelled {
				t.Errorf("%s: the call is %v, want cancelled", name, call.Outcome)
			}
		})
	}
}

// After its end a stream yields nothing, and says the same as before.
func TestSDKStreamAfterItsEnd(t *testing.T) {
	for name, step := range map[string]upstream.Step{"whole": {}, "cut": {Fault: upstream.Cut, Events: 2}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, quick, client.Config{}, "one")
			f.servers["one"].Script(step)
			s := f.Chat.Completions.NewStreaming(t.Context(), question("hello"))
			for s.Next() {
			}
			err := s.Err()
			if s.Next() || s.Err() != err || (err == nil) != (name == "whole") {
				t.Errorf("%s: the error was %v and is %v", name, err, s.Err())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if s.Next() {
				t.Errorf("%s: a closed stream yields an event", name)
			}
		})
	}
}

// A stream that fails before anything came is an error of the stream, of the
// SDK's own type, and can be closed.
func TestSDKStreamThatNeverBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		f.servers["one"].Script(httpError(400, "bad"))
		s := f.Chat.Completions.NewStreaming(t.Context(), question("hello"))
		if s.Next() {
			t.Error("there is an event")
		}
		theirs(t, s.Err(), 400)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

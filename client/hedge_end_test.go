package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// An error of one leg starts the other at once, if it has not been started.
func TestAnErrorDoesNotWaitForTheHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, nil, "one", "two")
		f.servers["one"].Script(status(500))
		start := time.Now()
		f.answers(t, stream, f.chat(), "two")
		if took := time.Since(start); took != 200*ms {
			t.Errorf("it took %v, want 200ms", took)
		}
		if call := f.lastCall(t); call.Hedged {
			t.Errorf("a failover is no hedge: %+v", call)
		}
	})
}

// If both fail the next target is asked; if there is none, what failed last is told.
func TestBothLegsFail(t *testing.T) {
	after := func(code int, after time.Duration) upstream.Step {
		return upstream.Step{Fault: upstream.HTTPError, Set: func(b *upstream.Behaviour) { b.Faults.Status, b.Faults.After = code, after }}
	}
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, nil, "one", "two", "three")
		f.servers["one"].Script(after(500, 4*time.Second))
		f.servers["two"].Script(status(503))
		f.answers(t, stream, f.chat(), "three")
		if call := f.lastCall(t); len(call.Attempts) != 3 || call.Attempts[2].Start != 4*time.Second || call.Attempts[2].Hedge {
			t.Errorf("attempts are %+v, want a third at 4 s", call.Attempts)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, nil, "one", "two")
		f.servers["one"].Script(after(422, 4*time.Second))
		f.servers["two"].Script(status(503))
		_, err := stream(t.Context(), f.chat(), question("hello"))
		theirs(t, err, 422)
		if call := f.lastCall(t); call.Target != "one" || len(call.Attempts) != 2 {
			t.Errorf("the call is %+v, want it to stand for what failed last", call)
		}
	})
}

// Whatever ends the call ends both attempts, at that instant.
func TestBothLegsEndWithTheCall(t *testing.T) {
	var f *fleet
	for name, test := range map[string]struct {
		change  func(*budget.Budget)
		end     func(cancel func())
		outcome middleware.Outcome
	}{
		"cancel":   {nil, func(cancel func()) { cancel() }, middleware.Cancelled},
		"deadline": {func(b *budget.Budget) { b.Deadline = 6 * time.Second }, nil, middleware.TimedOut},
		"close":    {func(b *budget.Budget) { b.Abandon = time.Minute }, func(func()) { go f.Close() }, middleware.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f = hedging(t, unhurried, test.change, "one", "two")
				f.servers["one"].Script(hang(0))
				f.servers["two"].Script(hang(1))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.end != nil {
					time.AfterFunc(3*time.Second, func() { test.end(cancel) })
				}
				_, err := stream(ctx, f.chat(), question("hello"))
				if err == nil {
					t.Fatal("the call was answered")
				}
				synctest.Wait()
				for _, a := range f.lastCall(t).Attempts {
					if a.Outcome != test.outcome {
						t.Errorf("an attempt ended as %v, want %v: %+v", a.Outcome, test.outcome, a)
					}
				}
				if n := len(f.lastCall(t).Attempts); n != 2 {
					t.Errorf("%d attempts, want two", n)
				}
				for name, s := range f.servers {
					if st := s.Stats(); st.InFlight != 0 || st.OpenBodies != 0 {
						t.Errorf("%s still has %+v", name, st)
					}
				}
			})
		})
	}
}

// Of two that run either may be given up as hopeless, as long as the other runs.
func TestAbandonBesideAHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, func(b *budget.Budget) { b.Abandon = 5 * time.Second }, "one", "two")
		f.servers["one"].Script(hang(0))
		f.servers["two"].Script(late(30 * time.Second))
		f.answers(t, stream, f.chat(), "two")
		call := f.lastCall(t)
		first := call.Attempts[0]
		if len(call.Attempts) != 2 || first.Outcome != middleware.TimedOut || !errors.Is(first.Err, middleware.ErrAbandoned) {
			t.Errorf("attempts are %+v, want the first one given up and the last one left alone", call.Attempts)
		}
	})
}

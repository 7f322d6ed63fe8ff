package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// The caller's own context ends a call: the SDK returns its error, and what
// happened is in the Call.
func TestCallersContextEnds(t *testing.T) {
	for name, end := range map[string]struct {
		context func(context.Context, time.Duration) (context.Context, context.CancelFunc)
		err     error
		outcome middleware.Outcome
	}{
		"cancel": {func(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(after, cancel)
			return ctx, cancel
		}, context.Canceled, middleware.Cancelled},
		"deadline": {context.WithTimeout, context.DeadlineExceeded, middleware.TimedOut},
	} {
		for when, test := range map[string]struct {
			say      speak
			after    time.Duration
			refused  int // so many tries
			ttft     time.Duration
			attempts int
		}{
			// The first content comes after 200 ms, all of it after 500 ms.
			"before headers":          {stream, 0, 0, 0, 1},
			"before content":          {stream, 150 * ms, 0, 0, 1},
			"after content":           {stream, 250 * ms, 0, 200 * ms, 1},
			"before the whole answer": {ask, 450 * ms, 0, 0, 1},
			// The second try comes after 500 ms, the third would after 1.5 s.
			"in a pause":            {stream, 700 * ms, 2, 0, 2},
			"in a pause of a whole": {ask, 700 * ms, 2, 0, 2},
		} {
			t.Run(name+" "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newOrdered(t, steady, "one")
					for range test.refused {
						f.servers["one"].Script(upstream.Step{Fault: upstream.Refused})
					}
					ctx, call := middleware.WithCall(t.Context())
					ctx, cancel := end.context(ctx, test.after)
					defer cancel()
					start := time.Now()
					_, err := test.say(ctx, f.chat(), question("hello"))
					if took := time.Since(start); took != test.after {
						t.Errorf("it took %v, want %v", took, test.after)
					}
					mustBe(t, err, end.err)
					if test.ttft == 0 && err != end.err { // the SDK's doing, not ours
						t.Errorf("error is %v, want the context's own", err)
					}
					if test.ttft > 0 {
						ours(t, err)
					}
					checkEnded(t, call, end.outcome, end.err, test.after, test.ttft, test.attempts)
				})
			})
		}
	}
}

func checkEnded(t *testing.T, call *middleware.Call, outcome middleware.Outcome, cause error, total, ttft time.Duration, attempts int) {
	t.Helper()
	if call.Outcome != outcome || call.TTFT != ttft || call.Total != total || len(call.Attempts) != attempts {
		t.Errorf("call is %+v, want it %v after %v with %d attempts", call, outcome, total, attempts)
	}
	e := ours(t, call.Err)
	mustBe(t, e, cause)
	if e.Target != "one" || len(e.Attempts) != attempts {
		t.Errorf("the trail is %+v", e)
	}
	if last := e.Attempts[len(e.Attempts)-1]; attempts == 1 && last.Outcome != outcome {
		t.Errorf("the attempt is %v, want %v", last.Outcome, outcome)
	}
}

// A context that has ended before the call: nothing is sent.
func TestContextThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, say := range ways {
			_, err := say(ctx, f.chat(), question("hello"))
			mustBe(t, err, context.Canceled)
		}
		if n := f.allRequests(); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

// The SDK's own timeout is a deadline of the caller's, and covers the body.
func TestRequestTimeoutOfTheSDK(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, steady, "one", "two")
				start := time.Now()
				ctx, call := middleware.WithCall(t.Context())
				_, err := say(ctx, f.chat(), question("hello"), option.WithRequestTimeout(333*ms))
				mustBe(t, err, context.DeadlineExceeded)
				if took := time.Since(start); took != 333*ms || call.Outcome != middleware.TimedOut {
					t.Errorf("the call is %v after %v, want it timed out after 333ms", call.Outcome, took)
				}
			})
		})
	}
}

// A caller who has read enough closes the stream: that is no failure of
// anybody's.
func TestStreamClosedByTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, steady, "one")
		ctx, call := middleware.WithCall(t.Context())
		s := f.chat().Chat.Completions.NewStreaming(ctx, question("hello"))
		for range 4 { // the role, and three tokens
			if !s.Next() {
				t.Fatal(s.Err())
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if call.Outcome != middleware.Cancelled || call.TTFT != 200*ms || call.Attempts[0].Events != 3 || call.Total != 240*ms {
			t.Errorf("call is %+v", call)
		}
		mustBe(t, call.Err, middleware.ErrBodyClosed)
		if st := f.servers["one"].Stats(); st.InFlight != 0 || st.CancelledAfter != 1 {
			t.Errorf("the target has %+v, want its answer cancelled", st)
		}
	})
}

// Neither the caller's cancel nor its timeout is a miss of the endpoint's.
func TestCallersEndIsNoMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, upstream.Behaviour{TTFT: upstream.Latency{Median: 100 * ms}, Faults: upstream.Faults{Hang: 1}},
			client.Config{Endpoints: chatBudget()}, "one")
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
			_, err := stream(ctx, f.chat(), question("hello"))
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		for _, e := range f.Snapshot().Endpoints {
			for _, l := range e.Layers {
				if l.Missed != 0 {
					t.Errorf("%s: %s was missed %d times", e.Name, l.Layer, l.Missed)
				}
			}
		}
		for _, r := range f.Snapshot().Routes {
			if r.Attempts.TimedOut != 3 || r.InFlight != 0 {
				t.Errorf("route is %+v, want 3 timed out", r.Attempts)
			}
		}
	})
}

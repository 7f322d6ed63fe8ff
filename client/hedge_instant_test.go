package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// Two attempts of a call can come to something at the same instant. These tests put what
// happens then in a fixed order: one thread, and a transport that waits for its cue.

// piecewise is a body of which each piece waits for its time.
type piecewise struct {
	ctx    context.Context
	pieces []func(context.Context) string
}

func (b *piecewise) Read(p []byte) (int, error) {
	if len(b.pieces) == 0 {
		return 0, io.EOF
	}
	piece := b.pieces[0]
	b.pieces = b.pieces[1:]
	text := piece(b.ctx)
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return copy(p, text), nil
}

func (b *piecewise) Close() error { return nil }

func streamed(r *http.Request, pieces ...func(context.Context) string) *http.Response {
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: &piecewise{r.Context(), pieces}, ContentLength: -1, Request: r,
	}
}

func passing(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func instant(t *testing.T, weight float64, rt roundTrip) *fleet {
	return newFleet(t, unhurried, client.Config{Transport: rt, Targets: inOrder("one", "two"), Endpoints: map[string]budget.Budget{"chat": {
		TTFT: budget.Layers{95: 600 * ms, 99: 2 * time.Second}, Total: budget.Layers{99: 5 * time.Second},
		Hedge: 1, CostWeight: weight,
	}}}, "one", "two")
}

// A loser whose short answer is through before the race has heard of it ends neither the
// call nor the winner's answer.
func TestALoserThatIsThroughLeavesTheWinnerAlone(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		hedged, cue := make(chan struct{}), make(chan struct{})
		f := instant(t, 0, func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "one.test" {
				return streamed(r,
					func(ctx context.Context) string { <-hedged; passing(ctx, ms); return delta("long ") },
					func(ctx context.Context) string {
						close(cue)
						passing(ctx, time.Second)
						return delta("answer") + finish + done
					}), nil
			}
			return streamed(r, func(ctx context.Context) string {
				close(hedged)
				select {
				case <-cue:
				case <-ctx.Done():
				}
				return delta("short") + finish + done
			}), nil
		})
		text, err := stream(t.Context(), f.chat(), question("hello"))
		if err != nil || text != "long answer" && text != "short" {
			t.Errorf("answer is %q, %v", text, err)
		}
	})
}

// A probe that fails at the instant at which it loses is reported all the same.
func TestAProbeThatFailedAsItLostIsReported(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		probing, cue := false, make(chan struct{})
		f := instant(t, 10_000, func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "one.test" {
				if probing {
					<-cue
				}
				return nil, errors.New("refused")
			}
			return streamed(r,
				func(ctx context.Context) string { passing(ctx, 200*ms); return delta("good ") },
				func(ctx context.Context) string {
					if probing {
						close(cue)
						passing(ctx, time.Second)
					}
					return delta("answer") + finish + done
				}), nil
		})
		for range 5 {
			if _, err := stream(t.Context(), f.chat(), question("hello")); err != nil {
				t.Fatal(err)
			}
		}
		if s := f.status(t, "one"); s.State != router.StateOpen {
			t.Fatalf("one is %+v", s)
		}
		time.Sleep(20 * time.Second)
		probing = true
		if text, err := stream(t.Context(), f.chat(), question("hello")); err != nil || text != "good answer" {
			t.Errorf("answer is %q, %v", text, err)
		}
		synctest.Wait()
		if s := f.status(t, "one"); s.InFlight != 0 {
			t.Errorf("one has %d under way: %+v", s.InFlight, s)
		}
	})
}

// A provider that cannot serve the call gets no hedge of it either.
func TestHedgesAvoidToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := inOrder("one", "two", "three")
		targets[0].Provider, targets[1].Provider, targets[2].Provider = "openai", "groq", "openai"
		f := newFleet(t, unhurried, client.Config{Targets: targets, Endpoints: map[string]budget.Budget{"chat": {
			TTFT: budget.Layers{95: 600 * ms, 99: 2 * time.Second}, Hedge: 1,
		}}}, "one", "two", "three")
		f.servers["one"].Script(status(404))
		f.servers["two"].Script(late(4 * time.Second))
		if _, err := stream(t.Context(), f.chat(), question("hello")); err != nil || f.requests("three") != 0 {
			t.Errorf("%v; three was asked %d times", err, f.requests("three"))
		}
	})
}

// A call that runs out of time beside a leg that failed stands for the one that ran.
func TestTheDeadlineNamesTheLastTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, func(b *budget.Budget) { b.Deadline, b.Abandon = 6*time.Second, time.Minute }, "one", "two")
		f.servers["one"].Script(upstream.Step{Fault: upstream.HTTPError, Set: func(b *upstream.Behaviour) {
			b.Faults.Status, b.Faults.After = 500, 4*time.Second
		}})
		f.servers["two"].Script(hang(0))
		_, err := stream(t.Context(), f.chat(), question("hello"))
		mustBe(t, err, middleware.ErrDeadline)
		if call := f.lastCall(t); call.Target != "two" {
			t.Errorf("the call is of %s, want two", call.Target)
		}
	})
}

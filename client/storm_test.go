package client_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// stormy is a target on which everything goes wrong now and then.
var stormy = upstream.Behaviour{
	TTFT:         upstream.Latency{Median: 300 * ms, Sigma: 0.5, StragglerShare: 0.05, StragglerFactor: 20},
	Pace:         upstream.Latency{Median: 10 * ms, Sigma: 0.3},
	Output:       upstream.Length{Median: 40, Sigma: 0.7},
	EarlyHeaders: 0.5, KeepAlive: 700 * ms, EventsPerBurst: 3, Tail: 2 * ms,
	Faults: upstream.Faults{
		Refused: 0.03, HTTPError: 0.03, Hang: 0.02, Stall: 0.02, Cut: 0.03, Reset: 0.03,
		ErrorEvent: 0.03, LateError: 0.03, Empty: 0.03, HTML: 0.03,
	},
}

// counting counts what is sent to each target.
type counting struct {
	next http.RoundTripper
	mu   sync.Mutex
	sent map[string]int
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.sent[strings.TrimSuffix(r.URL.Host, ".test")]++
	c.mu.Unlock()
	return c.next.RoundTrip(r)
}

const stormCalls = 1000

// storm is a fleet in bad weather.
type storm struct {
	*fleet
	sent counting
}

// result is one call as the application saw it.
type result struct {
	text string
	err  error
	call *middleware.Call
	why  string // what the application did to it; empty: nothing
}

// TestStorm makes 1,000 calls while faults of all kinds strike at random, some
// streamed and some not, some cancelled, some timed out, some closed early.
func TestStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { runStorm(t, 1) })
}

func runStorm(t *testing.T, seed uint64) {
	s := &storm{sent: counting{next: upstream.Network{}, sent: map[string]int{}}}
	names := []string{"one", "two", "three"}
	s.fleet = newFleet(t, stormy, client.Config{
		Endpoints: map[string]budget.Budget{
			"chat":  {TTFT: budget.Layers{50: 400 * ms, 95: 2 * time.Second}, Abandon: time.Second},
			"tight": {Total: budget.Layers{95: 2 * time.Second}, Deadline: 3 * time.Second},
		},
		Seed: seed, Transport: &s.sent, Grace: time.Second,
	}, names...)
	for _, name := range names {
		s.sent.next.(upstream.Network)[name+".test"] = s.servers[name]
	}
	results := make([]result, stormCalls)
	luck := rand.New(rand.NewPCG(seed, 1))
	var calls sync.WaitGroup
	for i := range results {
		say := s.plan(rand.New(rand.NewPCG(seed, uint64(i+2))))
		calls.Go(func() { results[i] = say(t.Context()) })
		time.Sleep(time.Duration(luck.ExpFloat64() * float64(20*ms)))
	}
	calls.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, r := range results {
		s.checkResult(t, r)
	}
	s.checkBooks(t)
}

// plan draws what the application does.
func (s *storm) plan(luck *rand.Rand) func(context.Context) result {
	c := []*openai.Client{&s.Client.Client, s.Endpoint("chat"), s.Endpoint("tight")}[luck.IntN(3)]
	streamed, after := luck.IntN(3) > 0, time.Duration(luck.IntN(1500))*ms
	early := luck.IntN(30)
	why := []string{"", "", "", "", "", "", "cancel", "deadline", "close"}[luck.IntN(9)]
	return func(ctx context.Context) result {
		ctx, call := middleware.WithCall(ctx)
		r := result{call: call, why: why}
		switch why {
		case "cancel":
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			defer time.AfterFunc(after, cancel).Stop()
		case "deadline":
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, after)
			defer cancel()
		}
		switch {
		case !streamed:
			r.text, r.err = ask(ctx, c, question("hello"))
		case why == "close":
			r.text, r.err = someOf(ctx, c, early)
		default:
			r.text, r.err = stream(ctx, c, question("hello"))
		}
		return r
	}
}

var errEnough = errors.New("the application has read enough")

// someOf reads so many chunks of a stream and closes it.
func someOf(ctx context.Context, c *openai.Client, chunks int) (string, error) {
	s := c.Chat.Completions.NewStreaming(ctx, question("hello"))
	defer s.Close()
	var text strings.Builder
	for range chunks {
		if !s.Next() {
			return text.String(), s.Err()
		}
		for _, choice := range s.Current().Choices {
			text.WriteString(choice.Delta.Content)
		}
	}
	return text.String(), errEnough
}

// checkResult holds what the application saw against the call's books.
func (s *storm) checkResult(t *testing.T, r result) {
	t.Helper()
	c := r.call
	if c.Start.IsZero() || len(c.Attempts) == 0 {
		t.Errorf("a call was not recorded: %+v", r)
		return
	}
	words := strings.Fields(r.text)
	if r.text != "" {
		if whole := s.servers[c.Target].Text(len(words)); r.text != whole {
			t.Errorf("the answer of %s is %q: not its own, or not in order", c.Target, r.text)
		}
	}
	switch {
	case r.err == nil:
		// A connection may break between the end of the answer and its usage.
		if c.Outcome != middleware.Completed || c.Err != nil || c.Usage.Output != len(words) && !c.Usage.Estimated {
			t.Errorf("the application has a whole answer of %d tokens, the call is %+v", len(words), c)
		}
	case errors.Is(r.err, errEnough):
		// What it did not read may have ended in any way.
		if (c.Outcome == middleware.Completed) != (c.Err == nil) {
			t.Errorf("the application closed the stream, the call is %v: %v", c.Outcome, c.Err)
		}
	case c.Outcome == middleware.Completed:
		// All of it came at the instant at which the application went away.
		if r.why == "" || r.why == "close" {
			t.Errorf("the application has %v, the call is completed", r.err)
		}
	default:
		checkErrors(t, r)
	}
	for i, a := range c.Attempts {
		last := i == len(c.Attempts)-1
		if a.Outcome == middleware.Completed && !last || a.Outcome == middleware.Lost || a.Total < 0 || a.TTFT > a.Total {
			t.Errorf("attempt %d of %d is %+v", i, len(c.Attempts), a)
		}
	}
}

// checkErrors makes sure that the application's error is typed and says what
// the call's does.
func checkErrors(t *testing.T, r result) {
	t.Helper()
	trail, ok := errors.AsType[*middleware.Error](r.call.Err)
	if !ok || len(trail.Attempts) != len(r.call.Attempts) {
		t.Errorf("the call's error is %v", r.call.Err)
		return
	}
	_, http := errors.AsType[*openai.Error](r.err)
	_, own := errors.AsType[*middleware.Error](r.err)
	gone := r.err == context.Canceled || r.err == context.DeadlineExceeded
	if !http && !own && !gone || gone && r.why != "cancel" && r.why != "deadline" {
		t.Errorf("the application has %v (%T), after %q", r.err, r.err, r.why)
	}
}

// checkBooks adds everything up.
func (s *storm) checkBooks(t *testing.T) {
	t.Helper()
	calls := s.observed()
	if len(calls) != stormCalls {
		t.Errorf("%d calls were observed, want %d", len(calls), stormCalls)
	}
	attempts, outcomes := map[string]int{}, map[string]router.Attempts{}
	kinds := map[middleware.Outcome]int{}
	for _, c := range calls {
		kinds[c.Outcome]++
		for _, a := range c.Attempts {
			attempts[a.Target]++
			n := outcomes[a.Target]
			switch a.Outcome {
			case middleware.Completed:
				n.Completed++
			case middleware.Failed:
				n.Failed++
			case middleware.TimedOut:
				n.TimedOut++
			case middleware.Cancelled:
				n.Cancelled++
			}
			outcomes[a.Target] = n
		}
	}
	for _, kind := range []middleware.Outcome{middleware.Completed, middleware.Failed, middleware.TimedOut, middleware.Cancelled} {
		if kinds[kind] < 5 {
			t.Errorf("%d calls are %v: the storm is too quiet", kinds[kind], kind)
		}
	}
	for name, n := range s.sent.sent {
		if attempts[name] != n {
			t.Errorf("%s was sent %d requests, its attempts are %d", name, n, attempts[name])
		}
	}
	for _, r := range s.Snapshot().Routes {
		if r.Attempts != outcomes[r.Target] || r.InFlight != 0 {
			t.Errorf("the router counts %+v of %s and %d under way, the calls %+v", r.Attempts, r.Target, r.InFlight, outcomes[r.Target])
		}
	}
}

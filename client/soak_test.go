package client_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"net/http/httptrace"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

var soakTime = flag.Duration("soak", 0, "how long TestSoak runs; 0: 3 s, or a minute where ONTIME_LONG is 1")

const (
	soakCallers = 24
	// soakGrowth is what the heap may grow by after the first quarter, when all
	// that is kept for good is there.
	soakGrowth = 4 << 20
	// enoughCalls say something of how often things go well.
	enoughCalls = 2_000
)

// soak is a client that is called over real sockets while its targets come and
// go.
type soak struct {
	*fleet
	calls, observed, whole atomic.Int64
	fresh, reused          atomic.Int64 // connections that attempts were given
}

// TestSoak makes calls of all kinds for a while. Every answer is whole or an
// error says why not, and is one target's alone; each call ends once; and when
// all is over nothing is left, and memory is what it was. tools/soak runs it
// against targets behind a proxy that makes worse trouble.
func TestSoak(t *testing.T) {
	before := runtime.NumGoroutine()
	targets := startSoakTargets(t)
	s := newSoak(t, targets)
	trouble, calm := context.WithCancel(t.Context())
	var troubles sync.WaitGroup
	for i, target := range targets {
		troubles.Go(func() { target.trouble(t, trouble, rand.New(rand.NewPCG(7, uint64(i))), s.Restore) })
	}
	length := soakLength()
	s.run(t, length/4, 1)
	start := heap()
	s.run(t, length-length/4, 2)
	growth := int64(heap()) - int64(start)
	calm()
	troubles.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, target := range targets {
		target.close()
	}
	s.check(t, growth)
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * ms) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left, there were %d", runtime.NumGoroutine(), before)
		}
	}
}

func soakLength() time.Duration {
	switch {
	case *soakTime > 0:
		return *soakTime
	case os.Getenv("ONTIME_LONG") == "1":
		return time.Minute
	default:
		return 3 * time.Second
	}
}

// heap is what is in use once all garbage is collected: twice, for what a pool
// or a finalizer held on to.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func newSoak(t *testing.T, targets []*soakTarget) *soak {
	s := &soak{fleet: &fleet{servers: map[string]*upstream.Server{}}}
	cfg := client.Config{
		Endpoints: map[string]budget.Budget{
			"default": {Deadline: 10 * time.Second}, // what a proxy has swallowed never comes
			"chat":    {TTFT: budget.Layers{50: 100 * ms, 95: 500 * ms}, Abandon: 500 * ms, Deadline: 5 * time.Second},
			"tight":   {Total: budget.Layers{95: 500 * ms}, Deadline: time.Second},
		},
		Observers: []middleware.Observer{middleware.CallFunc(func(middleware.Call) { s.observed.Add(1) })},
		Grace:     time.Second,
	}
	for _, target := range targets {
		s.servers[target.name] = upstream.New(target.name, upstream.Behaviour{}, 0) // for what its answers say
		cfg.Targets = append(cfg.Targets, client.Target{Name: target.name, BaseURL: target.url + "/v1", APIKey: "key-of-" + target.name})
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Client = c
	return s
}

// run has all callers call for so long, and waits for their last calls.
func (s *soak) run(t *testing.T, length time.Duration, seed uint64) {
	end := time.Now().Add(length)
	var callers sync.WaitGroup
	for i := range soakCallers {
		callers.Go(func() {
			luck := rand.New(rand.NewPCG(seed, uint64(i)))
			for time.Now().Before(end) && !t.Failed() {
				r := s.call(t.Context(), luck)
				if gone := errors.Is(r.err, context.Canceled) || errors.Is(r.err, context.DeadlineExceeded); !gone || len(r.call.Attempts) > 0 {
					s.checkResult(t, r) // who was gone before anything was sent got nothing
				}
				time.Sleep(time.Duration(luck.IntN(20)) * ms)
			}
		})
	}
	callers.Wait()
}

// call makes one call as an application would: it mostly waits for all of the
// answer, and now and then has enough, gives up, or has no time.
func (s *soak) call(ctx context.Context, luck *rand.Rand) result {
	s.calls.Add(1)
	c := []*openai.Client{&s.Client.Client, s.Endpoint("chat"), s.Endpoint("tight")}[luck.IntN(3)]
	ctx, call := middleware.WithCall(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: s.count}))
	r := result{call: call}
	after := time.Duration(1+luck.IntN(100)) * ms
	switch luck.IntN(40) {
	case 0:
		r.why = "cancel"
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(after, cancel).Stop()
	case 1:
		r.why = "deadline"
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, after)
		defer cancel()
	case 2:
		r.why = "close"
		r.text, r.err = someOf(ctx, c, luck.IntN(20))
		return r
	}
	say := stream
	if luck.IntN(3) == 0 {
		say = ask
	}
	if r.text, r.err = say(ctx, c, question("hello")); r.err == nil {
		s.whole.Add(1)
	}
	return r
}

func (s *soak) count(info httptrace.GotConnInfo) {
	if info.Reused {
		s.reused.Add(1)
	} else {
		s.fresh.Add(1)
	}
}

func (s *soak) check(t *testing.T, growth int64) {
	t.Helper()
	calls, whole := s.calls.Load(), s.whole.Load()
	t.Logf("%d calls, %d answered in full; %d connections made, used again %d times; the heap grew by %d KiB",
		calls, whole, s.fresh.Load(), s.reused.Load(), growth>>10)
	if n := s.observed.Load(); n != calls {
		t.Errorf("%d calls were observed, want %d", n, calls)
	}
	if growth > soakGrowth {
		t.Errorf("the heap grew by %d KiB, want it flat", growth>>10)
	}
	for _, r := range s.Snapshot().Routes {
		if r.InFlight != 0 {
			t.Errorf("%s has %d attempts under way", r.Target, r.InFlight)
		}
	}
	if calls < enoughCalls {
		return
	}
	if whole < calls/2 {
		t.Errorf("%d of %d calls were answered in full: one target is up most of the time", whole, calls)
	}
	if s.fresh.Load() > s.reused.Load() { // each time that a target goes down, all of its connections are gone
		t.Errorf("%d connections were made and used again %d times, want most of them used again", s.fresh.Load(), s.reused.Load())
	}
}

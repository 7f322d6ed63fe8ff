package client_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// slow answers 16 tokens, the first after a second and one each second.
var slow = upstream.Behaviour{
	TTFT: upstream.Latency{Median: time.Second}, Pace: upstream.Latency{Median: time.Second}, EarlyHeaders: 1,
}

func TestCloseRefusesNewCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		for _, say := range ways {
			_, err := say(t.Context(), f.chat(), question("hello"))
			mustBe(t, err, middleware.ErrClosed)
			ours(t, err)
		}
		_, err := f.Models.List(t.Context())
		mustBe(t, err, middleware.ErrClosed)
		if n := f.allRequests(); n != 0 {
			t.Errorf("the target got %d requests, want none", n)
		}
		if err := f.Close(); err != nil { // again is fine
			t.Error(err)
		}
	})
}

func TestCloseLetsCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, slow, client.Config{Grace: time.Minute}, "one")
		var calls sync.WaitGroup
		for _, say := range ways {
			calls.Go(func() { f.answers(t, say, &f.Client.Client, "one") })
		}
		time.Sleep(1500 * ms)
		start := time.Now()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		// The last token is due 16 s after the start.
		if took := time.Since(start); took != 14500*ms {
			t.Errorf("Close took %v, want 14.5s", took)
		}
		calls.Wait()
	})
}

func TestCloseEndsCallsAfterTheGrace(t *testing.T) {
	for name, grace := range map[string]time.Duration{"default": 0, "given": 3 * time.Second, "none": -1} {
		want := map[string]time.Duration{"default": 10 * time.Second, "given": 3 * time.Second, "none": 0}[name]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, slow, client.Config{Grace: grace}, "one", "hung")
				f.servers["hung"].Set(func(b *upstream.Behaviour) { b.Faults.Hang = 1 })
				var calls sync.WaitGroup
				for range 4 {
					for _, say := range ways {
						calls.Go(func() {
							ctx, call := middleware.WithCall(context.Background())
							_, err := say(ctx, &f.Client.Client, question("hello"))
							mustBe(t, err, middleware.ErrClosed)
							ours(t, err)
							if call.Outcome != middleware.Cancelled || len(call.Attempts) == 0 {
								t.Errorf("call is %+v", call)
							}
						})
					}
				}
				time.Sleep(1500 * ms)
				start := time.Now()
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != want {
					t.Errorf("Close took %v, want %v", took, want)
				}
				for name, s := range f.servers {
					if st := s.Stats(); st.InFlight != 0 || st.OpenBodies != 0 {
						t.Errorf("%s has %d requests under way and %d open bodies after Close", name, st.InFlight, st.OpenBodies)
					}
				}
				calls.Wait()
			})
		})
	}
}

// A stream that nobody reads is ended too.
func TestCloseEndsAnUnreadStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, slow, client.Config{Grace: -1}, "one")
		s := f.Chat.Completions.NewStreaming(t.Context(), question("hello"))
		if !s.Next() {
			t.Fatal(s.Err())
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if st := f.servers["one"].Stats(); st.InFlight != 0 || st.OpenBodies != 0 {
			t.Errorf("%d requests under way and %d open bodies after Close", st.InFlight, st.OpenBodies)
		}
		if call := f.lastCall(t); call.Outcome != middleware.Cancelled {
			t.Errorf("call is %+v, want it cancelled", call)
		}
		for s.Next() {
		}
		mustBe(t, s.Err(), middleware.ErrClosed)
		s.Close()
	})
}

// sentry fails a test when something is sent after Close has returned.
type sentry struct {
	*testing.T
	next   http.RoundTripper
	closed atomic.Bool
}

func (s *sentry) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.closed.Load() {
		s.Error("a request was sent after Close had returned")
	}
	return s.next.RoundTrip(r)
}

// A call that is still being read when Close begins is waited for.
func TestCloseWaitsForCallsThatHaveSentNothingYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := &sentry{T: t, next: upstream.New("one", quick, 1)}
		c, err := client.New(client.Config{
			Targets: []client.Target{{Name: "one", BaseURL: "https://one.test/v1"}}, Grace: -1, Transport: guard,
		})
		if err != nil {
			t.Fatal(err)
		}
		var call sync.WaitGroup
		call.Go(func() {
			_, err := c.HTTPClient().Transport.RoundTrip(newRequest(t, nil, client.BaseURL+"chat/completions", io.NopCloser(
				io.MultiReader(sleeper(time.Second), strings.NewReader(askBody)))))
			mustBe(t, err, middleware.ErrClosed)
		})
		time.Sleep(500 * ms)
		start := time.Now()
		c.Close()
		guard.closed.Store(true)
		if took := time.Since(start); took != 500*ms {
			t.Errorf("Close took %v, want the 500ms that the call's body took", took)
		}
		call.Wait()
	})
}

// sleeper is an empty reader that takes its time.
type sleeper time.Duration

func (s sleeper) Read([]byte) (int, error) {
	time.Sleep(time.Duration(s))
	return 0, io.EOF
}

// Calls that enter while Close begins either run or are refused; nothing is
// left behind, and nothing begins later.
func TestCloseAgainstNewCalls(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			guard := &sentry{T: t, next: upstream.New("one", upstream.Behaviour{Faults: upstream.Faults{Refused: 0.5, Hang: 0.5}}, 1)}
			c, err := client.New(client.Config{
				Targets: []client.Target{{Name: "one", BaseURL: "https://one.test/v1"}, {Name: "two", BaseURL: "https://two.test/v1"}},
				Grace:   -1, Transport: guard,
			})
			if err != nil {
				t.Fatal(err)
			}
			var calls sync.WaitGroup
			for range 10 {
				calls.Go(func() {
					_, err := stream(context.Background(), &c.Client, question("hello"))
					ours(t, err)
				})
			}
			calls.Go(func() {
				c.Close()
				guard.closed.Store(true)
			})
			calls.Wait()
		})
	}
}

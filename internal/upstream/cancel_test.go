package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// 100 ms to the first of 10 tokens, 10 ms apart, so the answer is complete after 190 ms.
var slowly = upstream.Behaviour{TTFT: median(100 * ms), Pace: median(10 * ms), Output: upstream.Length{Median: 10}}

func TestCancel(t *testing.T) {
	for name, test := range map[string]struct {
		early  float64
		body   string
		after  time.Duration
		want   upstream.Stats
		answer bool // there is a response to cancel
	}{
		"before the headers": {0, streamed, 50 * ms, upstream.Stats{CancelledBefore: 1}, false},
		"before the content": {1, streamed, 50 * ms, upstream.Stats{CancelledBefore: 1}, true},
		"in the middle":      {0, streamed, 125 * ms, upstream.Stats{CancelledAfter: 1, Tokens: 3}, true},
		"a whole answer":     {1, plain, 125 * ms, upstream.Stats{CancelledBefore: 1, Tokens: 3}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := slowly
			b.EarlyHeaders = test.early
			test.want.Requests, test.want.PromptTokens, test.want.MaxInFlight = 1, 1, 1
			both(t, b, func(r rig) {
				cause := errors.New("no longer wanted")
				ctx, cancel := context.WithCancelCause(r.Context())
				time.AfterFunc(test.after, func() { cancel(cause) })
				start := time.Now()
				g, err := r.post(ctx, "/v1/chat/completions", test.body)
				if took := time.Since(start); took != test.after {
					r.Errorf("noticed after %v, want %v", took, test.after)
				}
				if (err == nil) != test.answer || test.answer && g.err == nil {
					r.Errorf("errors %v, %v", err, g.err)
				}
				if err := errors.Join(err, g.err); r.face == "roundtripper" && !errors.Is(err, cause) {
					r.Errorf("error %v does not tell the cause, as net/http's does", err)
				}
				if d := cmp.Diff(test.want, r.settled()); d != "" {
					r.Error(d)
				}
			})
		})
	}
}

// A context that ends counts at once, though nobody reads or closes the body.
func TestCancelWithoutClose(t *testing.T) {
	both(t, slowly, func(r rig) {
		ctx, cancel := context.WithCancel(r.Context())
		req, _ := http.NewRequestWithContext(ctx, "POST", "http://eu.test/v1/chat/completions", strings.NewReader(streamed))
		res, err := r.http.Do(req)
		if err != nil {
			r.Fatal(err)
		}
		cancel()
		if s := r.settled(); s.CancelledAfter != 1 || s.InFlight != 0 {
			r.Errorf("%+v", s)
		}
		if s := r.server.Stats(); r.face == "roundtripper" && s.OpenBodies != 1 {
			r.Errorf("%d open bodies", s.OpenBodies)
		}
		res.Body.Close()
		if s := r.settled(); s.OpenBodies != 0 {
			r.Errorf("%d open bodies", s.OpenBodies)
		}
	})
}

func TestClose(t *testing.T) {
	for name, test := range map[string]struct {
		sleep time.Duration // after the first content
		want  upstream.Stats
	}{
		"at once":           {0, upstream.Stats{CancelledAfter: 1, Tokens: 1}},
		"late, nobody read": {90 * ms, upstream.Stats{Answered: 1, Tokens: 10}}, // what is due has been sent
	} {
		t.Run(name, func(t *testing.T) {
			test.want.Requests, test.want.PromptTokens, test.want.MaxInFlight = 1, 1, 1
			both(t, slowly, func(r rig) {
				if r.face == "handler" && test.sleep > 0 {
					r.Skip("how much is buffered between the two is not ours")
				}
				res, err := r.http.Post("http://eu.test/v1/chat/completions", "application/json", strings.NewReader(streamed))
				if err != nil {
					r.Fatal(err)
				}
				time.Sleep(test.sleep)
				reading := make(chan error)
				if test.sleep == 0 {
					go func() {
						_, err := io.Copy(io.Discard, res.Body)
						reading <- err
					}()
				}
				r.settled() // the reader, if any, waits now
				res.Body.Close()
				if test.sleep == 0 && <-reading == nil {
					r.Error("a read did not notice that the body was closed")
				}
				if err := res.Body.Close(); err != nil {
					r.Error(err)
				}
				if _, err := res.Body.Read(make([]byte, 1)); err == nil || err == io.EOF {
					r.Errorf("read after close: %v", err)
				}
				if d := cmp.Diff(test.want, r.settled()); d != "" {
					r.Error(d)
				}
			})
		})
	}
}

// A slow reader finds at once what has become due, in as few reads as fit.
func TestSlowReader(t *testing.T) {
	s := upstream.New("eu", upstream.Behaviour{Output: upstream.Length{Median: 10}}, 1)
	req, _ := http.NewRequest("POST", "http://eu.test/v1/chat/completions", strings.NewReader(streamed))
	res, err := s.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := res.Body.Read(nil); n != 0 || err != nil {
		t.Errorf("read of nothing: %d bytes, %v", n, err)
	}
	n, err := res.Body.Read(make([]byte, 1<<16))
	if err != nil || n < 1000 {
		t.Errorf("first read: %d bytes, %v", n, err)
	}
	if n, err = res.Body.Read(make([]byte, 1<<16)); n != 0 || err != io.EOF {
		t.Errorf("second read: %d bytes, %v", n, err)
	}
}

func TestAlreadyCancelled(t *testing.T) {
	both(t, upstream.Behaviour{}, func(r rig) {
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		if _, err := r.post(ctx, "/v1/chat/completions", plain); !errors.Is(err, context.Canceled) {
			r.Errorf("error %v", err)
		}
		if s := r.settled(); s.Requests != 0 {
			r.Errorf("%+v", s)
		}
	})
}

func TestInFlight(t *testing.T) {
	both(t, slowly, func(r rig) {
		for range 3 {
			go r.post(r.Context(), "/v1/chat/completions", streamed)
			time.Sleep(80 * ms)
		}
		// At 0, 80 and 160 ms; the first ends at 190.
		time.Sleep(time.Second)
		if s := r.settled(); s.MaxInFlight != 3 || s.InFlight != 0 || s.Answered != 3 {
			r.Errorf("%+v", s)
		}
	})
}

// Whatever goes wrong and whoever gives up, every request is counted once and nothing is left.
func TestNothingIsLeft(t *testing.T) {
	b := slowly
	b.TTFT.Sigma, b.EarlyHeaders, b.KeepAlive, b.RequestsPerMinute = 0.5, 0.5, 30*ms, 290
	b.Faults = upstream.Faults{
		Refused: 0.05, HTTPError: 0.05, Hang: 0.05, Stall: 0.05, Cut: 0.05, Reset: 0.05, ErrorEvent: 0.05, LateError: 0.05, Empty: 0.05, HTML: 0.05,
	}
	both(t, b, func(r rig) {
		const calls = 300
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() {
				patience := time.Duration(100+i%3*60) * ms
				ctx, cancel := context.WithTimeout(r.Context(), patience)
				defer cancel()
				r.post(ctx, "/v1/chat/completions", []string{streamed, plain}[i%2])
			})
		}
		wg.Wait()
		s := r.settled()
		if s.Requests != calls || s.Answered+s.Failed+s.CancelledBefore+s.CancelledAfter != calls || s.InFlight != 0 || s.OpenBodies != 0 {
			r.Errorf("%+v", s)
		}
		if s.Answered == 0 || s.Failed == 0 || s.CancelledBefore == 0 || s.CancelledAfter == 0 || s.MaxInFlight < calls/2 {
			r.Errorf("not everything happened: %+v", s)
		}
	})
}

// A request is over for the server with its last byte, whether or not the caller
// has looked for the end behind it.
func TestInFlightUntilTheLastByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := upstream.New("one", slowly, 1)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://one.test/v1/chat/completions", strings.NewReader(streamed))
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		time.Sleep(time.Second)
		if n, err := res.Body.Read(make([]byte, 1<<20)); n == 0 || err != nil {
			t.Fatal(n, err)
		}
		if st := s.Stats(); st.InFlight != 0 || st.Answered != 1 {
			t.Errorf("after the last byte %d requests are in flight and %d answered, want 0 and 1", st.InFlight, st.Answered)
		}
	})
}

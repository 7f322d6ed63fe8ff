package router_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/router"
)

func narrow() router.Config {
	c := withLimits(router.Limits{Concurrent: 1})
	c.Targets = c.Targets[:1]
	return c
}

// take waits for a place and starts.
func (w world) take(ctx context.Context, req router.Request) (*router.Flight, error) {
	p, err := w.Wait(ctx, req)
	if err != nil {
		return nil, err
	}
	f, err := w.Start(p.Choices[0], req)
	if err != nil {
		w.t.Errorf("the place that was waited for is not to be had: %v", err)
	}
	return f, err
}

func TestWaitIsFirstComeFirstServed(t *testing.T) {
	in(t, narrow(), func(w world) {
		f, err := w.take(context.Background(), chat)
		if err != nil {
			t.Fatal(err)
		}
		var (
			order []int
			mu    sync.Mutex
			calls sync.WaitGroup
		)
		for i := range 20 {
			calls.Go(func() {
				f, err := w.take(context.Background(), chat)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				w.Report(router.Report{Flight: f})
			})
			synctest.Wait()
		}
		start := time.Now()
		w.Report(router.Report{Flight: f})
		calls.Wait()
		if !slices.IsSorted(order) || len(order) != 20 {
			t.Errorf("served in the order %v", order)
		}
		if got := time.Since(start); got != 20*time.Second {
			t.Errorf("20 calls of a second took %v", got)
		}
	})
}

// A small call does not overtake a large one that waits for more tokens: 6,000 can
// be had at once, and 900 a second.
func TestWaitDoesNotOvertake(t *testing.T) {
	c := withLimits(router.Limits{TokensPerMinute: 60000})
	c.Targets = c.Targets[:1]
	in(t, c, func(w world) {
		large, small := chat, chat
		large.PromptBytes, large.MaxTokens = 4*6000, 1
		small.PromptBytes, small.MaxTokens = 4*100, 1
		w.take(context.Background(), large)
		var calls sync.WaitGroup
		for _, c := range []struct {
			req  router.Request
			want time.Duration
		}{
			{large, 6667 * ms}, // all 6000 again
			{small, 6780 * ms}, // and what the large one was beyond them: 1, and 101
		} {
			calls.Go(func() {
				start := time.Now()
				if _, err := w.take(context.Background(), c.req); err != nil {
					t.Error(err)
				}
				if got := time.Since(start); got < c.want-2*ms || got > c.want+2*ms {
					t.Errorf("a call of %d bytes waited %v, want %v", c.req.PromptBytes, got, c.want)
				}
			})
			synctest.Wait()
		}
		calls.Wait()
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	in(t, narrow(), func(w world) {
		f, _ := w.take(context.Background(), chat)
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		start := time.Now()
		_, err := w.take(ctx, chat)
		var saturated *router.SaturatedError
		if !errors.As(err, &saturated) || !errors.Is(err, context.DeadlineExceeded) || saturated.Waited != 3*time.Second ||
			len(saturated.Refused) != 1 || saturated.Refused[0].Why != router.WhyConcurrency {
			t.Errorf("error %v, want a SaturatedError that lists a", err)
		}
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("it took %v, want the 3s of the deadline", got)
		}
		// Who has gone takes no place.
		w.Report(router.Report{Flight: f})
		if _, err := w.take(context.Background(), chat); err != nil {
			t.Error(err)
		}
	})
}

// Without a deadline a call waits for 2 minutes.
func TestWaitEndsByItself(t *testing.T) {
	in(t, narrow(), func(w world) {
		w.take(context.Background(), chat)
		start := time.Now()
		_, err := w.Wait(context.Background(), chat)
		var saturated *router.SaturatedError
		if !errors.As(err, &saturated) || saturated.Err != nil || time.Since(start) != 2*time.Minute {
			t.Errorf("error %v after %v, want a SaturatedError after 2 minutes", err, time.Since(start))
		}
	})
}

func TestReleaseGivesThePlaceBack(t *testing.T) {
	in(t, narrow(), func(w world) {
		p, err := w.Wait(context.Background(), chat)
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error)
		go func() {
			_, err := w.take(context.Background(), chat)
			served <- err
		}()
		synctest.Wait()
		p.Release()
		p.Release()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if f, err := w.Start(p.Choices[0], chat); err == nil {
			t.Errorf("started %v with a place that was given back", f)
		}
		router.Plan{}.Release()
	})
}

func TestWaitForWhatComesBack(t *testing.T) {
	cool := func(d time.Duration) func(w world) {
		return func(w world) { w.limited(d, w.start("a", chat)) }
	}
	tests := []struct {
		name     string
		c        router.Config
		do       func(w world)
		deadline time.Duration // 0: none
		want     time.Duration
		fails    bool
	}{
		{"nothing to wait for", narrow(), func(world) {}, time.Second, 0, false},
		{"a cooldown that fits", narrow(), cool(2 * time.Second), 3 * time.Second, 2 * time.Second, false},
		{"one that does not", narrow(), cool(4 * time.Second), 3 * time.Second, 0, true},
		{"the shortest of two", two(p95), func(w world) {
			w.limited(9*time.Second, w.start("b", chat))
			w.limited(4*time.Second, w.start("a", chat))
		}, 5 * time.Second, 4 * time.Second, false},
		{"none while another route is left", two(p95), cool(time.Second), time.Minute, 0, false},
		{"no deadline: 2 minutes", narrow(), cool(119 * time.Second), 0, 119 * time.Second, false},
		{"no deadline, more than 2 minutes", narrow(), cool(121 * time.Second), 0, 0, true},
		{"a refused key", narrow(), func(w world) {
			w.Report(router.Report{Flight: w.start("a", chat), Outcome: router.Failed, Cause: router.CauseKey})
		}, time.Minute, 0, true},
		{"a rate limit", withLimits(router.Limits{RequestsPerMinute: 10}), func(w world) {
			w.can(chat) // one at once, then 0.15 a second
			w.limited(time.Hour, w.start("b", chat))
		}, time.Minute, 6666666667, false},
		{"a rate limit that does not fit", withLimits(router.Limits{RequestsPerMinute: 10}), func(w world) {
			w.can(chat)
			w.limited(time.Hour, w.start("b", chat))
		}, 6 * time.Second, 0, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in(t, test.c, func(w world) {
				test.do(w)
				ctx := context.Background()
				if test.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				start := time.Now()
				p, err := w.Wait(ctx, chat)
				if got := time.Since(start); (got - test.want).Abs() > ms {
					t.Errorf("waited %v, want %v", got, test.want)
				}
				if (err != nil) != test.fails || err == nil && len(p.Choices) == 0 {
					t.Errorf("choices %v, error %v; want an error: %v", p.Choices, err, test.fails)
				}
				var saturated *router.SaturatedError
				var none *router.NoRouteError
				if test.fails && !errors.As(err, &saturated) && !errors.As(err, &none) {
					t.Errorf("error %T, want a SaturatedError or a NoRouteError", err)
				}
			})
		})
	}
}

func TestWaitForAModelThatNobodyServes(t *testing.T) {
	in(t, narrow(), func(w world) {
		_, err := w.Wait(context.Background(), router.Request{Model: "n"})
		var none *router.NoRouteError
		if !errors.As(err, &none) || len(none.Refused) != 0 || err.Error() == "" {
			t.Errorf("error %v, want a NoRouteError without any route", err)
		}
	})
}

// From many goroutines the limit is kept, and everybody is served.
func TestWaitConcurrently(t *testing.T) {
	in(t, withLimits(router.Limits{Concurrent: 3}), func(w world) {
		req := chat
		req.Pin = "a"
		var (
			mu            sync.Mutex
			running, most int
			calls         sync.WaitGroup
		)
		for range 200 {
			calls.Go(func() {
				f, err := w.take(context.Background(), req)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(ms)
				mu.Lock()
				running--
				mu.Unlock()
				w.Report(router.Report{Flight: f})
			})
		}
		calls.Wait()
		if most != 3 {
			t.Errorf("%d at once, want 3", most)
		}
	})
}

// Those who wait go on when a probe brings content, not when its answer ends.
func TestAProbesContentServesThoseWhoWait(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 5 {
			w.Report(router.Report{Flight: w.start("a", chat), Outcome: router.Failed, Cause: router.CauseRoute})
		}
		w.limited(100*time.Second, w.start("b", chat))
		time.Sleep(17 * time.Second) // an opening lasts 15 s and up to a tenth more
		probe, start, served := w.start("a", chat), time.Now(), make(chan time.Duration, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			p, _ := w.Wait(ctx, chat)
			p.Release()
			served <- time.Since(start)
		}()
		time.Sleep(time.Second)
		probe.Content(time.Second)
		if got := <-served; got != time.Second {
			t.Errorf("served after %v, want 1s", got)
		}
		w.Report(router.Report{Flight: probe})
	})
}

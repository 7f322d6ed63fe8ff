package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// A single target's cooldown is waited for if the deadline allows it, and not
// otherwise.
func TestCooldownIsWaitedForWithinTheDeadline(t *testing.T) {
	for _, tt := range []struct {
		after    string
		deadline time.Duration
		waits    time.Duration
		fails    bool
	}{
		{"3", 10 * time.Second, 3 * time.Second, false},
		{"30", 10 * time.Second, 0, true},
		{"3", 0, 3 * time.Second, false},
		{"86400", 0, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, quick, client.Config{}, "one")
			f.servers["one"].Script(httpError(429, "rate_limit_exceeded", "Retry-After", tt.after))
			ctx, cancel := context.WithCancel(t.Context())
			if tt.deadline > 0 {
				ctx, cancel = context.WithTimeout(t.Context(), tt.deadline)
			}
			defer cancel()
			start := time.Now()
			_, err := stream(ctx, &f.Client.Client, question("hi"))
			if waited := time.Since(start); (err != nil) != tt.fails || waited != tt.waits {
				t.Errorf("Retry-After %s within %v: error %v after %v, want an error: %v after %v", tt.after, tt.deadline, err, waited, tt.fails, tt.waits)
			}
			call := f.lastCall(t)
			if tt.fails {
				if provider, ok := errors.AsType[*middleware.ProviderError](call.Err); !ok || provider.Status != 429 {
					t.Errorf("the call's error is %v, want the provider's 429", call.Err)
				}
			} else if call.Waited != tt.waits || call.Attempts[1].Total != 1 {
				t.Errorf("waited %v, then answered in %v; want %v, 1ns", call.Waited, call.Attempts[1].Total, tt.waits)
			}
		})
	}
}

// A call whose key is refused waits for another target that comes back in time.
func TestARefusedKeyAndACooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, preferring("two", "one"), "one", "two")
		f.servers["two"].Script(httpError(429, "rate_limit_exceeded", "Retry-After", "2"))
		f.servers["one"].Script(upstream.Step{}, httpError(401, "invalid_api_key"))
		for range 2 {
			if _, err := stream(t.Context(), &f.Client.Client, question("hi")); err != nil {
				t.Error(err)
			}
		}
		if call := f.lastCall(t); call.Target != "two" || call.Waited != 2*time.Second {
			t.Errorf("answered by %s after waiting %v, want two after 2s", call.Target, call.Waited)
		}
	})
}

// What planning takes is no wait. Outside a bubble it takes some time.
func TestNothingIsWaitedForWhereARouteIsFree(t *testing.T) {
	reg := prometheus.NewRegistry()
	f := newFleet(t, quick, client.Config{Registerer: reg}, "one")
	if _, err := stream(t.Context(), &f.Client.Client, question("hi")); err != nil {
		t.Fatal(err)
	}
	if call := f.lastCall(t); call.Waited != 0 {
		t.Errorf("waited %v", call.Waited)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range families {
		if m.GetName() == "ontime_wait_seconds" {
			t.Errorf("there is %v", m)
		}
	}
}

// A call that finds every route at its limit waits its turn; one that cannot
// wait fails with a typed error.
func TestSaturation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := upstream.Behaviour{TTFT: upstream.Latency{Median: time.Second}}
		cfg := client.Config{Targets: []client.Target{{Name: "one", Limits: router.Limits{Concurrent: 1}}}}
		f := newFleet(t, slow, cfg, "one")
		done := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := stream(context.Background(), &f.Client.Client, question("hi"))
				done <- err
			}()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := f.Client.Chat.Completions.New(ctx, question("hi"))
		mustBe(t, err, context.DeadlineExceeded)
		if saturated, ok := errors.AsType[*router.SaturatedError](f.lastCall(t).Err); !ok || saturated.Waited != 500*time.Millisecond {
			t.Errorf("the call's error is %v, want a SaturatedError after 500ms", f.lastCall(t).Err)
		}
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
		if call := f.lastCall(t); call.Waited != time.Second || call.Attempts[0].TTFT != time.Second || call.TTFT != 2*time.Second {
			t.Errorf("waited %v, TTFT %v of the attempt, %v of the call; want 1s, 1s, 2s", call.Waited, call.Attempts[0].TTFT, call.TTFT)
		}
		if got := f.servers["one"].Stats().MaxInFlight; got != 1 {
			t.Errorf("%d requests at once, want 1", got)
		}
	})
}

package metrics_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/middleware/metrics"
	"github.com/ontime-llm/ontime/router"
)

// store takes everything, has nothing, and can be gone.
type store struct{ gone atomic.Bool }

func (s *store) err() error {
	if s.gone.Load() {
		return errors.New("gone")
	}
	return nil
}

func (s *store) Publish(context.Context, []byte) (time.Time, error) { return time.Now(), s.err() }

func (s *store) Fetch(_ context.Context, cursor string, _ int) ([]router.Blob, string, error) {
	return nil, cursor, s.err()
}

func (s *store) Claim(context.Context, string, time.Duration) (bool, error) { return true, s.err() }

func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(store)
		r, err := router.New(router.Config{Targets: []router.Target{{Name: "one"}}, Shared: s})
		if err != nil {
			t.Fatal(err)
		}
		_, reg := observed(t, metrics.State(func() *router.Router { return r }))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); r.Share(ctx) }()
		defer func() { cancel(); <-ended }()

		want := func(name, labels, want string) {
			t.Helper()
			if got := scraped(t, reg).values(name)[labels]; got != want {
				t.Errorf("%s{%s} is %q, want %q", name, labels, got, want)
			}
		}
		time.Sleep(500 * ms)
		want("ontime_shared_up", "", "1")
		want("ontime_shared_replicas", "", "0")
		want("ontime_shared_age_seconds", "", "0.5")
		want("ontime_shared_blobs_total", "result=published", "1")
		want("ontime_shared_errors_total", "", "0")
		s.gone.Store(true)
		time.Sleep(time.Second)
		want("ontime_shared_up", "", "0")
		want("ontime_shared_errors_total", "", "1")
	})
}

package client_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/router"
)

// shelf is a store in this process, from whose beginning everybody reads.
type shelf struct {
	mu    sync.Mutex
	blobs []router.Blob
	gone  bool
}

func (s *shelf) Publish(_ context.Context, data []byte) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return time.Time{}, errors.New("the shelf is gone")
	}
	s.blobs = append(s.blobs, router.Blob{At: time.Now(), Data: bytes.Clone(data)})
	return time.Now(), nil
}

func (s *shelf) Fetch(_ context.Context, cursor string, limit int) ([]router.Blob, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil, "", errors.New("the shelf is gone")
	}
	from := len(cursor) // one letter for each that was read
	to := min(from+limit, len(s.blobs))
	return s.blobs[from:to:to], strings.Repeat("x", to), nil
}

func (s *shelf) Claim(context.Context, string, time.Duration) (bool, error) { return true, nil }

// A client that has just begun avoids what another has seen to be slow; Close ends the
// exchange, also while the store is gone, of which the log says so once.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := new(shelf), new(bytes.Buffer)
		config := func() client.Config {
			return client.Config{Shared: s, Endpoints: chatBudget(), Logger: slog.New(slog.NewJSONHandler(log, nil))}
		}
		lag := upstream.Behaviour{TTFT: upstream.Latency{Median: 2 * time.Second}}
		a := newFleet(t, lag, config(), "one")
		for range 20 {
			a.answers(t, stream, a.chat(), "one")
		}
		time.Sleep(7 * time.Second)

		b := newFleet(t, quick, config(), "one", "two")
		time.Sleep(2 * time.Second)
		for range 20 {
			b.answers(t, stream, b.chat(), "two")
		}
		if st := b.Snapshot().Shared; st.Lost || st.Replicas != 1 {
			t.Errorf("b says %+v", st)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.gone = true
		s.mu.Unlock()
		time.Sleep(time.Minute)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), `"llm shared evidence"`); n != 1 || !strings.Contains(log.String(), "the shelf is gone") {
			t.Errorf("the log has %d lines on it, want 1:\n%s", n, log)
		}
	})
}

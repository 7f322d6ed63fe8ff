package redis_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"

	"github.com/ontime-llm/ontime/router"
	"github.com/ontime-llm/ontime/router/redis"
)

// mini is a Redis in this process.
func mini(t *testing.T) (*miniredis.Miniredis, rueidis.ClientOption) {
	t.Helper()
	m := miniredis.RunT(t)
	return m, rueidis.ClientOption{InitAddress: []string{m.Addr()}}
}

func TestPublishAndFetch(t *testing.T) {
	ctx := t.Context()
	m, option := mini(t)
	a, b := store(t, option, redis.Options{Prefix: "one"}), store(t, option, redis.Options{Prefix: "one"})
	other := store(t, option, redis.Options{Prefix: "two"})
	base := time.UnixMilli(1_700_000_000_000)
	var want []router.Blob
	for i := range 5 {
		now := base.Add(time.Duration(i) * time.Second)
		m.SetTime(now)
		data := []byte(fmt.Sprintf("%d\x00\xff\r\n", i))
		at, err := a.Publish(ctx, data)
		if err != nil || !at.Equal(now) {
			t.Fatalf("published at %v (%v), want %v", at, err, now)
		}
		want = append(want, router.Blob{At: now, Data: data})
	}
	var got []router.Blob
	cursor := ""
	for _, n := range []int{2, 2, 1, 0} {
		blobs, next, err := b.Fetch(ctx, cursor, 2)
		if err != nil || len(blobs) != n {
			t.Fatalf("fetched %d blobs (%v), want %d", len(blobs), err, n)
		}
		got, cursor = append(got, blobs...), next
	}
	same := func(x, y router.Blob) bool { return x.At.Equal(y.At) && string(x.Data) == string(y.Data) }
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("fetched %v, want %v", got, want)
	}
	if blobs, _, err := other.Fetch(ctx, "", 10); err != nil || len(blobs) != 0 {
		t.Errorf("with another prefix there are %d blobs (%v)", len(blobs), err)
	}
	if keys := m.Keys(); !slices.Equal(keys, []string{"one:log"}) {
		t.Errorf("keys %q", keys)
	}
	if ttl := m.TTL("one:log"); ttl != 30*time.Minute {
		t.Errorf("the stream expires after %v, want 30m", ttl)
	}
}

// What is older than the TTL is dropped as the stream is appended to.
func TestTrimmed(t *testing.T) {
	m, option := mini(t)
	s := store(t, option, redis.Options{TTL: time.Minute})
	base := time.UnixMilli(1_700_000_000_000)
	for i := range 200 {
		m.SetTime(base.Add(time.Duration(i) * time.Second))
		if _, err := s.Publish(t.Context(), []byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := m.Stream("ontime:log"); err != nil || len(n) > 63 {
		t.Errorf("%d entries of 200 s are left (%v), want those of a minute", len(n), err)
	}
}

func TestClaim(t *testing.T) {
	m, option := mini(t)
	a, b := store(t, option, redis.Options{}), store(t, option, redis.Options{})
	claim := func(s *redis.Store, want bool) {
		t.Helper()
		if won, err := s.Claim(t.Context(), "probe/1", 15*time.Second); err != nil || won != want {
			t.Errorf("won is %t (%v), want %t", won, err, want)
		}
	}
	claim(a, true)
	claim(b, false)
	claim(a, false)
	m.FastForward(16 * time.Second)
	claim(b, true)
}

func TestOptions(t *testing.T) {
	address := rueidis.ClientOption{InitAddress: []string{"localhost:1"}}
	for name, test := range map[string]struct {
		option rueidis.ClientOption
		o      redis.Options
		ok     bool
	}{
		"zero":            {address, redis.Options{}, true},
		"an hour":         {address, redis.Options{TTL: time.Hour}, true},
		"no address":      {rueidis.ClientOption{}, redis.Options{}, false},
		"too short a TTL": {address, redis.Options{TTL: time.Second}, false},
		"too long a TTL":  {address, redis.Options{TTL: 2 * time.Hour}, false},
		"a negative TTL":  {address, redis.Options{TTL: -time.Minute}, false},
	} {
		if _, err := redis.New(test.option, test.o); (err == nil) != test.ok {
			t.Errorf("%s: error %v, want one: %t", name, err, !test.ok)
		}
	}
}

// Whoever asks waits no longer than his context, and after Close nothing is done any more.
func TestContextAndClose(t *testing.T) {
	t.Parallel()
	s := store(t, rueidis.ClientOption{InitAddress: []string{impostor(t, "")}}, redis.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
	defer cancel()
	if _, err := s.Publish(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := s.Fetch(t.Context(), "", 1); !errors.Is(err, redis.ErrClosed) {
		t.Errorf("error %v after Close", err)
	}
}

// Two replicas over one Redis.
func TestReplicas(t *testing.T) {
	t.Parallel()
	_, option := mini(t)
	a, b := newReplica(t, option, redis.Options{}), newReplica(t, option, redis.Options{})
	a.see(10)
	b.knows(9)
	b.lost(false) // on a busy machine a request may have run into its timeout
	if s := b.Snapshot().Shared; s.Replicas != 1 {
		t.Errorf("b says %+v", s)
	}
}

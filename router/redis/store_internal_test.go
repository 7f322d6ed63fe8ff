package redis

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"
)

// A stream that was made anew after somebody emptied Redis expires as well, though the
// replicas do not know that it is another.
func TestExpiresAfterFlush(t *testing.T) {
	m := miniredis.RunT(t)
	s, err := New(rueidis.ClientOption{InitAddress: []string{m.Addr()}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	start := time.Now()
	for _, ago := range []time.Duration{0, 2 * time.Minute} {
		m.SetTime(start.Add(ago)) // by which entries have ids of another millisecond
		m.FlushAll()
		s.lasting = s.lasting.Add(-ago)
		if _, err := s.Publish(t.Context(), []byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	if ttl := m.TTL("ontime:log"); ttl != defaultTTL {
		t.Errorf("two minutes after it was told to last the stream expires after %v (0: never), want %v", ttl, defaultTTL)
	}
}

// A stream with an entry from the future, where time stands still and nothing is ever too
// old, expires: nobody says that it is in use.
func TestExpiresIfTimeStandsStill(t *testing.T) {
	m := miniredis.RunT(t)
	s, err := New(rueidis.ClientOption{InitAddress: []string{m.Addr()}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Now()
	publish := func() {
		t.Helper()
		now = now.Add(time.Second) // else entries have ids of one millisecond
		m.SetTime(now)
		if _, err := s.Publish(t.Context(), []byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	publish()
	if _, err := m.XAdd("ontime:log", "9999999999999-0", []string{"x", "y"}); err != nil {
		t.Fatal(err)
	}
	publish()
	m.FastForward(20 * time.Minute)
	s.lasting = s.lasting.Add(-20 * time.Minute)
	publish()
	if ttl := m.TTL("ontime:log"); ttl != 10*time.Minute {
		t.Errorf("the stream expires after %v, want 10m0s", ttl)
	}
}

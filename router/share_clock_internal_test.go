package router

import (
	"context"
	"testing"
	"time"
	"unsafe"
)

// jumped is an instant as it would be read if the wall clock had been set by so many
// seconds shortly before. There is no other way to make one.
func jumped(t time.Time, seconds int64) time.Time {
	const nanosecondBits = 30 // below the seconds in the first word of a Time with a monotonic reading
	wall := (*uint64)(unsafe.Pointer(&t))
	*wall = uint64(int64(*wall) + seconds<<nanosecondBits)
	return t
}

// one is a store with one blob.
type one struct {
	Store
	blob Blob
}

func (s one) Fetch(context.Context, string, int) ([]Blob, string, error) {
	return []Blob{s.blob}, "1", nil
}

// A wall clock that is set, here back by an hour, does not make longer what was heard of.
func TestWallClockIsSet(t *testing.T) {
	for name, test := range map[string]struct {
		tell  func(n *news, end time.Time)
		until func(rt *route) time.Time
	}{
		"cooldown": {
			func(n *news, end time.Time) { n.cool(0, end.Add(20*time.Second)) },
			func(rt *route) time.Time {
				return rt.group.router.cooldowns.until(rt.lanes[0].name, time.Now())
			},
		},
		"probe": {
			func(n *news, end time.Time) {
				n.probe = newProbe{result: probeFailed, until: end.Add(30 * time.Second), openings: 1}
			},
			func(rt *route) time.Time { return rt.breaker.until },
		},
	} {
		t.Run(name, func(t *testing.T) {
			end := time.Now()
			n := newNews()
			test.tell(n, end)
			w := new(writer)
			w.header(header{replica: 1, seq: 1})
			*w = append(*w, kindRoute)
			w.route("a", "m", n, end)
			r, err := New(Config{
				Targets: []Target{{Name: "a", Models: []string{"m"}}},
				Shared:  one{blob: Blob{At: end.Round(0), Data: *w}},
			})
			if err != nil {
				t.Fatal(err)
			}
			rt := r.group("m").routes[0]
			rt.breaker.mu.Lock()
			rt.breaker.open(end.Add(-time.Second), "it failed too often")
			rt.breaker.mu.Unlock()
			if err := r.sharing.fetch(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			later := jumped(time.Now().Add(time.Minute), -3600)
			if until := test.until(rt); until.IsZero() || later.Before(until) {
				t.Errorf("it ends at %v, and after a minute and a jump of the clock back by an hour it lasts until then still", until)
			}
		})
	}
}

// A replica that cannot hear the others does not take itself for one that can, whatever
// the wall clock is set to.
func TestLiveAfterWallClockIsSet(t *testing.T) {
	r, err := New(Config{Targets: []Target{{Name: "a"}}, Shared: one{}})
	if err != nil {
		t.Fatal(err)
	}
	s, now := r.sharing, time.Now()
	if s.live(now) {
		t.Error("it is live before the first exchange")
	}
	s.settle(r, nil, now)
	for _, test := range []struct {
		after time.Duration
		set   int64
		want  bool
	}{{time.Second, 0, true}, {time.Minute, 0, false}, {time.Second, 3600, true}, {time.Minute, -3600, false}} {
		if got := s.live(jumped(now.Add(test.after), test.set)); got != test.want {
			t.Errorf("%v after an exchange, with the clock set by %d s, live is %t", test.after, test.set, got)
		}
	}
}

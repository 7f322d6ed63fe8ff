package latency

import (
	"testing"
	"time"
)

// A goroutine may be held up between fetching an epoch and adding to it. If the
// clock jumps meanwhile (the machine was suspended), its record still counts.
func TestRecordAcrossAJumpOfTheClock(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := New(1, start)
	h.Record(start, 1)
	late := h.epoch(start.Add(5 * time.Second))

	now := start.Add(time.Hour)
	h.Record(now, 1) // rotates, and would sum up what is older than a minute
	var fast, slow Counts
	h.Fold(now, &fast, &slow)
	late.ended[100].Add(1)

	fast.Reset()
	slow.Reset()
	h.Fold(now, &fast, &slow)
	want := decay(time.Hour-7500*time.Millisecond, slowHalfLife)
	if got := slow.Ended[100]; got != want {
		t.Errorf("the late record weighs %v, want %v", got, want)
	}
}

// However long a histogram is recorded into without being folded, it keeps no
// more epochs than its rings have room for.
func TestRecordsAloneKeepTheRingsBounded(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := New(1, start)
	for d := time.Duration(0); d < 2*time.Hour; d += time.Second {
		h.Record(start.Add(d), 1)
		n := 0
		for e := h.current.Load(); e != nil; e = e.prev {
			n++
		}
		if n > 12 {
			t.Fatalf("%d young epochs after %v, want at most 12", n, d)
		}
	}
}

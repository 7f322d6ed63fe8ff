package router

import (
	"testing"
	"time"
	"unsafe"
)

// Times that come out of order, as they do from those who waited for the lock, earn
// nothing: of 6000 a minute 600 may be taken at once and 90 in each second.
func TestQuotaInOrder(t *testing.T) {
	q := newQuota(Limits{RequestsPerMinute: 6000})
	start, taken := time.Now(), 0
	for i := range 200_000 { // 10 s
		at := start.Add(time.Duration(i) * 50 * time.Microsecond)
		if taken%2 == 1 {
			at = at.Add(-5 * time.Millisecond)
		}
		if why, _ := q.take(at, 1); why == "" {
			taken++
		}
	}
	if taken < 1490 || taken > 1500 {
		t.Errorf("%d taken in 10 s, want 600 + 10*90", taken)
	}
}

// What a provider says that a call took may be anything. A hundred bursts are charged at
// most, of a tenth of a minute's tokens each: at nine tenths a minute that takes 11 of them.
func TestQuotaOfAnAbsurdCount(t *testing.T) {
	q := newQuota(Limits{TokensPerMinute: 60_000})
	now := time.Now()
	if why, _ := q.take(now, 1); why != "" {
		t.Fatal(why)
	}
	q.release(now, 1e9)
	if why, _ := q.free(now.Add(10 * time.Minute)); why != WhyRateLimit {
		t.Errorf("after 10 minutes it is %q, want %q", why, WhyRateLimit)
	}
	if why, _ := q.free(now.Add(12 * time.Minute)); why != "" {
		t.Errorf("after 12 minutes it is %q, want free", why)
	}
}

// A limit that is used up comes back when its time has passed, also if the wall clock was
// set back meanwhile: of 600 a minute 60 may be taken at once and 9 in each second.
func TestQuotaWhenTheClockIsSetBack(t *testing.T) {
	q := newQuota(Limits{RequestsPerMinute: 600})
	now := time.Now()
	for why := ""; why == ""; {
		why, _ = q.take(now, 1)
	}
	if why, _ := q.free(setBack(t, now, time.Hour)); why != WhyRateLimit {
		t.Errorf("used up, it is %q, want %q", why, WhyRateLimit)
	}
	if why, _ := q.free(setBack(t, now.Add(time.Second), time.Hour)); why != "" {
		t.Errorf("a second later it is %q, want free", why)
	}
}

// setBack returns the same time as at, read from a wall clock that was set back.
func setBack(t *testing.T, at time.Time, by time.Duration) time.Time {
	t.Helper()
	back := at
	// The first word of a time.Time has the seconds of the wall clock above 30 bits of
	// nanoseconds; what it counts from the monotonic clock is in the next.
	*(*uint64)(unsafe.Pointer(&back)) -= uint64(by/time.Second) << 30
	if back.Sub(at) != 0 || back.UnixNano() != at.Add(-by).UnixNano() {
		t.Skip("a time.Time looks different inside")
	}
	return back
}

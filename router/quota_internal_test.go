package router

import (
	"testing"
	"time"
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

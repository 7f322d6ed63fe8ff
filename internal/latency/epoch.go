package latency

import (
	"math"
	"sync/atomic"
	"time"
)

const (
	young     = 5 * time.Second  // an epoch that is recorded into
	youngRing = 60 * time.Second // how long it stays one of its own
	mature    = 60 * time.Second // an epoch that sums young ones
	ringSize  = 15               // how many of those there are
)

// An epoch counts what came within one span of time.
type epoch struct {
	from time.Duration // since the start of the histogram
	prev *epoch        // the young epoch before this one

	ended, censored [Buckets]atomic.Uint32
}

// merge adds other, which nobody records into any more. Merges exclude each other,
// so that a store will do.
func (e *epoch) merge(other *epoch) {
	for i := range e.ended {
		if n := other.ended[i].Load(); n > 0 {
			e.ended[i].Store(e.ended[i].Load() + n)
		}
		if n := other.censored[i].Load(); n > 0 {
			e.censored[i].Store(e.censored[i].Load() + n)
		}
	}
}

// addTo adds what e counts to two sums at once, since most of the work is to look
// through buckets that are empty.
func (e *epoch) addTo(a *Counts, weightA float64, b *Counts, weightB float64) {
	for i := range e.ended {
		if n := e.ended[i].Load(); n > 0 {
			a.Ended[i] += weightA * float64(n)
			b.Ended[i] += weightB * float64(n)
		}
		if n := e.censored[i].Load(); n > 0 {
			a.Censored[i] += weightA * float64(n)
			b.Censored[i] += weightB * float64(n)
		}
	}
}

// age returns how long ago the middle of the epoch was, or of that part of it that
// has passed already.
func (e *epoch) age(now, span time.Duration) time.Duration {
	end := min(e.from+span, now)
	return now - (e.from+end)/2
}

// decay returns the weight that is left of 1 after age; one that is negative,
// because of a clock read a little early, counts as 0.
func decay(age, halfLife time.Duration) float64 {
	return math.Exp2(-max(0, age.Seconds()) / halfLife.Seconds())
}

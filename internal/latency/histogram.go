package latency

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A Histogram counts observations of one kind and forgets them with age. It is
// made by [New] and safe for concurrent use: a record takes one atomic addition
// and never waits, whatever else is going on.
//
// One that was never used takes 200 bytes; one that has been busy for an hour takes
// 77 KiB, and shrinks to 11 KiB when it is folded after a quiet one.
//
// Times passed to its methods should come from the clock as it runs. One that lies
// a little behind the latest counts as that one, so that goroutines need not agree
// on who read the clock first.
type Histogram struct {
	scale   scale
	start   time.Time
	current atomic.Pointer[epoch] // nil before the first record

	// mu guards the links behind current and all below. Record does not wait for it.
	mu        sync.Mutex
	mature    [ringSize]*epoch // by minute; nil where nothing came
	history   *Counts          // what is older, weighed as at the time historyAt
	historyAt time.Duration
}

// New returns an empty histogram. unit places the buckets: the first holds all up
// to unit*2^(1/16), the last all above unit*2^(20-1/16). It is rounded down to a
// power of two, so that bounds are exact and the same everywhere. It is in
// whatever unit the values are; New panics if it is not positive and finite. No
// time that is passed later should lie before start.
func New(unit float64, start time.Time) *Histogram {
	return &Histogram{scale: scaleOf(unit), start: start}
}

// Record counts something that ended after v. What is 0 or less counts as the
// shortest there is, +Inf as longer than any bound; NaN is no observation and is
// not counted.
func (h *Histogram) Record(now time.Time, v float64) {
	if !math.IsNaN(v) {
		h.epoch(now).ended[h.scale.index(v)].Add(1)
	}
}

// Censor counts something that took at least v: it was cancelled, lost its race or
// ran into a timeout. It takes values as [Histogram.Record] does.
func (h *Histogram) Censor(now time.Time, v float64) {
	if !math.IsNaN(v) {
		h.epoch(now).censored[h.scale.index(v)].Add(1)
	}
}

// epoch returns the one to record into.
func (h *Histogram) epoch(now time.Time) *epoch {
	since := now.Sub(h.start)
	if e := h.current.Load(); e != nil && since < e.from+young {
		return e
	}
	return h.rotate(max(0, since))
}

// rotate puts a new epoch in front of the current one, unless another goroutine
// has done so meanwhile.
func (h *Histogram) rotate(since time.Duration) *epoch {
	fresh := &epoch{from: since - since%young}
	for {
		e := h.current.Load()
		if e != nil && since < e.from+young {
			return e
		}
		fresh.prev = e
		if h.current.CompareAndSwap(e, fresh) {
			break
		}
	}
	// If somebody else holds the lock, whoever comes next settles what is left.
	if h.mu.TryLock() {
		h.settle(since)
		h.mu.Unlock()
	}
	return fresh
}

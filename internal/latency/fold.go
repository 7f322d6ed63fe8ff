package latency

import "time"

const (
	fastHalfLife = 30 * time.Second
	slowHalfLife = 15 * time.Minute
)

// Fold adds to fast and slow all that was recorded, weighed by its age at now:
// with a half-life of 30 s in fast and of 15 min in slow. Ages are exact to half an
// epoch: 2.5 s within the last minute, 30 s before that.
//
// Counts that have no unit yet take the histogram's; Fold panics if they have
// another one.
func (h *Histogram) Fold(now time.Time, fast, slow *Counts) {
	fast.scale = commonScale(fast.scale, h.scale)
	slow.scale = commonScale(slow.scale, h.scale)
	h.mu.Lock()
	defer h.mu.Unlock()

	since := now.Sub(h.start)
	h.settle(since)
	for e := h.current.Load(); e != nil; e = e.prev {
		fold(e, e.age(since, young), fast, slow)
	}
	for _, e := range h.mature {
		if e != nil {
			fold(e, e.age(since, mature), fast, slow)
		}
	}
	if h.history != nil { // by now it weighs less than 2^-30 in fast
		slow.Add(h.history, decay(since-h.historyAt, slowHalfLife))
	}
}

func fold(e *epoch, age time.Duration, fast, slow *Counts) {
	e.addTo(fast, decay(age, fastHalfLife), slow, decay(age, slowHalfLife))
}

// settle moves what has outgrown its ring into the next. The caller holds mu.
func (h *Histogram) settle(now time.Duration) {
	for i, e := range h.mature {
		if e != nil && outgrown(e.from, now) {
			h.bury(e, mature)
			h.mature[i] = nil
		}
	}
	for e := h.detach(now); e != nil; e = e.prev {
		h.promote(e, now)
	}
}

// outgrown tells whether the minute that began at from is past its ring, which
// ends a minute later than its size because the minute under way is never in it.
func outgrown(from, now time.Duration) bool {
	return from+(ringSize+1)*mature <= now
}

// detach cuts off the young epochs that have outgrown their ring and returns them,
// linked, latest first. The two latest always stay, whatever their age: a goroutine
// may have fetched one just before the clock jumped, and has yet to add its record
// to it.
func (h *Histogram) detach(now time.Duration) *epoch {
	e := h.current.Load()
	if e == nil || e.prev == nil {
		return nil
	}
	for e = e.prev; e.prev != nil; e = e.prev {
		if old := e.prev; old.from+youngRing <= now {
			e.prev = nil
			return old
		}
	}
	return nil
}

// promote adds a young epoch to that of its minute. The place is never taken by
// another minute: that would be one earlier by the size of the ring, and was buried
// before.
func (h *Histogram) promote(e *epoch, now time.Duration) {
	from := e.from - e.from%mature
	if outgrown(from, now) {
		h.bury(e, young)
		return
	}
	place := &h.mature[from/mature%ringSize]
	if *place == nil {
		*place = &epoch{from: from}
	}
	(*place).merge(e)
}

// bury adds an epoch to the history, weighed as at the time of the latest in it.
func (h *Histogram) bury(e *epoch, span time.Duration) {
	middle := e.from + span/2
	if h.history == nil {
		h.history, h.historyAt = &Counts{scale: h.scale}, middle
	}
	if middle > h.historyAt {
		h.history.fade(decay(middle-h.historyAt, slowHalfLife))
		h.historyAt = middle
	}
	var none Counts
	e.addTo(h.history, decay(h.historyAt-middle, slowHalfLife), &none, 0)
}

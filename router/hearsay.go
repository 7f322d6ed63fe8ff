package router

import (
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

// othersFast is what other replicas' evidence counts for in the fast layer: they may
// be in another place, and what they see now need not be what this process will.
const othersFast = 0.5

// hearsay is what other replicas have seen of a route. A fold reads it without a lock:
// it never changes once published, but for latest, which is the sharing's own.
type hearsay struct {
	at     time.Time // when the weights were right
	times  [metrics]struct{ fast, slow latency.Counts }
	share  share
	points []point // medians of the latest samples
	ratio  sum     // of the latest 64 or so
	sizes  sum     // logarithms of prompt sizes, of the latest 64 or so

	latest *samples
}

// heardBefore returns a copy of h, which may be nil, as of now.
func heardBefore(h *hearsay, now time.Time) *hearsay {
	next := &hearsay{at: now, latest: new(samples), share: share{at: now}}
	if h == nil {
		for m := range next.times {
			t := &next.times[m]
			t.fast, t.slow = *latency.NewCounts(units[m]), *latency.NewCounts(units[m])
		}
		return next
	}
	*next = *h
	next.at = now
	for m := range next.times {
		scale(&next.times[m].fast, halved(now.Sub(h.at), fastHalfLife))
		scale(&next.times[m].slow, halved(now.Sub(h.at), slowHalfLife))
	}
	next.share = h.share.fade(now)
	return next
}

// hear adds what one span came to, whose middle was so long before h.at.
func (h *hearsay) hear(s *said, age time.Duration) {
	fast, slow := halved(age, fastHalfLife), halved(age, slowHalfLife)
	for _, c := range s.counts {
		t := &h.times[c.metric]
		if c.censored {
			t.fast.Censored[c.bucket] += fast * c.n
			t.slow.Censored[c.bucket] += slow * c.n
		} else {
			t.fast.Ended[c.bucket] += fast * c.n
			t.slow.Ended[c.bucket] += slow * c.n
		}
	}
	h.share.fast = h.share.fast.add(s.share, fast)
	h.share.slow = h.share.slow.add(s.share, slow)
	for _, one := range s.samples {
		h.latest.add(float64(one.tokens), float64(one.seconds))
	}
	h.ratio.merge(s.ratios)
	h.sizes.merge(s.sizes)
}

// merge adds values, and lets the sum be no more than that of so many as 64.
func (s *sum) merge(other sum) {
	s.sum, s.n = s.sum+other.sum, s.n+other.n
	if s.n > latestSamples {
		s.sum, s.n = s.sum*latestSamples/s.n, latestSamples
	}
}

// publish makes h what folds see.
func (rt *route) publish(h *hearsay) {
	h.points = h.latest.points(nil)
	rt.others.Store(h)
}

// addTimes adds what others have seen of one metric. The nil hearsay is nothing.
func (h *hearsay) addTimes(m int, now time.Time, fast, slow *latency.Counts) {
	if h == nil {
		return
	}
	age := now.Sub(h.at)
	fast.Add(&h.times[m].fast, othersFast*halved(age, fastHalfLife))
	slow.Add(&h.times[m].slow, halved(age, slowHalfLife))
}

// addShare adds what others have seen of failures.
func (h *hearsay) addShare(s share, now time.Time) share {
	if h == nil {
		return s
	}
	theirs := h.share.fade(now)
	s.fast, s.slow = s.fast.add(theirs.fast, othersFast), s.slow.add(theirs.slow, 1)
	return s
}

func (h *hearsay) addPoints(points []point) []point {
	if h == nil {
		return points
	}
	return append(points, h.points...)
}

// bytesPerToken returns the ratio with what others have learned of it.
func (h *hearsay) bytesPerToken(r *ratio) float64 {
	if h == nil {
		return r.bytesPerToken
	}
	return (r.bytesPerToken*r.samples + h.ratio.sum) / (r.samples + h.ratio.n)
}

// typical returns the usual size of a prompt, going by others while none was seen here.
func (h *hearsay) typical(s *samples) float64 {
	if h == nil || s.count > 0 || h.sizes.n == 0 {
		return s.typicalSize()
	}
	return typicalOf(h.sizes.mean())
}

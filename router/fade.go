package router

import (
	"math"
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

const (
	fastHalfLife = 30 * time.Second
	slowHalfLife = 15 * time.Minute
)

// fading counts like a latency.Histogram, but in a tenth of its memory and not
// without a lock. It serves what is recorded once per call at most.
type fading struct {
	fast, slow latency.Counts
	at         time.Time // when the weights were right
}

func newFading(unit float64, now time.Time) *fading {
	return &fading{
		fast: *latency.NewCounts(unit),
		slow: *latency.NewCounts(unit),
		at:   now,
	}
}

func (f *fading) record(now time.Time, v float64) {
	f.fade(now)
	f.fast.Record(v, 1)
	f.slow.Record(v, 1)
}

func (f *fading) censor(now time.Time, v float64) {
	f.fade(now)
	f.fast.Censor(v, 1)
	f.slow.Censor(v, 1)
}

// fade lets what is counted age until now, to the second.
func (f *fading) fade(now time.Time) {
	age := now.Sub(f.at)
	if age < time.Second {
		return
	}
	f.at = now
	scale(&f.fast, halved(age, fastHalfLife))
	scale(&f.slow, halved(age, slowHalfLife))
}

func scale(c *latency.Counts, factor float64) {
	for i := range c.Ended {
		c.Ended[i] *= factor
		c.Censored[i] *= factor
	}
}

// share counts how many attempts did well and how many failed, weighed by age.
type share struct {
	fast, slow tally
	at         time.Time
}

type tally struct{ well, failed float64 }

func (t tally) add(other tally, weight float64) tally {
	return tally{t.well + weight*other.well, t.failed + weight*other.failed}
}

func (t tally) attempts() float64 { return t.well + t.failed }

// lean returns t with so many more attempts, of which a share has failed.
func (t tally) lean(failed, attempts float64) float64 {
	return (t.failed + attempts*failed) / (t.attempts() + attempts)
}

func (s *share) record(now time.Time, failed bool) {
	*s = s.fade(now)
	one := tally{well: 1}
	if failed {
		one = tally{failed: 1}
	}
	s.fast, s.slow = s.fast.add(one, 1), s.slow.add(one, 1)
}

// with returns what is left of both by now.
func (s share) with(other share, now time.Time) share {
	s, other = s.fade(now), other.fade(now)
	s.fast, s.slow = s.fast.add(other.fast, 1), s.slow.add(other.slow, 1)
	return s
}

func (s share) fade(now time.Time) share {
	age := now.Sub(s.at)
	return share{
		fast: tally{}.add(s.fast, halved(age, fastHalfLife)),
		slow: tally{}.add(s.slow, halved(age, slowHalfLife)),
		at:   now,
	}
}

// halved returns the weight that is left of 1 after age.
func halved(age, halfLife time.Duration) float64 {
	return math.Exp2(-max(0, age.Seconds()) / halfLife.Seconds())
}

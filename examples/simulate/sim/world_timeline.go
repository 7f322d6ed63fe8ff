package sim

import (
	"slices"
	"time"
)

// moment is a stretch of time in which a target's distribution does not change.
type moment struct {
	from   time.Duration
	id     uint64 // the same for moments of the same distribution
	effect Effect
	spell  bool
	block  int // of a measured series
}

// never is later than anything.
const never = time.Duration(1<<63 - 1)

// driftSteps is in how many steps a drift goes up, and down again.
const driftSteps = 25

// timeline returns the moments of a target, from 0 on, in order.
func (w *World) timeline(target int) []moment {
	s := &w.sites[target]
	var list []span
	for i := range w.scenario.Troubles {
		if t := &w.scenario.Troubles[i]; t.strikes(w.sites, target) {
			list = append(list, t.spans(w.length)...)
		}
	}
	bad := s.badSpells(w.seed, target, w.length)
	cuts := []time.Duration{0}
	for _, sp := range slices.Concat(list, bad) {
		cuts = append(cuts, sp.from, sp.until)
	}
	if s.series != nil {
		for at := blockTime; at < w.length; at += blockTime {
			cuts = append(cuts, at)
		}
	}
	slices.Sort(cuts)
	known := make(map[moment]uint64)
	var moments []moment
	for _, at := range slices.Compact(cuts) {
		m := moment{effect: effectAt(list, at), spell: effectAt(bad, at) != Effect{}}
		if s.series != nil {
			m.block = s.series.block(w.seed, target, at)
		}
		id, ok := known[m]
		if !ok {
			id = uint64(len(known))
			known[m] = id
		}
		m.from, m.id = at, id
		moments = append(moments, m)
	}
	return moments
}

// span is when an effect holds.
type span struct {
	from, until time.Duration
	effect      Effect
}

func effectAt(list []span, at time.Duration) Effect {
	for _, s := range list {
		if s.from <= at && at < s.until {
			return s.effect
		}
	}
	return Effect{}
}

// spans are the times of a trouble in a run of that length.
func (t *Trouble) spans(length time.Duration) []span {
	from, until := stretch(length, t.From), stretch(length, t.Until)
	if t.Until >= 1 {
		until = never
	}
	var list []span
	switch {
	case t.Drift:
		step := (until - from) / (2 * driftSteps)
		for i := range 2 * driftSteps {
			e := t.Effect
			e.Slow = 1 + (t.Slow-1)*(1-abs(float64(i)+0.5-driftSteps)/driftSteps)
			list = append(list, span{from + time.Duration(i)*step, from + time.Duration(i+1)*step, e})
		}
	case t.Every > 0:
		every := stretch(length, t.Every)
		for at := from; at < until; at += 2 * every {
			list = append(list, span{at, min(at+every, until), t.Effect})
		}
	default:
		list = append(list, span{from, until, t.Effect})
	}
	return list
}

// badSpells are the target's bad periods, which depend on the seed alone.
func (s *site) badSpells(seed uint64, target int, length time.Duration) []span {
	if s.spells.bad == 0 {
		return nil
	}
	l := luckOf(seed, uint64(target), 'b', 'a', 'd')
	var list []span
	for at := time.Duration(0); at < length; {
		from := at + stretch(s.spells.good, l.exponential())
		at = from + stretch(s.spells.bad, l.exponential())
		list = append(list, span{from, at, Effect{Slow: s.spells.slow}})
	}
	return list
}

func abs(x float64) float64 { return max(x, -x) }

// at returns the moment of a target at a time.
func (w *World) at(target int, at time.Duration) *moment {
	moments := w.moments[target]
	i, found := slices.BinarySearchFunc(moments, at, func(m moment, at time.Duration) int {
		return int(min(max(m.from-at, -1), 1))
	})
	if !found {
		i--
	}
	return &moments[i]
}

// Moment tells moments of a target apart: the same number means the same distribution
// of its times. (Requests that a rate limit refuses are none of it.)
func (w *World) Moment(target int, at time.Duration) uint64 { return w.at(target, at).id }

// Until returns when the target's distribution next changes; a time far beyond the run
// if it does not.
func (w *World) Until(target int, at time.Duration) time.Duration {
	for _, m := range w.moments[target] {
		if m.from > at {
			return m.from
		}
	}
	return never
}

package sim

import (
	"slices"
	"time"
)

const (
	hedgePercentile = 0.95
	hedgeEnough     = 20  // times before the first hedge
	hedgeWindow     = 200 // latest times that count
)

// hedged doubles the calls of a policy after the p95 of what it has seen, with another
// target where the policy has one. The delay is the one of the hedging transports
// (https://github.com/bhope/hedge; hedgedhttp leaves it to its user,
// https://github.com/cristalhq/hedgedhttp): the winner's time counts from when the
// first request was sent, whichever won, and the loser's is lost. So each won hedge
// raises the delay that led to it: the ratchet. At headers, whatever comes first wins,
// an error too; at content, as these libraries do not do it, what matters is measured.
func hedged(p Policy, atHeaders bool) (Policy, *Hedge) {
	h := &hedger{Policy: p, atHeaders: atHeaders, races: map[int]*race{}}
	return h, &Hedge{
		AtHeaders: atHeaders,
		Delay:     func(time.Duration, *Call, int) time.Duration { return h.times.quantile(hedgePercentile) },
		Second:    func(now time.Duration, c *Call, first int) int { return p.Next(now, c, []int{first}) },
	}
}

type hedger struct {
	Policy
	atHeaders bool
	races     map[int]*race // by the call's number
	times     latest
}

// race is the requests of a call that run beside each other.
type race struct {
	start   time.Duration
	running int
	won     bool
}

func (h *hedger) Sent(now time.Duration, c *Call, target int) {
	r := h.races[c.Number]
	if r == nil {
		r = &race{start: now}
		h.races[c.Number] = r
	}
	r.running++
	h.Policy.Sent(now, c, target)
}

func (h *hedger) Heard(now time.Duration, c *Call, s Seen) {
	if h.atHeaders || s.TTFT > 0 {
		h.win(now, h.races[c.Number])
	}
	h.Policy.Heard(now, c, s)
}

func (h *hedger) win(now time.Duration, r *race) {
	if !r.won {
		r.won = true
		h.times.add(now - r.start)
	}
}

func (h *hedger) Ended(now time.Duration, c *Call, s Seen) {
	r := h.races[c.Number]
	if h.atHeaders && s.Failed && !s.Gone {
		h.win(now, r) // a connection error is a result as well
	}
	if r.running--; r.running == 0 {
		delete(h.races, c.Number)
	}
	h.Policy.Ended(now, c, s)
}

// latest is the last times, in order of arrival and of size.
type latest struct {
	arrived []time.Duration
	sorted  []time.Duration
	oldest  int
}

func (w *latest) add(d time.Duration) {
	if len(w.arrived) < hedgeWindow {
		w.arrived = append(w.arrived, d)
	} else {
		i, _ := slices.BinarySearch(w.sorted, w.arrived[w.oldest])
		w.sorted = slices.Delete(w.sorted, i, i+1)
		w.arrived[w.oldest] = d
		w.oldest = (w.oldest + 1) % hedgeWindow
	}
	i, _ := slices.BinarySearch(w.sorted, d)
	w.sorted = slices.Insert(w.sorted, i, d)
}

// quantile returns 0 while there are too few times.
func (w *latest) quantile(q float64) time.Duration {
	if len(w.sorted) < hedgeEnough {
		return 0
	}
	return rank(w.sorted, q)
}

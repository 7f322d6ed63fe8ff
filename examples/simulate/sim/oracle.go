package sim

import (
	"math"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Three oracles say what can be had at all. None of them is a policy that anyone could
// run: each knows something that nobody can.
//
//   - clairvoyant: what each request will meet. No policy has a smaller miss share.
//   - regime: the true distribution of every target at this moment, but not the luck. What
//     it cannot keep, nobody can be blamed for.
//   - best static: which fixed share of the calls for each target would have been best.

// clairvoyantTries is how many requests of a call to one target the clairvoyant may
// choose from: policies that come back to a target have other luck there.
const clairvoyantTries = 3

// Clairvoyant returns what the run comes to if every call is sent once, to the right
// target at the right time.
//
// A choice for a call is a target, which of the call's requests to it counts, and when it
// is sent: at the call's arrival, or when the target next changes, for as long as the
// application waits. Rate limits never refuse it, and every target has all that it
// could have cached. A call misses a layer only if no choice keeps it, each layer taken by
// itself, so that no policy has a smaller share. The times and the cost are those of the
// choice that keeps the most (each layer weighing the inverse of its allowance), of
// these the cheapest, and of these the fastest.
func Clairvoyant(w *World) Numbers {
	b := w.Budget()
	layers := promises(b)
	calls := w.Calls()
	outcomes := make([]Outcome, len(calls))
	missed := make([]float64, len(layers))
	for i := range calls {
		o, kept := w.foresee(&calls[i], layers)
		outcomes[i] = o
		for j, k := range kept {
			if !k {
				missed[j]++
			}
		}
	}
	n := Measure(b, outcomes)
	for j := range missed {
		n.Miss[j] = missed[j] / float64(len(calls))
	}
	return n
}

// foresee returns the best choice for a call, and which layers some choice keeps.
func (w *World) foresee(c *Call, layers []budget.Layer) (best Outcome, kept []bool) {
	kept = make([]bool, len(layers))
	best = Outcome{Failed: true, Target: -1}
	most := math.Inf(-1)
	for target := range w.sites {
		for at := c.At; at < c.At+Deadline; at = w.Until(target, at) {
			for nth := range clairvoyantTries {
				o := w.outcome(c, target, nth, at)
				value := 0.0
				for j, l := range layers {
					if !missed(l, &o) {
						kept[j] = true
						value += 1 / l.Allowed()
					}
				}
				if value > most || value == most && better(&o, &best) {
					best, most = o, value
				}
			}
		}
	}
	return best, kept
}

func better(a, b *Outcome) bool {
	if a.Cost != b.Cost {
		return a.Cost < b.Cost
	}
	return waited(a) < waited(b)
}

// outcome is what becomes of a call that is sent once.
func (w *World) outcome(c *Call, target, nth int, at time.Duration) Outcome {
	r := w.Reply(c, target, nth, at, c.Shared)
	o := Outcome{Target: target, Requests: 1}
	o.answer(&r, at-c.At)
	o.Cost = w.Cost(c, target, &r, r.Total)
	return o
}

// answer makes a reply the answer of a call, whose request was sent after so long.
func (o *Outcome) answer(r *Reply, sent time.Duration) {
	if r.TTFT > 0 && sent+r.TTFT < Deadline {
		o.TTFT = sent + r.TTFT
	}
	if r.Failed || r.Total == 0 || o.TTFT == 0 || sent+r.Total > Deadline {
		o.Failed = true
		return
	}
	o.Total = sent + r.Total
	if r.Output > 1 {
		o.TPOT = (r.Total - r.TTFT) / time.Duration(r.Output-1)
	}
}

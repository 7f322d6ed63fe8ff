package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// mix sends a fixed share of the calls to each target, and on errors goes on in order.
type mix struct {
	failover
	rng    *rand.Rand
	shares []float64
}

func (m *mix) First(time.Duration, *Call) int {
	return drawOf(len(m.shares), m.rng, func(i int) float64 { return m.shares[i] })
}

// BestStatic plays the fixed mix that would have been best: every target alone, and
// every pair of targets in steps of a tenth. It is the cheapest that keeps all layers,
// else the one that misses the least beyond the allowances. How a pair does is taken
// from the two runs with one target alone.
func BestStatic(w *World, seed uint64) []Outcome {
	b := w.Budget()
	targets := len(w.Targets())
	alone := make([]Numbers, targets)
	for i := range alone {
		alone[i] = Measure(b, Run(w, newMix(targets, seed, i, i, 1), nil))
	}
	allowed := promises(b)
	var best *mix
	least := [2]float64{math.Inf(1), math.Inf(1)} // beyond the allowances, cost
	for i := range targets {
		for k := range i + 1 {
			for tenth := 1; tenth <= 10; tenth++ {
				p := float64(tenth) / 10
				beyond := 0.0
				for j, l := range allowed {
					miss := p*alone[i].Miss[j] + (1-p)*alone[k].Miss[j]
					beyond += max(0, miss/l.Allowed()-1)
				}
				cost := p*alone[i].Cost + (1-p)*alone[k].Cost
				if beyond < least[0] || beyond == least[0] && cost < least[1] {
					best, least = newMix(targets, seed, i, k, p), [2]float64{beyond, cost}
				}
			}
		}
	}
	return Run(w, best, nil)
}

// newMix sends the share p to one target, the rest to another.
func newMix(targets int, seed uint64, one, other int, p float64) *mix {
	m := &mix{failover{targets: targets}, rand.New(rand.NewPCG(seed, 6)), make([]float64, targets)}
	m.shares[one] += p
	m.shares[other] += 1 - p
	return m
}

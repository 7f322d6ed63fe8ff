package load

import (
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Layer is how one layer of the budget fared.
type Layer struct {
	Layer string  `json:"layer"`
	Calls int     `json:"calls"`
	Share float64 `json:"share"` // of the calls, within the limit
	Kept  bool    `json:"kept"`
}

// judge holds samples against the layers, and against the one that every endpoint has: an
// answer. One that failed has missed all of them.
func judge(samples []Sample, layers []budget.Layer) []Layer {
	if len(layers) == 0 {
		return nil
	}
	b := budget.Budget{TTFT: budget.Layers{}, TPOT: budget.Layers{}, Total: budget.Layers{}}
	of := map[budget.Metric]budget.Layers{budget.TTFT: b.TTFT, budget.TPOT: b.TPOT, budget.Total: b.Total}
	for _, l := range layers {
		of[l.Metric][l.Percentile] = l.Limit
	}
	ledger := budget.NewLedger(b)
	for i := range samples {
		s := &samples[i]
		tally := ledger.Tally(s.TTFT != 0)
		if !s.answered() {
			tally.Failed()
			continue
		}
		if s.TTFT != Never {
			tally.Content(time.Duration(s.TTFT))
		}
		tally.Completed(time.Duration(s.TPOT), time.Duration(s.Total))
	}
	var all []Layer
	for _, l := range ledger.Status() {
		if l.Calls > 0 {
			all = append(all, Layer{l.Layer.String(), int(l.Calls), l.Attainment(), l.Burn() <= 1})
		}
	}
	return all
}

// lastLimits are the limits of the highest percentile of each metric.
func lastLimits(layers []budget.Layer) map[budget.Metric]time.Duration {
	last := make(map[budget.Metric]time.Duration)
	for _, l := range layers { // in rising percentile
		last[l.Metric] = l.Limit
	}
	return last
}

// good reports whether an answered call is part of the goodput: it is within the last
// limit of every metric that has one. What is not misses its promise, whatever the other
// calls do. Nothing is good where nothing was promised.
func good(s *Sample, last map[budget.Metric]time.Duration) bool {
	for metric, limit := range last {
		v := map[budget.Metric]Span{budget.TTFT: s.TTFT, budget.TPOT: s.TPOT, budget.Total: s.Total}[metric]
		if v > Span(limit) {
			return false
		}
	}
	return len(last) > 0
}

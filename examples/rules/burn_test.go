package main

import (
	"math"
	"testing"

	"github.com/ontime-llm/ontime/budget"
)

// What has to be exceeded for each percentile, and how many calls must have missed. The
// fewest are 16*e*(1-e)/(share-e)^2 * share, where that is more than 10:
//
//	p95, 15%: 16 * 0.05*0.95 / 0.1^2 = 76 calls, 15% of them 11.4
//	p90, 25%: 16 * 0.1*0.9 / 0.15^2 = 64, 25% of them 16; 15%: 16 * 0.09 / 0.05^2 = 576, 86.4
//	p75, 62.5%: 16 * 0.25*0.75 / 0.375^2 = 21.3, 13.3; 40%: 16 * 0.1875 / 0.15^2 = 133.3, 53.3
//	p50, 75%: 16 * 0.5*0.5 / 0.25^2 = 64, 48; 60%: 16 * 0.25 / 0.1^2 = 400, 240
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		percentile float64
		shares     []float64
		least      []int
	}{
		{99.99, []float64{0.00144, 0.0006, 0.0001}, []int{10, 10, 10}},
		{99.9, []float64{0.0144, 0.006, 0.001}, []int{10, 10, 10}},
		{99, []float64{0.144, 0.06, 0.01}, []int{10, 10, 10}},
		{95, []float64{0.25, 0.15, 0.05}, []int{10, 12, 10}},
		{90, []float64{0.25, 0.15, 0.1}, []int{16, 87, 10}},
		{75, []float64{0.625, 0.4}, []int{14, 54}},
		{50, []float64{0.75, 0.6}, []int{48, 240}},
	} {
		p := promise{"chat", budget.Layer{Metric: budget.TTFT, Percentile: tt.percentile}}
		alarms := p.alarms()
		if len(alarms) != len(tt.shares) {
			t.Fatalf("p%v has %d alarms, want %d", tt.percentile, len(alarms), len(tt.shares))
		}
		for i, a := range alarms {
			share, _ := a.limit(p.Allowed())
			if math.Abs(share-tt.shares[i]) > 1e-9 {
				t.Errorf("p%v over %s: more than %v, want %v", tt.percentile, a.long, share, tt.shares[i])
			}
			if got := least(p.Allowed(), share); got != tt.least[i] {
				t.Errorf("p%v over %s: %d misses at least, want %d", tt.percentile, a.long, got, tt.least[i])
			}
		}
	}
}

// An alarm that no number of misses could reach would be none.
func TestLimitsCanBeReached(t *testing.T) {
	for percentile := 0.5; percentile < 100; percentile += 0.5 {
		p := promise{"chat", budget.Layer{Percentile: percentile}}
		last := 1.0
		for _, a := range p.alarms() {
			share, _ := a.limit(p.Allowed())
			if share < p.Allowed() || share >= 1 {
				t.Errorf("p%v over %s: more than %v, where %v may", percentile, a.long, share, p.Allowed())
			}
			if share > last {
				t.Errorf("p%v over %s is less strict than over a shorter time", percentile, a.long)
			}
			last = share
		}
	}
}

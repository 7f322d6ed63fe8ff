package router

import (
	"math"

	"github.com/ontime-llm/ontime/internal/latency"
)

// Units of the histograms: powers of two, 20 octaves each.
const (
	secondUnit = 1.0 / 1024  // 1 ms to 17 min
	paceUnit   = 1.0 / 65536 // 15 us to 16 s
	tokenUnit  = 1.0
)

// What is expected of a route before it, or any relative, has been seen. Medians
// and spread are those of public endpoints in 2025 (short prompts, p50 of about
// 0.5 s, p99 of 1.3 to 4.5 s); answers are as long as in a public chat trace.
const (
	priorTTFT     = 0.5 // seconds
	priorTPOT     = 0.02
	priorTokens   = 150
	priorFailures = 0.002
	priorHangs    = 0.002 // never bring a first token
)

// Times without end are reckoned as these, in seconds.
const (
	longest     = 600.0
	longestPace = 16.0
)

// units are those of the metrics' histograms.
var units = [metrics]float64{ttft: secondUnit, tpot: paceUnit, total: secondUnit}

var priors = func() (p struct{ ttft, tpot, tokens latency.Counts }) {
	p.ttft = logNormal(secondUnit, priorTTFT, 0.35, 0.98)
	stragglers := logNormal(secondUnit, 6*priorTTFT, 0.5, 0.02)
	p.ttft.Add(&stragglers, 1)
	p.ttft.Censor(math.Inf(1), priorHangs)
	p.tpot = logNormal(paceUnit, priorTPOT, 0.5, 1)
	p.tokens = logNormal(tokenUnit, priorTokens, 0.86, 1)
	return p
}()

// logNormal returns weight samples in all.
func logNormal(unit, median, sigma, weight float64) latency.Counts {
	c := latency.NewCounts(unit)
	before := 0.0
	for i := range c.Ended {
		below := 1.0
		if i < latency.Buckets-1 {
			upper := unit * math.Exp2(float64(i+1)/latency.PerOctave)
			below = math.Erfc(-math.Log(upper/median)/(sigma*math.Sqrt2)) / 2
		}
		c.Ended[i] = weight * (below - before)
		before = below
	}
	return *c
}

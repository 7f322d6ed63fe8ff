package sim

import (
	"math"
	"time"
)

// site is how a target answers, when nothing is wrong with it. The time to the first
// token is bulk and stragglers, both lognormal, plus prefill for every token of the
// prompt that is not cached; see Builtin for where the numbers are from.
type site struct {
	Target
	median     time.Duration // of the bulk, for an empty prompt
	sigma      float64       // of its logarithm
	stragglers float64       // share of the requests
	factor     float64       // how many times longer they take
	pace       time.Duration // per token after the first; the median
	paceSigma  float64
	spells     spells
	series     *series // measured times in place of the above; nil: none
}

// spells are bad periods between good ones, of exponential lengths. The zero value has
// none.
type spells struct {
	good, bad time.Duration // mean lengths
	slow      float64       // in a bad one
}

const (
	stragglerSigma = 0.35
	// prefill is what a token of the prompt adds to the first token's time: about
	// 0.06 ms at hosted providers, by public measurements of 2025.
	prefill = 60 * time.Microsecond
	// Headers that come early come after about one round trip.
	headersMedian = 120 * ms
	headersSigma  = 0.3
	errorMedian   = 60 * ms
)

// Builtin are four targets that serve the same model. Their times to the first token
// are fitted to p50/p95/p99 that were published for short prompts in 2025 (ms):
// gpt-4o-mini 536/844/4461, gemini-2.5-flash 477/776/1309, claude-haiku-4.5
// 541/1591/4117. The second region of openai is the first with 10% more of everything.
//
// The shape is that of the apispeedtest-web and LatencyLab measurements: a lognormal
// bulk of sigma 0.2 to 0.4, and 0.5-3% stragglers that take 4 to 8 times as long. One
// series of apispeedtest-web has an intra-class correlation of 0.49 between calls
// seconds apart, the others 0.0-0.2: hence spells for one target alone. Paces are the
// medians of apispeedtest-web, prices those of the providers' lists.
func builtin() []site {
	return []site{
		{
			Target: Target{Name: "openai-us", Provider: "openai", Region: "us", Input: 0.15, Cached: 0.075, Output: 0.60},
			median: 532 * ms, sigma: 0.24, stragglers: 0.022, factor: 8,
			pace: 14 * ms, paceSigma: 0.25,
		},
		{
			Target: Target{Name: "openai-eu", Provider: "openai", Region: "eu", Input: 0.165, Cached: 0.083, Output: 0.66},
			median: 585 * ms, sigma: 0.26, stragglers: 0.022, factor: 8,
			pace: 14 * ms, paceSigma: 0.25,
		},
		{
			Target: Target{Name: "gemini", Provider: "gemini", Region: "us", Input: 0.30, Cached: 0.075, Output: 2.50},
			median: 475 * ms, sigma: 0.28, stragglers: 0.010, factor: 6,
			pace: 6 * ms, paceSigma: 0.25,
		},
		{
			Target: Target{Name: "anthropic", Provider: "anthropic", Region: "us", Input: 1.00, Cached: 0.10, Output: 5.00},
			median: 511 * ms, sigma: 0.40, stragglers: 0.025, factor: 7,
			pace: 9 * ms, paceSigma: 0.25,
			spells: spells{good: 230 * time.Second, bad: 20 * time.Second, slow: 2.5},
		},
	}
}

// draws are all random numbers of one request. They are made before anything is known
// of the moment, so that a trouble moves no other draw.
type draws struct {
	struck, where, straggler float64 // uniform
	ttft, pace, headers      float64 // normal
	pick                     uint64  // of a measured series
}

func (l luck) draws() draws {
	var d draws
	d.struck, d.where, d.straggler = l.uniform(), l.uniform(), l.uniform()
	d.ttft, d.pace = l.normals()
	d.headers, _ = l.normals()
	d.pick = l.next()
	return d
}

// first is the time to the first token of an empty prompt.
func (s *site) first(d *draws) time.Duration {
	if d.straggler < s.stragglers {
		return stretch(s.median, s.factor*math.Exp(stragglerSigma*d.ttft))
	}
	return stretch(s.median, math.Exp(s.sigma*d.ttft))
}

// between is the time per token after the first.
func (s *site) between(d *draws) time.Duration {
	return stretch(s.pace, math.Exp(s.paceSigma*d.pace))
}

func stretch(d time.Duration, factor float64) time.Duration {
	return time.Duration(float64(d) * factor)
}

package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

const kongRetries = 5

// kong is Kong's AI gateway with balancer.algorithm lowest-latency ("Load balancing
// algorithms: Lowest-latency", https://developer.konghq.com/ai-gateway/load-balancing/):
// the lowest peak EWMA of "the time the model takes to generate each token (tpot)", the
// default, or of the whole request (e2e); "since it's a moving average, the metrics will
// decay over time". The time to the first token has no part in tpot. A request that
// fails goes to the next target, five times at most, and counts as 0.
type kong struct {
	patient
	rng     *rand.Rand
	targets []peakAverage
	latency func(Seen) time.Duration
}

func newKong(s Setting, latency func(Seen) time.Duration) Policy {
	return &kong{rng: s.random(3), targets: make([]peakAverage, len(s.Targets)), latency: latency}
}

func perToken(s Seen) time.Duration {
	return (s.Total - s.TTFT) / time.Duration(max(s.Output-1, 1))
}

func endToEnd(s Seen) time.Duration { return s.Total }

func (k *kong) First(now time.Duration, _ *Call) int { return k.pick(now, nil) }

func (k *kong) Next(now time.Duration, _ *Call, tried []int) int {
	if len(tried) > kongRetries {
		return -1
	}
	return k.pick(now, tried)
}

func (k *kong) pick(now time.Duration, tried []int) int {
	return leastOf(len(k.targets), k.rng, without(tried, func(i int) float64 { return k.targets[i].at(now) }))
}

func (*kong) Sent(time.Duration, *Call, int)   {}
func (*kong) Heard(time.Duration, *Call, Seen) {}

func (k *kong) Ended(now time.Duration, _ *Call, s Seen) {
	switch {
	case s.Failed:
		k.targets[s.Target].add(now, 0)
	case !s.Gone:
		k.targets[s.Target].add(now, k.latency(s).Seconds())
	}
}

const peakDecay = 10 * time.Second // the default of Finagle, Linkerd and Envoy

// peakAverage is a peak EWMA: a moving average that rises at once, falls by and by,
// and decays while nothing is heard.
type peakAverage struct {
	value float64
	last  time.Duration
}

// at returns the average as it is now.
func (p *peakAverage) at(now time.Duration) float64 {
	return p.value * math.Exp(-float64(now-p.last)/float64(peakDecay))
}

func (p *peakAverage) add(now time.Duration, v float64) {
	if decayed := p.at(now); v <= p.value {
		v = decayed + v*(1-decayed/p.value)
	}
	p.value, p.last = v, now
}

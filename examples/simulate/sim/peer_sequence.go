package sim

import (
	"math/rand/v2"
	"time"
)

// tensorZero is TensorZero's model provider routing with a timeout for the first token
// ("Retries & Fallbacks", https://www.tensorzero.com/docs/gateway/guides/retries-fallbacks):
// "the gateway will try each one sequentially until one succeeds or all fail"; the
// timeout streaming.ttft_ms "will apply to each retry and fallback separately", so to the
// last one as well. Set to the limit of the tightest layer.
type tensorZero struct {
	failover
	timeout time.Duration
}

func newTensorZero(s Setting) Policy {
	return tensorZero{failover{targets: len(s.Targets)}, s.lastLimit()}
}

func (t tensorZero) Patience(*Call, int) time.Duration { return t.timeout }

// bifrost is Bifrost with weighted providers, fallbacks and ttft_timeout_ms
// ("Routing", https://docs.getbifrost.ai/features/governance/routing, and "Time to First
// Token (TTFT): Cut Off Stalled LLM Streams and Fail Over", dev.to/kuldeep_paul): a
// random provider by weight, the others in order of weight as fallbacks; "an attempt
// with no first token by the deadline is closed and the next fallback runs", while "the
// last attempt in the chain is never cut off". The weights are the inverse prices, the
// timeout the limit of the tightest layer.
type bifrost struct {
	deaf
	rng     *rand.Rand
	weights []float64
	order   []int
	timeout time.Duration
	last    map[int]bool // calls at their last target
}

func newBifrost(s Setting) Policy {
	b := &bifrost{rng: s.random(5), order: byPrice(s.Targets), timeout: s.lastLimit(), last: map[int]bool{}}
	for _, t := range s.Targets {
		b.weights = append(b.weights, 1/max(t.Input+t.Output, 1e-6))
	}
	return b
}

func (b *bifrost) First(time.Duration, *Call) int {
	return drawOf(len(b.weights), b.rng, func(i int) float64 { return b.weights[i] })
}

func (b *bifrost) Next(_ time.Duration, c *Call, tried []int) int {
	if len(tried) >= len(b.order)-1 {
		b.last[c.Number] = true
	}
	return nextInOrder(b.order, tried)
}

func (b *bifrost) Patience(c *Call, _ int) time.Duration {
	if b.last[c.Number] {
		return 0
	}
	return b.timeout
}

func (b *bifrost) Ended(_ time.Duration, c *Call, s Seen) {
	if !s.Failed && !s.Gone {
		delete(b.last, c.Number)
	}
}

package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

const (
	liteLLMSamples  = 10
	liteLLMWindow   = time.Hour // its ttl: how far back samples count
	liteLLMBuffer   = 0         // its lowest_latency_buffer
	liteLLMRetries  = 2
	liteLLMCooldown = 5 * time.Second
	liteLLMTimeout  = 30 * time.Second // stream_timeout of the example in its documentation
	liteLLMPenalty  = 1000 * time.Second
	liteLLMFailures = 5 // requests in a minute before the share that failed counts
)

// liteLLM is the router of LiteLLM with routing_strategy latency-based-routing
// ("Router - Load Balancing", https://docs.litellm.ai/docs/routing; the lists of ten
// and the penalty are from the notes on the strategy, lowest_latency). The lowest
// average of the latest ten wins: of the time to the first token, for streams. A
// deployment that has answered nothing counts as 0, a timeout as 1000 s. Those within
// the buffer (none by default) share the calls. A deployment cools down for 5 s at a
// 429, at a timeout, and when more than half of a minute's requests failed; with all
// of them cooling, a call fails. It is described as it means to be: the averages are
// of times, and the oldest sample makes room for the newest.
type liteLLM struct {
	rng         *rand.Rand
	deployments []deployment
}

type deployment struct {
	samples []sample // newest last
	cool    time.Duration
	minute  time.Duration // whose requests are counted
	total   int
	failed  int
}

type sample struct{ at, ttft time.Duration }

func newLiteLLM(s Setting) Policy {
	return &liteLLM{rng: s.random(1), deployments: make([]deployment, len(s.Targets))}
}

func (l *liteLLM) First(now time.Duration, _ *Call) int { return l.pick(now, nil) }

func (l *liteLLM) Next(now time.Duration, _ *Call, tried []int) int {
	if len(tried) > liteLLMRetries {
		return -1
	}
	return l.pick(now, tried)
}

func (l *liteLLM) pick(now time.Duration, tried []int) int {
	score := without(tried, func(i int) float64 { return l.deployments[i].score(now) })
	lowest := leastOf(len(l.deployments), l.rng, score)
	if lowest < 0 {
		return -1
	}
	limit := score(lowest) * (1 + liteLLMBuffer)
	return drawOf(len(l.deployments), l.rng, func(i int) float64 {
		if score(i) <= limit {
			return 1
		}
		return 0
	})
}

// score is the average in seconds, and +Inf while the deployment cools down.
func (d *deployment) score(now time.Duration) float64 {
	if now < d.cool {
		return math.Inf(1)
	}
	sum, n := 0.0, 0
	for _, s := range d.samples {
		if s.at > now-liteLLMWindow {
			sum += s.ttft.Seconds()
			n++
		}
	}
	return sum / float64(max(n, 1))
}

func (*liteLLM) Patience(*Call, int) time.Duration          { return liteLLMTimeout }
func (*liteLLM) Sent(time.Duration, *Call, int)             {}
func (*liteLLM) Heard(time.Duration, *Call, Seen)           {}
func (l *liteLLM) Ended(now time.Duration, _ *Call, s Seen) { l.deployments[s.Target].ended(now, s) }

func (d *deployment) ended(now time.Duration, s Seen) {
	timeout := s.Gone && s.TTFT == 0 && s.End >= liteLLMTimeout
	if s.Gone && !timeout {
		return // a cancelled request is neither a success nor a failure
	}
	if minute := now.Truncate(time.Minute); minute != d.minute {
		d.minute, d.total, d.failed = minute, 0, 0
	}
	d.total++
	switch {
	case timeout:
		d.add(now, liteLLMPenalty)
		d.cool = now + liteLLMCooldown
	case s.Failed:
		d.failed++
		if s.Status == 429 || d.total >= liteLLMFailures && 2*d.failed > d.total {
			d.cool = now + liteLLMCooldown
		}
	default:
		d.add(now, s.TTFT)
	}
}

func (d *deployment) add(now, ttft time.Duration) {
	d.samples = append(d.samples, sample{now, ttft})
	if len(d.samples) > liteLLMSamples {
		d.samples = d.samples[1:]
	}
}

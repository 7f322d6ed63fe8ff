package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

const (
	heliconeFirst  = 30 * time.Millisecond
	heliconeWindow = time.Minute
	heliconeErrors = 0.1
	heliconeEnough = 20
	heliconePause  = 5 * time.Second
)

// helicone is Helicone's AI gateway with its latency strategy, its default ("Load
// Balancing Strategies: Latency-based (P2C + PeakEWMA)",
// https://docs.helicone.ai/ai-gateway/concepts/loadbalancing): of two random targets
// the one with the lower product of a moving average of its round-trip time and of the
// requests outstanding there. A round trip ends with the headers, as in tower
// (https://docs.rs/tower/latest/tower/load/peak_ewma), whatever their status; one that
// is dropped counts with its age. A slower one counts at once, a faster one by and by.
// "Unhealthy providers are automatically removed", rate-limited ones "temporarily":
// here, while more than a tenth of a minute's requests failed, of at least 20, and for
// 5 s after a 429; the page gives no numbers.
type helicone struct {
	patient
	rng     *rand.Rand
	targets []heliconeTarget
}

type heliconeTarget struct {
	trip    peakAverage
	out     int // requests outstanding
	recent  recent
	limited time.Duration
}

func newHelicone(s Setting) Policy {
	h := &helicone{rng: s.random(2), targets: make([]heliconeTarget, len(s.Targets))}
	for i := range h.targets {
		h.targets[i].trip.value = heliconeFirst.Seconds()
		h.targets[i].recent.span = heliconeWindow
	}
	return h
}

func (h *helicone) First(now time.Duration, _ *Call) int { return h.pick(now, nil) }

func (h *helicone) Next(now time.Duration, _ *Call, tried []int) int { return h.pick(now, tried) }

// pick draws two targets and takes the less loaded. When all are removed it draws
// from all: something has to be tried.
func (h *helicone) pick(now time.Duration, tried []int) int {
	left := without(tried, func(i int) float64 { return h.targets[i].removed(now) })
	open := func(i int) float64 {
		if left(i) > 0 {
			return 0
		}
		return 1
	}
	n := len(h.targets)
	one := drawOf(n, h.rng, open)
	if one < 0 {
		return leastOf(n, h.rng, without(tried, func(int) float64 { return 0 }))
	}
	two := drawOf(n, h.rng, func(i int) float64 {
		if i == one {
			return 0
		}
		return open(i)
	})
	if two >= 0 && h.targets[two].load(now) < h.targets[one].load(now) {
		return two
	}
	return one
}

// removed is 0 for a healthy target, else +Inf.
func (t *heliconeTarget) removed(now time.Duration) float64 {
	of := t.recent.since(now, heliconeWindow)
	if now < t.limited || len(of) >= heliconeEnough && failures(of) > heliconeErrors {
		return math.Inf(1)
	}
	return 0
}

func (t *heliconeTarget) load(now time.Duration) float64 {
	return t.trip.at(now) * float64(t.out+1)
}

func (h *helicone) Sent(_ time.Duration, _ *Call, target int) { h.targets[target].out++ }

func (h *helicone) Heard(now time.Duration, _ *Call, s Seen) {
	if s.TTFT == 0 {
		h.targets[s.Target].tripped(now, s.Headers)
	}
}

func (h *helicone) Ended(now time.Duration, _ *Call, s Seen) {
	t := &h.targets[s.Target]
	if s.Headers == 0 {
		t.tripped(now, s.End)
	}
	if !s.Gone {
		t.recent.add(ended{at: now, failed: s.Failed})
	}
	if s.Status == 429 {
		t.limited = now + heliconePause
	}
}

func (t *heliconeTarget) tripped(now, took time.Duration) {
	t.out--
	t.trip.add(now, took.Seconds())
}

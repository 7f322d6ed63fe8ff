package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

const (
	openRouterOutage  = 30 * time.Second
	openRouterWindow  = 5 * time.Minute
	openRouterTrouble = 0.2 // share of failures that is an outage; the page gives no number
)

// openRouter is OpenRouter's price-based load balancing with its percentile thresholds
// ("Provider Routing", https://openrouter.ai/docs/guides/routing/provider-selection):
// providers without "significant outages in the last 30 seconds" first, and of them one
// "weighted by inverse square of the price"; the others are fallbacks, those in trouble
// last. preferred_max_latency and preferred_min_throughput, from the budget's layers, are
// checked over the last 5 minutes; who misses one moves back, and is never excluded.
// (Its pages of late 2026 describe a newer default beside it, "a share that depends on
// adjusted price and speed", without enough detail to be written down here.)
type openRouter struct {
	patient
	rng        *rand.Rand
	prices     []float64
	windows    []recent
	thresholds []threshold
}

type threshold struct {
	percentile float64
	limit      time.Duration
	of         func(ended) time.Duration
}

func newOpenRouter(s Setting) Policy {
	o := &openRouter{rng: s.random(4), windows: make([]recent, len(s.Targets))}
	for i, t := range s.Targets {
		o.windows[i].span = openRouterWindow
		o.prices = append(o.prices, t.Input+t.Output)
	}
	o.want(s.Budget.TTFT, func(e ended) time.Duration { return e.ttft })
	o.want(s.Budget.TPOT, func(e ended) time.Duration { return e.tpot })
	return o
}

// want sets thresholds at the percentiles that there are, p50, p75, p90 and p99: each
// layer at the next one below its own.
func (o *openRouter) want(layers budget.Layers, of func(ended) time.Duration) {
	for percentile, limit := range layers {
		for _, p := range []float64{99, 90, 75, 50} {
			if p <= percentile {
				o.thresholds = append(o.thresholds, threshold{p, limit, of})
				break
			}
		}
	}
}

// rank is 0 for a provider that is stable and keeps the thresholds, 1 for one that
// misses one, and 2 for one in trouble.
func (o *openRouter) rank(now time.Duration, i int) int {
	of := o.windows[i].since(now, openRouterWindow)
	if failures(o.windows[i].since(now, openRouterOutage)) > openRouterTrouble {
		return 2
	}
	for _, t := range o.thresholds {
		if t.missed(of) {
			return 1
		}
	}
	return 0
}

// missed reports whether more than the share that the percentile allows took longer
// than the limit.
func (t threshold) missed(of []ended) bool {
	n, late := 0, 0
	for _, e := range of {
		if e.failed {
			continue
		}
		n++
		if t.of(e) > t.limit {
			late++
		}
	}
	return float64(late) > (1-t.percentile/100)*float64(n)
}

func (o *openRouter) First(now time.Duration, _ *Call) int { return o.pick(now, nil) }

func (o *openRouter) Next(now time.Duration, _ *Call, tried []int) int { return o.pick(now, tried) }

// pick draws by price among the untried providers of the best rank.
func (o *openRouter) pick(now time.Duration, tried []int) int {
	ranks := make([]int, len(o.windows))
	best := 3
	for i := range ranks {
		ranks[i] = o.rank(now, i)
		if !slices.Contains(tried, i) {
			best = min(best, ranks[i])
		}
	}
	return drawOf(len(ranks), o.rng, func(i int) float64 {
		if ranks[i] != best || slices.Contains(tried, i) {
			return 0
		}
		return 1 / max(o.prices[i]*o.prices[i], 1e-12)
	})
}

func (*openRouter) Sent(time.Duration, *Call, int)   {}
func (*openRouter) Heard(time.Duration, *Call, Seen) {}

func (o *openRouter) Ended(now time.Duration, _ *Call, s Seen) {
	if s.Gone {
		return
	}
	o.windows[s.Target].add(ended{at: now, failed: s.Failed, ttft: s.TTFT, tpot: perToken(s)})
}

// byPrice returns the targets, the cheapest first.
func byPrice(targets []Target) []int {
	order := make([]int, len(targets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(targets[a].Input+targets[a].Output, targets[b].Input+targets[b].Output)
	})
	return order
}

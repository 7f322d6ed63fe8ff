package router

import (
	"maps"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

// traceEvery is how often a group looks at what other models have seen. They are
// distant relatives: only a route with next to no evidence leans on them.
const traceEvery = 5 * time.Second

// origin is what routes of one provider lean on where their model has not been
// seen: other models of the same provider, which lean on those of all others,
// which lean on what is built in.
type origin struct {
	near, distant *[metrics]latency.Counts // nil if nothing has been seen
	failures      float64                  // share
}

// trace finds the origins anew if they are old. The caller holds folding.
func (g *group) trace(now time.Time) {
	if g.origins != nil && now.Sub(g.traced) < traceEvery {
		return
	}
	g.traced = now
	elsewhere := g.elsewhere(now)
	g.origins = make([]origin, len(g.routes))
	for i, provider := range g.router.providers {
		if provider == i {
			g.origins[i] = originOf(provider, elsewhere)
		}
	}
}

// elsewhere sums up what other models have seen, by provider. It goes through them
// in a fixed order, so that the same run gives the same sums to the last bit.
func (g *group) elsewhere(now time.Time) []*kin {
	sums := make([]*kin, len(g.routes))
	groups := *g.router.groups.Load()
	for _, model := range slices.Sorted(maps.Keys(groups)) {
		if groups[model] == g {
			continue
		}
		o := groups[model].latest.Load()
		if o == nil {
			continue
		}
		weight := halved(now.Sub(o.at), slowHalfLife)
		for provider, k := range o.kin {
			if k != nil {
				kinOf(sums, provider).add(k, weight)
			}
		}
	}
	return sums
}

func (k *kin) add(other *kin, weight float64) {
	for m := range k.counts {
		k.counts[m].Add(&other.counts[m], weight)
	}
	k.share = k.share.add(other.share, weight)
}

// kinOf returns the kin of a provider, making it at first.
func kinOf(all []*kin, provider int) *kin {
	if all[provider] == nil {
		all[provider] = new(kin)
	}
	return all[provider]
}

// originOf finds what routes of a provider lean on.
func originOf(provider int, elsewhere []*kin) origin {
	var near, distant *kin
	for p, k := range elsewhere {
		switch {
		case k == nil:
		case p == provider:
			near = k
		case distant == nil:
			distant = new(kin)
			fallthrough
		default:
			distant.add(k, 1)
		}
	}
	o := origin{failures: priorFailures}
	if distant != nil {
		o.distant = &distant.counts
		o.failures = distant.share.lean(o.failures, slowLean)
	}
	if near != nil {
		o.near = &near.counts
		o.failures = near.share.lean(o.failures, slowLean)
	}
	return o
}

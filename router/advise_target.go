package router

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

const (
	// leastSeen is how many times of its own, by weight, another target has to have for
	// what is expected of it to be no guess.
	leastSeen = 60
	// mostFailing is the share of attempts that it may fail.
	mostFailing = 0.02
)

// adviseTarget looks for a target that the endpoint may not use, that is well, costs no
// more as far as prices are known, and would be faster: of those that would the best.
// Others are found without advice.
func (c *counsel) adviseTarget() {
	groups, byGroup := *c.router.groups.Load(), make(map[*group][]habit)
	for _, h := range c.kind {
		if o := c.routes[h.route]; o != nil {
			byGroup[o.group] = append(byGroup[o.group], h)
		}
	}
	for _, model := range slices.Sorted(maps.Keys(groups)) {
		g, calls := groups[model], byGroup[groups[model]]
		if len(calls) < leastCalls {
			continue
		}
		var best *observed
		var most estimate
		takes := middleOf(calls, c.time)
		for _, rt := range g.routes {
			if rt == nil || c.endpoint.allowed[rt.target] {
				continue
			}
			o := c.routes[rt.id]
			if o == nil || !c.suits(o, calls) {
				continue
			}
			if saves := takes.less(c.expected(o, calls)); saves.sure() && saves.value > most.value {
				best, most = o, saves
			}
		}
		if best != nil {
			c.addTarget(best, calls, most, takes)
		}
	}
}

func (c *counsel) addTarget(o *observed, calls []habit, saves, takes estimate) {
	t, model := &c.router.targets[o.target], o.group.model
	where, price := "", ""
	if t.Region != "" {
		where = " in " + t.Region
	}
	if t.priced() {
		price = ", at no higher price"
	}
	c.add(AdviceTarget, fmt.Sprintf(
		"Target %s%s, which the endpoint does not use, would answer %s in %s at the median instead of %s%s: that saves %s %s.",
		t.Name, where, model, inWords(takes.value-saves.value), inWords(takes.value), price, inWords(saves.value), saves.between(),
	), saves, len(calls), c.metric(), takes.value)
}

// expected estimates the median time of some calls on another route.
func (c *counsel) expected(o *observed, calls []habit) estimate {
	m := ttft
	if !c.streamed {
		m = total
	}
	factor := middleOf(calls, func(h *habit) float64 {
		if c.streamed {
			return o.forecast.fit.factor(h.uncached())
		}
		return o.work(h.uncached(), float64(h.output))
	})
	width := z95 / 2 / math.Sqrt(o.seen[m])
	at := func(q float64) float64 { return factor.value * o.dist[m].Quantile(q) }
	return estimate{at(0.5), at(0.5 - width), at(0.5 + width)}
}

// suits tells whether a route could take some calls: it is well, known, takes the same
// formats, and costs no more.
func (c *counsel) suits(o *observed, calls []habit) bool {
	m := ttft
	if !c.streamed {
		m = total
	}
	if o.seen[m] < leastSeen || o.failures > mostFailing || o.breaker.state.Load() != closed {
		return false
	}
	var now, then float64
	other := &c.router.targets[o.target]
	for i := range calls {
		h := &calls[i]
		route := c.routes[h.route]
		t := &c.router.targets[route.target]
		if !other.covers(t) || t.priced() != other.priced() {
			return false
		}
		now += route.price.Cost(int(h.prompt), int(h.cached), int(h.output))
		then += o.price.Cost(int(h.prompt), int(h.cached), int(h.output))
	}
	return then <= now
}

// covers tells whether t takes whatever format another does.
func (t *Target) covers(other *Target) bool {
	if t.Formats == nil {
		return true
	}
	return other.Formats != nil && !slices.ContainsFunc(other.Formats, func(name string) bool {
		return !slices.Contains(t.Formats, name)
	})
}

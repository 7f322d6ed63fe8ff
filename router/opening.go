package router

import (
	"slices"
	"time"
)

const (
	// An alarm opens a route if it rings again so long after the first time. Alarms of
	// several routes within as short a time are one: the client's or the network's.
	alarmPersists = 10 * time.Second
	alarmTogether = 10 * time.Second
)

// isLast tells whether an endpoint that uses rt has no other route for this model, or
// for one that may answer in its place. The caller holds opening, so that no other
// route of the model is opened meanwhile.
func (g *group) isLast(rt *route, now time.Time) bool {
	for _, e := range g.router.byIndex {
		usable := func(other *route) bool { return other != rt && other.usable(now) }
		if e.used.Load() && e.allowed[rt.target] && !slices.ContainsFunc(g.within(e), usable) {
			return true
		}
	}
	return false
}

// within returns the routes that an endpoint may use for a call of this model.
func (g *group) within(e *endpoint) (routes []*route) {
	add := func(g *group) {
		for i, rt := range g.routes {
			if rt != nil && e.allowed[i] {
				routes = append(routes, rt)
			}
		}
	}
	add(g)
	for _, model := range behind(e.budget.Models, g.model) {
		if later := (*g.router.groups.Load())[model]; later != nil {
			add(later)
		}
	}
	return routes
}

// usable tells whether calls can take the route, limits of our own apart.
func (rt *route) usable(now time.Time) bool {
	if rt.breaker.state.Load() == open {
		return false
	}
	for k := range rt.lanes {
		if !rt.account.keys[k].out.Load() && !now.Before(rt.group.router.cooldowns.until(rt.lanes[k].name, now)) {
			return true
		}
	}
	return false
}

// openSlow opens a route whose alarm persists, unless too many are slow: then being
// slow is no reason to avoid it, and it stays degraded.
func (rt *route) openSlow(why string, now time.Time) {
	rt = rt.heir()
	g := rt.group
	g.opening.Lock()
	defer g.opening.Unlock()
	if !g.isLast(rt, now) && g.mayOpenSlow(rt, now) {
		rt.breaker.tripSlow(now, why)
	}
}

// mayOpenSlow tells whether, for every endpoint that may use rt, no more than half
// of the routes would be open because of latency, and less than 60% have an alarm or
// had one within the last 10 s. The caller holds opening.
func (g *group) mayOpenSlow(rt *route, now time.Time) bool {
	for _, e := range g.router.byIndex {
		if !e.used.Load() || !e.allowed[rt.target] {
			continue
		}
		routes, slow, alarmed := 0, 1, 0
		for _, other := range g.within(e) {
			routes++
			if other != rt && other.breaker.latency.Load() {
				slow++
			}
			if other == rt || other.alarmed(now) {
				alarmed++
			}
		}
		if 2*slow > routes || 5*alarmed >= 3*routes {
			return false
		}
	}
	return true
}

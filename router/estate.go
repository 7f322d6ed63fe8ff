package router

import (
	"maps"
	"slices"
	"sync"
)

// estate is what a router takes over from another. The zero value is nothing.
type estate struct {
	from   *Router
	keep   Keep
	alarms []int // by the index of an alarm: what it was; -1: it is new
}

// target is the index that a target had, or -1.
func (e *estate) target(t *Target) int {
	if e.from == nil || !e.keep.Target(t.Name) {
		return -1
	}
	if i, ok := e.from.targetIndex(t.Name); ok {
		return i
	}
	return -1
}

// key is the index that a target's key had, or -1.
func (e *estate) key(t *Target, target, key int) int {
	if k := e.keep.Key(t.Name, key); k < len(e.from.accounts[target].keys) {
		return k
	}
	return -1
}

// account returns what the routes of a target are to have in common.
func (e *estate) account(t *Target) account {
	a := account{keys: make([]*key, max(1, t.Keys)), quota: newQuota(t.Limits)}
	for k := range a.keys {
		a.keys[k] = new(key)
	}
	old := e.target(t)
	if old < 0 {
		return a
	}
	before := &e.from.accounts[old]
	for k := range a.keys {
		if j := e.key(t, old, k); j >= 0 {
			a.keys[k] = before.keys[j]
		}
	}
	switch {
	case before.quota == nil || a.quota == nil:
	case e.from.targets[old].Limits == t.Limits:
		a.quota = before.quota
	default:
		a.quota.running = before.quota.running
	}
	return a
}

// prefixes are what targets that stay are known to have cached.
func (e *estate) prefixes(targets []Target) *prefixes {
	p := newPrefixes(len(targets))
	if e.from == nil {
		return p
	}
	was := make([]int, len(targets))
	for i := range targets {
		was[i] = e.target(&targets[i])
	}
	p.inherit(e.from.prefixes, was)
	return p
}

// passOn gives an endpoint the debts, the lengths of answers and the hedges of the one
// of its name, and notes which of its alarms are the same.
func (e *estate) passOn(to *endpoint) {
	var old *endpoint
	if e.from != nil {
		old = e.from.endpoints[to.name]
	}
	if old != nil {
		to.ledger = old.ledger.Renew(to.budget)
		to.outputs = old.outputs
		to.former = old.former
		if old.budget.MaxTokens != to.budget.MaxTokens {
			to.former = old.cuts() // another cap is not to blame for them
		}
		if old.budget.HedgeShare() == to.budget.HedgeShare() {
			to.allowance = old.allowance
		}
	}
	for _, t := range to.tails {
		was := -1
		if old != nil {
			if i := slices.IndexFunc(old.tails, t.same); i >= 0 {
				was = old.tails[i].alarm
			}
		}
		e.alarms = append(e.alarms, was)
	}
}

// same tells whether another tail is the same promise.
func (t *tail) same(other tail) bool {
	return t.metric == other.metric && t.limit == other.limit && t.allowed == other.allowed
}

// opening is what guards the openings of a model's routes.
func (e *estate) opening(model string) *sync.Mutex {
	if e.from != nil {
		if g, ok := (*e.from.groups.Load())[model]; ok {
			return g.opening
		}
	}
	return new(sync.Mutex)
}

// route returns what a route takes over.
func (e *estate) route(t *Target, model string) (in inherited) {
	old := e.target(t)
	if old < 0 || !e.keep.Model(t.Name, model) {
		return in
	}
	g := (*e.from.groups.Load())[model]
	if g == nil || g.routes[old] == nil {
		return in
	}
	in = inherited{record: g.routes[old].record, lanes: make([]*lane, max(1, t.Keys)), alarms: make([]*alarm, len(e.alarms))}
	for k := range in.lanes {
		if j := e.key(t, old, k); j >= 0 {
			in.lanes[k] = g.routes[old].lanes[j]
		}
	}
	for i, j := range e.alarms {
		if j >= 0 {
			in.alarms[i] = g.routes[old].alarms[j]
		}
	}
	return in
}

// inherited is what a route takes over from another: nil where there is nothing.
type inherited struct {
	record *record
	lanes  []*lane  // by key
	alarms []*alarm // by index
}

// addUnnamed adds the groups of models that the config does not name and that have
// been tried.
func (r *Router) addUnnamed(groups map[string]*group, e *estate) {
	if e.from == nil {
		return
	}
	old := *e.from.groups.Load()
	for _, model := range slices.Sorted(maps.Keys(old)) {
		if groups[model] != nil || !old[model].tried() || r.unnamed.Load() >= maxUnnamedModels {
			continue
		}
		if g := r.newGroup(model, e); g != nil {
			r.unnamed.Add(1)
			groups[model] = g
		}
	}
}

func (g *group) tried() bool {
	return slices.ContainsFunc(g.routes, func(rt *route) bool { return rt != nil && rt.tried() })
}

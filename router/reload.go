package router

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Keep says what a reloaded router has to do with the one before it. Names that
// are the same need not mean the same.
type Keep struct {
	// Target tells whether the target of that name is the same upstream.
	Target func(name string) bool
	// Model tells whether a target that is the same answers a model, as the
	// application names it, with the same model as before.
	Model func(target, model string) bool
	// Key returns the index that an API key of such a target had; negative: it is
	// new.
	Key func(target string, key int) int
}

// Reload returns a router for another config that goes on with what r knows: what
// was seen of routes that stay, their breakers, cooldowns and keys, and the debts of
// layers that stay. r is left as it is for calls that are under way. What they report
// to it counts for both, calls that wait keep their turn, and a target's limits hold
// for both together.
//
// An invalid config is an error, as in [New], and changes nothing. OnHealth stays that of
// the first config. A router is reloaded once; the next time it is the turn of the
// one that was returned.
func (r *Router) Reload(c Config, keep Keep) (*Router, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	e := &estate{from: r, keep: keep}
	n := newRouter(c, r.lasting, e)
	n.refold()
	for _, g := range *n.groups.Load() {
		for _, rt := range g.routes {
			if rt != nil && rt.heir() != rt {
				rt.breaker.adopt(rt)
			}
		}
	}
	for _, g := range *r.groups.Load() {
		g.unwell.Add(1) // its own count is over: its plans look closely from now on
	}
	e.drop(n)
	return n, nil
}

// heir is the latest route that goes on with what was seen of rt, often itself.
func (rt *route) heir() *route { return rt.breaker.route.Load() }

// lasting is what outlasts a router: it is that of those that it is reloaded into
// too.
type lasting struct {
	cooldowns *cooldowns
	laneCount atomic.Uint64 // made so far
	draws     atomic.Uint64 // random numbers drawn so far
	refused   atomic.Int32  // keys that are out
	watched   atomic.Int64  // until then what is left of a provider's limit matters
	events    events
	queue     queue
}

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

// passOn gives an endpoint the debts and the lengths of answers of the one of its
// name, and notes which of its alarms are the same.
func (e *estate) passOn(to *endpoint) {
	var old *endpoint
	if e.from != nil {
		old = e.from.endpoints[to.name]
	}
	if old != nil {
		to.ledger = old.ledger.Renew(to.budget)
		to.outputs = old.outputs
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

// refold looks at all that was inherited, twice, since groups lean on what others
// have found.
func (r *Router) refold() {
	now := time.Now()
	groups := *r.groups.Load()
	s := r.scratch.Get().(*scratch)
	defer r.scratch.Put(s)
	for range 2 {
		for _, model := range slices.Sorted(maps.Keys(groups)) {
			g := groups[model]
			if g.tried() {
				g.origins = nil
				g.latest.Store(g.fold(now, nil, s))
			}
		}
	}
}

// drop forgets the keys that no target of n has.
func (e *estate) drop(n *Router) {
	kept := make(map[*key]bool)
	for i := range n.accounts {
		for _, k := range n.accounts[i].keys {
			kept[k] = true
		}
	}
	for i := range e.from.accounts {
		for _, k := range e.from.accounts[i].keys {
			if !kept[k] && k.drop() {
				n.refused.Add(-1)
			}
		}
	}
}

// drop makes the key one that is never out, and returns whether it was.
func (k *key) drop() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropped = true
	return k.out.Swap(false)
}

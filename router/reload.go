package router

import (
	"maps"
	"slices"
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
// An invalid config is an error, as in [New], and changes nothing. OnHealth and Shared stay
// those of the first config. A router is reloaded once; the next time it is the turn of the
// one that was returned.
func (r *Router) Reload(c Config, keep Keep) (*Router, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	e := &estate{from: r, keep: keep}
	n := newRouter(c, r.lasting, e)
	e.refold(n)
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
	n.sharing.serve(n)
	return n, nil
}

// heir is the latest route that goes on with what was seen of rt, often itself.
func (rt *route) heir() *route { return rt.breaker.route.Load() }

// lasting is what outlasts a router: it is that of those that it is reloaded into
// too.
type lasting struct {
	cooldowns *cooldowns
	laneCount atomic.Uint64 // made so far
	records   atomic.Uint32 // of routes, made so far
	draws     atomic.Uint64 // random numbers drawn so far
	refused   atomic.Int32  // keys that are out
	watched   atomic.Int64  // until then what is left of a provider's limit matters
	events    events
	pairing   pairing
	queue     queue
	sharing   *sharing // nil: there are no other replicas
}

// refold looks at all that was inherited, twice, since groups lean on what others
// have found. It does so as the old groups would: what is usual for a route changes
// slowly.
func (e *estate) refold(n *Router) {
	now := time.Now()
	groups := *n.groups.Load()
	s := n.scratch.Get().(*scratch)
	defer n.scratch.Put(s)
	for range 2 {
		for _, model := range slices.Sorted(maps.Keys(groups)) {
			if g := groups[model]; g.tried() {
				g.origins = nil
				g.latest.Store(g.fold(now, e.outlook(g), s))
			}
		}
	}
}

// outlook is what was last expected of the routes of a group, as far as the next fold
// needs it; nil if nothing was.
func (e *estate) outlook(g *group) *outlook {
	old := (*e.from.groups.Load())[g.model]
	if old == nil || old.latest.Load() == nil {
		return nil
	}
	before := old.latest.Load()
	o := &outlook{at: before.at, routes: make([]*forecast, len(g.routes))}
	for i, rt := range g.routes {
		if rt == nil {
			continue
		}
		o.routes[i] = &forecast{tables: make([]tablePlace, 2*len(g.router.byIndex))}
		for k, was := range old.routes {
			if was != nil && was.record == rt.record {
				b := before.routes[k]
				o.routes[i].usual, o.routes[i].unsure, o.routes[i].fitted = b.usual, b.unsure, b.fitted
			}
		}
	}
	return o
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

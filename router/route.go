package router

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

// group is the routes of one model, one for each target that serves it. They are
// looked at together, since the choice is between them and they are each other's
// closest relatives.
type group struct {
	router  *Router
	model   string // label: as the application names it, or "other"
	named   bool   // by the config
	simple  bool   // all targets have one key, and no limits of their own
	routes  []*route
	folding sync.Mutex // held to fold
	latest  atomic.Pointer[outlook]
	opening *sync.Mutex  // held to open one of them, and to decide on it
	unwell  atomic.Int32 // those whose breaker is not just closed
	origins []origin     // by provider; guarded by folding
	traced  time.Time
}

// route is one target serving one model: what has a latency distribution.
type route struct {
	group   *group
	target  int
	account *account
	price   Price
	lanes   []*lane  // by key
	ways    []way    // by key
	alarms  []*alarm // by tail.alarm; guarded by mu
	*record
}

// record is what was seen of a route. One that is reloaded shares it with its heir.
type record struct {
	id uint32 // unlike any other's, reloads included

	// Both in seconds; TTFT as if the prompt had refPrompt tokens.
	ttft, tpot *latency.Histogram
	attempts   [outcomes]atomic.Uint64

	openings, cooldowns atomic.Uint64 // as in RouteStatus

	breaker breaker
	turn    atomic.Uint32 // of the keys
	rang    atomic.Int64  // when an alarm last did

	explored atomic.Int64 // until then no other call explores it

	others atomic.Pointer[hearsay] // what other replicas have seen; nil: nothing
	out    outbox                  // what they have not been told yet

	mu      sync.Mutex // guards all below; held for a few instructions
	running int        // attempts started and not reported
	waiting []*Flight  // of them, those without content
	total   *fading    // answers that were not streamed; nil before the first
	share   share      // of failures
	absent  share      // answers that the target does not have the model, until it has
	recent  recent
	sizes   samples
	ratio   ratio
	hits    hits
	changes changes

	ttftCoverage, totalCoverage coverage
}

// newGroup returns the routes of a model, or nil if no target serves it.
func (r *Router) newGroup(model string, e *estate) *group {
	g := &group{router: r, model: model, simple: true, routes: make([]*route, len(r.targets)), opening: e.opening(model)}
	now, served := time.Now(), false
	for i, t := range r.targets {
		if t.Models == nil || slices.Contains(t.Models, model) {
			served = true
			g.routes[i] = newRoute(g, i, now, e.route(&r.targets[i], model))
			g.simple = g.simple && len(r.accounts[i].keys) == 1 && r.accounts[i].quota == nil
		}
	}
	if !served {
		return nil
	}
	return g
}

// newRoute returns a route that goes on with what was seen of another, if there is
// one.
func newRoute(g *group, target int, now time.Time, old inherited) *route {
	r := g.router
	rt := &route{group: g, target: target, account: &r.accounts[target], price: r.targets[target].price(g.model), record: old.record}
	if rt.record == nil {
		rt.record = &record{
			id:    r.records.Add(1),
			ttft:  latency.New(secondUnit, now),
			tpot:  latency.New(paceUnit, now),
			ratio: newRatio(),
			hits:  newHits(),
		}
		rt.breaker.init(rt)
	}
	rt.lanes, rt.alarms = old.lanes, old.alarms
	if old.record == nil {
		rt.lanes, rt.alarms = make([]*lane, len(rt.account.keys)), make([]*alarm, r.alarms)
	}
	rt.ways = make([]way, len(rt.lanes))
	for k := range rt.lanes {
		rt.ways[k] = way{route: rt, key: k}
		if rt.lanes[k] == nil {
			rt.lanes[k] = &lane{name: fmt.Sprintf("%s/%s/%d", r.targets[target].Name, g.model, r.laneCount.Add(1))}
		}
	}
	for i := range rt.alarms {
		if rt.alarms[i] == nil {
			rt.alarms[i] = new(alarm)
		}
	}
	return rt
}

// post counts a change in the health of the route, and tells of it.
func (rt *route) post(e Event) {
	switch e.State {
	case StateOpen:
		rt.openings.Add(1)
	case StateCooling:
		rt.cooldowns.Add(1)
	}
	e.Target, e.Model = rt.group.router.targets[rt.target].Name, rt.group.model
	rt.group.router.events.post(e)
}

// expect returns what is expected of the route, as of the latest fold.
func (rt *route) expect() *forecast {
	return rt.group.latest.Load().routes[rt.target]
}

// tried tells whether the route has ever had an attempt.
func (rt *route) tried() bool {
	for i := range rt.attempts {
		if rt.attempts[i].Load() > 0 {
			return true
		}
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.running > 0
}

// wait adds a flight to those without content. The caller holds mu.
func (rt *route) wait(f *Flight) {
	f.slot = len(rt.waiting)
	rt.waiting = append(rt.waiting, f)
}

// arrived takes a flight out of those without content. The caller holds mu.
func (rt *route) arrived(f *Flight) {
	last := len(rt.waiting) - 1
	moved := rt.waiting[last]
	rt.waiting[f.slot] = moved
	moved.slot = f.slot
	rt.waiting[last] = nil
	rt.waiting = rt.waiting[:last]
	f.explored()
}

package router

import (
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
	routes  []*route
	folding sync.Mutex // held to fold
	latest  atomic.Pointer[outlook]
	origins []origin // by provider; guarded by folding
	traced  time.Time
}

// route is one target serving one model: what has a latency distribution.
type route struct {
	group  *group
	target int

	// Both in seconds; TTFT as if the prompt had refPrompt tokens.
	ttft, tpot *latency.Histogram
	attempts   [outcomes]atomic.Uint64

	mu      sync.Mutex // guards all below; held for a few instructions
	running int        // attempts started and not reported
	waiting []*Flight  // of them, those without content
	total   *fading    // answers that were not streamed; nil before the first
	share   share      // of failures
	sizes   samples
	ratio   ratio
}

// newGroup returns the routes of a model, or nil if no target serves it.
func (r *Router) newGroup(model string) *group {
	g := &group{router: r, model: model, routes: make([]*route, len(r.targets))}
	now, served := time.Now(), false
	for i, t := range r.targets {
		if t.Models == nil || slices.Contains(t.Models, model) {
			served = true
			g.routes[i] = &route{
				group:  g,
				target: i,
				ttft:   latency.New(secondUnit, now),
				tpot:   latency.New(paceUnit, now),
				ratio:  newRatio(),
			}
		}
	}
	if !served {
		return nil
	}
	return g
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
}

package router

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/ontime-llm/ontime/budget"
)

const (
	// DefaultEndpoint is the endpoint of calls that name none.
	DefaultEndpoint = "default"

	// otherModel labels the routes that all models share for which there is no
	// route of their own.
	otherModel = "other"

	maxUnnamedModels = 64  // that have routes of their own; see [Router]
	maxModelName     = 128 // bytes; a longer one, or what is no UTF-8, shares the routes "other"
)

// Router knows the routes, what has been seen of each, and which of them a call
// should take. It is made by [New], safe for concurrent use, starts no goroutine
// and needs no closing. (Replicas share what they know in a goroutine of the caller's;
// see [Router.Share].)
//
// There are routes for every model that the config names, and on targets that serve
// any model also for the first 64 others that are asked for; all further models
// share one route for each of these targets, labelled "other".
type Router struct {
	targets   []Target
	providers []int // of each target: the index of the first with the same provider
	formats   formats
	endpoints map[string]*endpoint
	byIndex   []*endpoint // in the order of their names
	seed      uint64
	scratch   sync.Pool // of *scratch
	accounts  []account // by target
	alarms    int       // that each route has
	prefixes  *prefixes
	*lasting

	groups  atomic.Pointer[map[string]*group] // by model, "other" among them; copied to add one
	other   *group                            // nil if no target serves any model
	unnamed atomic.Int32                      // groups that the config does not name
	mu      sync.Mutex                        // held to add a group
}

// New returns a router for a valid config. Otherwise the error lists all problems
// at once: its Unwrap() []error gives one [budget.Problem] each.
func New(c Config) (*Router, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	l := &lasting{cooldowns: newCooldowns(), events: events{hook: c.OnHealth}, sharing: newSharing(c.Shared)}
	r := newRouter(c, l, new(estate))
	l.sharing.serve(r)
	return r, nil
}

// newRouter makes a router for a valid config, with what it takes over from
// another.
func newRouter(c Config, l *lasting, e *estate) *Router {
	r := &Router{
		targets:  slices.Clone(c.Targets),
		seed:     c.Seed,
		accounts: make([]account, len(c.Targets)),
		lasting:  l,
	}
	for i := range r.targets {
		t := &r.targets[i]
		t.Models, t.Formats, t.Prices = slices.Clone(t.Models), slices.Clone(t.Formats), maps.Clone(t.Prices)
		r.accounts[i] = e.account(t)
		r.providers = append(r.providers, slices.IndexFunc(r.targets, func(other Target) bool {
			return other.Provider == t.Provider
		}))
	}
	r.prefixes = e.prefixes(r.targets)
	r.formats = newFormats(r.targets)
	r.scratch.New = func() any { return newScratch(len(r.targets)) }
	r.addEndpoints(c.Budgets, e)
	r.addGroups(c, e)
	return r
}

// Targets returns the targets' names, in the order of the config.
func (r *Router) Targets() []string {
	names := make([]string, len(r.targets))
	for i := range r.targets {
		names[i] = r.targets[i].Name
	}
	return names
}

// Endpoints returns the endpoints' names, sorted.
func (r *Router) Endpoints() []string { return slices.Sorted(maps.Keys(r.endpoints)) }

func (r *Router) addEndpoints(budgets map[string]budget.Budget, old *estate) {
	budgets = maps.Clone(budgets)
	if budgets == nil {
		budgets = make(map[string]budget.Budget)
	}
	_, wanted := budgets[DefaultEndpoint]
	if !wanted {
		budgets[DefaultEndpoint] = budget.Budget{}
	}
	r.endpoints = make(map[string]*endpoint, len(budgets))
	for i, name := range slices.Sorted(maps.Keys(budgets)) {
		e := newEndpoint(name, i, budgets[name], r.targets)
		r.alarms = e.addTails(r.alarms)
		e.used.Store(wanted || name != DefaultEndpoint)
		old.passOn(e)
		r.endpoints[name] = e
		r.byIndex = append(r.byIndex, e)
	}
}

func (r *Router) addGroups(c Config, e *estate) {
	groups := make(map[string]*group)
	add := func(models []string) {
		for _, m := range models {
			if g := r.newGroup(m, e); g != nil {
				g.named = true
				groups[m] = g
			}
		}
	}
	for _, t := range c.Targets {
		add(t.Models)
		add(slices.Sorted(maps.Keys(t.Prices)))
	}
	for _, b := range c.Budgets {
		add(b.Models)
	}
	if g := r.newGroup(otherModel, e); g != nil && groups[otherModel] == nil {
		groups[otherModel] = g
	}
	r.other = groups[otherModel]
	r.addUnnamed(groups, e)
	r.groups.Store(&groups)
}

// Budget returns the budget of an endpoint, and whether there is one of that name.
// The empty name is "default", which exists always.
func (r *Router) Budget(endpoint string) (budget.Budget, bool) {
	if endpoint == "" {
		endpoint = DefaultEndpoint
	}
	e, ok := r.endpoints[endpoint]
	if !ok {
		return budget.Budget{}, false
	}
	return e.budget, true
}

// Ledger returns the debts of an endpoint: of "default" if there is none of that
// name.
func (r *Router) Ledger(endpoint string) *budget.Ledger {
	return r.endpoint(endpoint).ledger
}

func (r *Router) endpoint(name string) *endpoint {
	if e, ok := r.endpoints[name]; ok {
		return e
	}
	return r.endpoints[DefaultEndpoint]
}

// group returns the routes of a model: nil if no target serves it.
func (r *Router) group(model string) *group {
	groups := *r.groups.Load()
	if g, ok := groups[model]; ok {
		return g
	}
	if r.other == nil || len(model) > maxModelName || !utf8.ValidString(model) || r.unnamed.Load() >= maxUnnamedModels {
		return r.other
	}
	return r.addGroup(model)
}

// addGroup makes routes for a model that the config does not name, while there is
// room for more.
func (r *Router) addGroup(model string) *group {
	r.mu.Lock()
	defer r.mu.Unlock()
	groups := *r.groups.Load()
	if g, ok := groups[model]; ok {
		return g
	}
	if r.unnamed.Load() >= maxUnnamedModels {
		return r.other
	}
	r.unnamed.Add(1)
	g := r.newGroup(model, new(estate))
	groups = maps.Clone(groups)
	groups[g.model] = g
	r.groups.Store(&groups)
	return g
}

// random returns the next number of a repeatable sequence (SplitMix64), without a
// lock.
func (r *Router) random() uint64 {
	z := r.seed + r.draws.Add(1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// fraction returns the next of them as a number in [0, 1).
func (r *Router) fraction() float64 { return float64(r.random()>>11) / (1 << 53) }

// stale tells whether what was known at the given time should be looked at anew.
func stale(at, now time.Time) bool { return now.Sub(at) >= foldEvery }

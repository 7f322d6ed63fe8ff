package router

import (
	"cmp"
	"slices"
	"time"
)

// Request is what is asked of the router. It is a plain value.
type Request struct {
	Endpoint    string // if empty or unknown, "default"
	Model       string // as the application names it
	PromptBytes int    // of what the model reads
	MaxTokens   int    // cap on output tokens; 0: none
	Streamed    bool
	Pin         string // name of the only target that will do; empty: any
}

// Choice is a route that a call may take.
type Choice struct {
	Target string
	Model  string // as the application names it
	// Abandon is the time after which an attempt without content is hopeless, as
	// far as this route's past tells; see the package comment. Always positive.
	Abandon time.Duration

	route *route
}

// Plan is the order in which routes should be tried. It never changes once made.
type Plan struct {
	// Choices are the admissible routes, best first. There are none only if no
	// target that the endpoint may use serves the model; a budget that none can
	// keep leaves them all in.
	Choices []Choice

	router   *Router
	endpoint *endpoint
	outlook  *outlook
	request  Request
}

// Plan ranks the routes that req may take. It looks up what the latest fold has
// tabled, or folds first if that is more than 250 ms old.
func (r *Router) Plan(req Request) Plan {
	now := time.Now()
	p := Plan{router: r, endpoint: r.endpoint(req.Endpoint), request: req}
	g := r.group(req.Model)
	if g == nil {
		return p
	}
	p.outlook = g.current(now)
	var (
		weights [8]weighed
		routes  [16]ranked
	)
	q := newQuestion(p.endpoint, &req, now, weights[:0])
	list := q.rank(g, p.outlook, routes[:0])
	if len(list) == 0 {
		return p
	}
	r.order(list, q.tolerance(list))
	p.Choices = make([]Choice, len(list))
	for i, x := range list {
		p.Choices[i] = Choice{
			Target:  r.targets[x.route.target].Name,
			Model:   req.Model,
			Abandon: seconds(x.abandon),
			route:   x.route,
		}
	}
	return p
}

// order sorts by score, and then puts a random one of those first that are within
// tolerance of the best.
func (r *Router) order(list []ranked, tolerance float64) {
	slices.SortFunc(list, func(a, b ranked) int { return cmp.Compare(a.score, b.score) })
	near := 1
	for near < len(list) && list[near].score <= list[0].score+tolerance {
		near++
	}
	if near == 1 {
		return
	}
	drawn := int(r.random() % uint64(near))
	first := list[drawn]
	copy(list[1:drawn+1], list[:drawn])
	list[0] = first
}

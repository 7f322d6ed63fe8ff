package router

import "time"

// Request is what is asked of the router. It is a plain value.
type Request struct {
	Endpoint    string // if empty or unknown, "default"
	Model       string // as the application names it
	PromptBytes int    // of what the model reads
	MaxTokens   int    // cap on output tokens; 0: none
	Streamed    bool
	Pin         string // name of the only target that will do; empty: any
	Avoid       string // a provider none of whose targets will do; empty: none
	Format      string // only targets that take it will do; empty: any

	// Since is when the call entered, and Attempts how many it has had before the
	// one that is asked for. Zero: it enters with its first.
	Since    time.Time
	Attempts int
	// Deadline is when the call ends, whatever has come of it. Zero: never.
	Deadline time.Time
	// Thinking is how many tokens the model is to be left for reasoning, which
	// MaxTokens counts and TTFT contains. 0: it does not reason.
	Thinking int
	// Single keeps the call from being hedged, since it must not run twice.
	Single bool
	// KeepModel keeps the call from the endpoint's other models, as where the answers
	// of two models cannot be mixed. After has only those do that are listed after it:
	// the call has been on the routes of that one, or of the one it names.
	KeepModel bool
	After     string
	// Prefixes are the beginnings of the prompt that a provider may have cached, the
	// shortest first. The slice is kept while the attempt is under way. May be empty.
	Prefixes []Prefix
}

// Prefix is a beginning of a prompt, up to the end of one of its messages.
type Prefix struct {
	Hash  uint64 // of all of it
	Bytes int    // of what the model reads
}

// Choice is a route that a call may take. It is a plain value, kept small because
// each plan makes one for every route.
type Choice struct {
	Target string
	Model  string // as the application names it: the call's own, or a later one of the endpoint's
	// Abandon is the time after which an attempt without content is hopeless, as
	// far as this route's past tells; see the package comment. Always positive. It is
	// as of the plan: [Flight.Abandon] is what holds.
	Abandon time.Duration

	way *way
}

// way is how a route is to be taken. It never changes.
type way struct {
	route *route
	key   int
	probe bool
	last  bool

	explore bool
	hold    *hold  // nil unless it has its place at the target's limits
	hedge   *offer // nil unless it is a hedge's
}

// Key returns the index of the target's API key to use: the one with most headroom.
func (c Choice) Key() int {
	if c.way == nil {
		return 0
	}
	return c.way.key
}

// Probe tells whether the attempt is to find out whether the route, or its key, is
// well again. It may fail or be slow, so that another should be at hand.
func (c Choice) Probe() bool { return c.way != nil && c.way.probe }

// LastResort tells whether the route's breaker is open, so that it is in the plan only
// because it is no more than slow, or because there is no other.
func (c Choice) LastResort() bool { return c.way != nil && c.way.last }

// Explore tells whether the attempt is to find out whether the route has become better
// than is known. The next choice is the one that would have been first.
func (c Choice) Explore() bool { return c.way != nil && c.way.explore }

// hold returns the place that the choice has at its target's limits, or nil.
func (c Choice) hold() *hold {
	if c.way == nil {
		return nil
	}
	return c.way.hold
}

// Plan is the order in which routes of one model should be tried. The router never
// changes it once made.
type Plan struct {
	// Choices are the routes that may be taken now, best first. A budget that none
	// can keep leaves them all in.
	Choices []Choice
	// Refused are the routes that the call could take at another time. If neither
	// they nor Choices has any, no target that the endpoint may use serves the
	// model. The errors are plain values, not to be returned from Start.
	Refused []UnavailableError
	// Until is the earliest time at which one of Refused may be taken; zero: not
	// known.
	Until time.Time
	// HedgeFrom is the age of the first attempt from which on [Plan.Hedge] may have
	// an answer; 0: there will be no hedge.
	HedgeFrom time.Duration
	// Waited is for how long [Router.Wait] held the call back; 0: not at all.
	Waited time.Duration

	router   *Router
	endpoint *endpoint
	outlook  *outlook
	request  Request // for the model of the choices
	asked    string  // the model that the call names, where it could have another
}

// Plan ranks the routes that req may take. It looks up what the latest fold has
// tabled, or folds first if that is more than 250 ms old. It never waits: see
// [Router.Wait].
func (r *Router) Plan(req Request) Plan {
	p := Plan{router: r, endpoint: r.endpoint(req.Endpoint), request: req}
	p.make(time.Now())
	r.events.flush()
	return p
}

// among makes the plan of the request's model; with resort of its open routes too, where
// it has no other.
func (p *Plan) among(now time.Time, resort bool) {
	r, req := p.router, &p.request
	g := r.group(req.Model)
	if g == nil {
		return
	}
	p.outlook = g.current(now)
	var (
		weights [8]weighed
		routes  [16]ranked
		known   [16]int32
	)
	q := newQuestion(p.endpoint, req, now, weights[:0])
	if len(req.Prefixes) > 0 {
		q.known = r.prefixes.knownAt(req, now, known[:])
	}
	list := q.rank(g, p.outlook, routes[:0])
	admitted := p.admit(&q, list, now)
	if len(admitted) == 0 && resort && p.lastResort() {
		admitted = p.takeOpen(list, now)
	}
	if list = admitted; len(list) == 0 {
		return
	}
	r.order(list, q.tolerance(list))
	r.arrange(list)
	ease(list)
	q.explore(list, p.outlook)
	p.Choices = make([]Choice, len(list))
	for i := range list {
		x := &list[i]
		p.Choices[i] = Choice{
			Target:  r.targets[x.route.target].Name,
			Model:   req.Model,
			Abandon: seconds(x.abandon),
			way:     x.way(),
		}
	}
	p.HedgeFrom = p.hedgeFrom(now)
}

// way returns how the route is to be taken; usually one of those made beforehand.
func (x *ranked) way() *way {
	if x.probe || x.last || x.explore {
		return &way{route: x.route, key: int(x.key), probe: x.probe, last: x.last, explore: x.explore}
	}
	return &x.route.ways[x.key]
}

// order sorts by score, and then puts a random one of those first that are within
// tolerance of the best, unless one has the prompt cached.
func (r *Router) order(list []ranked, tolerance float64) {
	for i := 1; i < len(list); i++ { // there are few of them, and they are large
		k := i
		for k > 0 && list[k-1].score > list[i].score {
			k--
		}
		if k < i {
			toFront(list[k:i+1], i-k)
		}
	}
	if r.keep(list, tolerance) {
		return
	}
	near := 1
	for near < len(list) && list[near].score <= list[0].score+tolerance {
		near++
	}
	if near == 1 {
		return
	}
	drawn := int(r.random() % uint64(near))
	toFront(list, drawn)
}

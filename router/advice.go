package router

import (
	"cmp"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Advice is one thing that would make an endpoint faster. It is plain data.
type Advice struct {
	Kind string // one of the Advice constants
	Text string // one sentence with the numbers
	// Saves is what is expected to be saved at the median, Low and High are its 95%
	// interval; 0 where it is not a time. It is the median of those calls that the advice
	// is for.
	Saves, Low, High time.Duration
	Calls            int // evidence: calls that it rests on
}

// The kinds of advice.
const (
	AdviceStream = "stream" // calls that are not streamed show nothing before they end
	AdvicePrompt = "prompt" // long prompts take long to read
	AdviceCache  = "cache"  // prompts begin as others do, and are read again all the same
	AdviceCap    = "cap"    // answers are cut off, or take most of the time
	AdviceTarget = "target" // another target, which the endpoint may not use, is faster
)

const (
	// leastCalls is how many calls any advice rests on at least, and leastCut how many
	// that came to harm.
	leastCalls = 30
	leastCut   = 3

	// A saving is worth a word from this part of the shortest limit on, or of the median
	// where nothing is promised.
	worthOfLimit  = 0.05
	worthOfMedian = 0.1
	leastWorth    = 0.01 // seconds

	leastCutShare = 0.01 // of answers that a cap ends

	// adviseEvery is how old advice may grow before the next snapshot finds it anew: that
	// takes some milliseconds, and pages look every second.
	adviseEvery = 10 * time.Second

	// leastShort is how many prompts as short as another would be made tell how long that
	// would take.
	leastShort = 5
)

// adviser finds what to advise, for one snapshot.
type adviser struct {
	router *Router
	now    time.Time
	routes map[uint32]*observed // by the id of their records; nil: not looked at yet
}

// advised is what an endpoint was advised last. It never changes.
type advised struct {
	at  time.Time
	all []Advice
}

// observed is what an adviser knows of a route.
type observed struct {
	*route
	*forecast
	reading *reading // nil: not looked at yet
}

// reading is how a route's TTFT goes with the uncached tokens of prompts.
type reading struct {
	perToken estimate // seconds
	shortest float64  // the leastShort shortest prompts had no more tokens
}

// look finds out what the routes are that there have been calls on. On the shared one
// prompts of different models are mixed, so that nothing follows from them.
func (a *adviser) look() {
	a.routes = make(map[uint32]*observed)
	for _, g := range *a.router.groups.Load() {
		if g.model == otherModel || !g.tried() {
			continue
		}
		o := g.current(a.now)
		for _, rt := range g.routes {
			if rt != nil {
				a.routes[rt.id] = &observed{route: rt, forecast: o.routes[rt.target]}
			}
		}
	}
}

// reads returns what each uncached token of a prompt adds to the route's TTFT, by its own
// samples alone: what plans reckon with leans on what is built in.
func (o *observed) reads() *reading {
	if o.reading != nil {
		return o.reading
	}
	var points []sample
	o.mu.Lock()
	for i := range o.sizes.buckets {
		points = append(points, o.sizes.buckets[i].ring...)
	}
	o.mu.Unlock()
	o.reading = &reading{}
	if len(points) >= leastCalls {
		o.reading.perToken = slopeOf(points)
		slices.SortFunc(points, func(p, q sample) int { return cmp.Compare(p.tokens, q.tokens) })
		o.reading.shortest = float64(points[leastShort-1].tokens)
	}
	return o.reading
}

// counsel is an adviser on one endpoint.
type counsel struct {
	*adviser
	endpoint *endpoint
	calls    []habit
	kind     []habit // of them, the streamed ones if they are most, else the others
	streamed bool    // whether those are
	advice   []weighedAdvice
}

// weighedAdvice is an advice, and what it saves on average over all calls, in seconds.
type weighedAdvice struct {
	Advice
	worth float64
}

// of returns the advice on an endpoint, in a new slice.
func (a *adviser) of(e *endpoint) []Advice {
	last := e.advised.Load()
	if last == nil || a.now.Sub(last.at) >= adviseEvery {
		if a.routes == nil {
			a.look()
		}
		c := &counsel{adviser: a, endpoint: e}
		last = &advised{at: a.now, all: c.find()}
		e.advised.Store(last)
	}
	return slices.Clone(last.all)
}

// find returns all that there is to say, what saves most first.
func (c *counsel) find() (all []Advice) {
	e := c.endpoint
	e.outputs.mu.Lock()
	c.calls = slices.Clone(e.outputs.habits.ring)
	e.outputs.mu.Unlock()
	whole := c.those(false)
	c.kind = c.those(true)
	if c.streamed = len(c.kind) >= len(whole); !c.streamed {
		c.kind = whole
	}
	c.adviseCuts()
	if e.waitedFor() && len(c.calls) >= leastCalls {
		c.adviseStream(whole)
		c.advisePrompt()
		c.adviseCache()
		c.adviseLength()
		c.adviseTarget()
	}
	slices.SortStableFunc(c.advice, func(x, y weighedAdvice) int { return cmp.Compare(y.worth, x.worth) })
	for _, one := range c.advice {
		all = append(all, one.Advice)
	}
	return all
}

// waitedFor tells whether anybody waits for the endpoint's answers: it is not one that
// promises nothing and wants the cheapest.
func (e *endpoint) waitedFor() bool { return len(e.layers) > 0 || e.budget.CostWeight <= 0 }

// those returns the calls that are streamed, or the others.
func (c *counsel) those(streamed bool) (some []habit) {
	for _, h := range c.calls {
		if h.streamed == streamed {
			some = append(some, h)
		}
	}
	return some
}

// time returns what is waited for: the first content or, if it is not streamed, the end.
func (c *counsel) time(h *habit) float64 {
	if c.streamed {
		return float64(h.ttft)
	}
	return float64(h.total)
}

// metric returns that of time.
func (c *counsel) metric() budget.Metric {
	if c.streamed {
		return budget.TTFT
	}
	return budget.Total
}

// limit returns the shortest limit of a metric in seconds; 0: nothing is promised.
func (e *endpoint) limit(m budget.Metric) (least float64) {
	for i := range e.layers {
		if l := &e.layers[i]; l.metric == m && (least == 0 || l.limit < least) {
			least = l.limit
		}
	}
	return least
}

// add gives an advice to the share of calls for which it is, if it is certain to save
// something, and that is worth a word beside what is promised of the metric or, where
// nothing is, beside what it takes now.
func (c *counsel) add(kind, text string, saves estimate, calls int, m budget.Metric, takes float64) {
	worth := worthOfMedian * takes
	if limit := c.endpoint.limit(m); limit > 0 {
		worth = worthOfLimit * limit
	}
	if calls < leastCalls || !saves.sure() || saves.value < max(worth, leastWorth) {
		return
	}
	share := float64(calls) / float64(len(c.calls))
	c.advice = append(c.advice, weighedAdvice{Advice{
		Kind: kind, Text: text, Calls: calls,
		Saves: seconds(saves.value), Low: seconds(saves.low), High: seconds(saves.high),
	}, share * saves.value})
}

// medianFor estimates the median of what a func says of each call, false leaving it out,
// and returns how many were not.
func medianFor(calls []habit, of func(*habit) (estimate, bool)) (estimate, int) {
	values := make([]estimate, 0, len(calls))
	for i := range calls {
		if v, ok := of(&calls[i]); ok {
			values = append(values, v)
		}
	}
	return medianOf(values), len(values)
}

// middleOf is the median of what is measured.
func middleOf(calls []habit, of func(*habit) float64) estimate {
	e, _ := medianFor(calls, func(h *habit) (estimate, bool) { return exactly(of(h)), true })
	return e
}

package router

import (
	"math"
	"time"
)

// Hedge is advice on a second attempt beside one that is under way.
type Hedge struct {
	// Choice is the route that it should take, to be started like any other: it
	// takes one of the endpoint's allowance then, or is refused with [WhyAllowance].
	Choice Choice
	// At is the age of the running attempt from which on it pays, as things are
	// now. It is due if At is not above that age. [Unbounded]: at none, and there is
	// no Choice.
	At time.Duration
	// Again is the age at which to ask again, At or earlier, since things change; if it
	// is due and Choice is refused, a later one. 0: it will not pay any more, and
	// neither Choice nor At means anything.
	Again time.Duration
}

// hedgeFraction is the part of an endpoint's shortest limit before which calls are not
// hedged: until then nearly all are as well as ever.
const hedgeFraction = 0.25

// hedgesFrom returns the age of a call from which on hedges are thought of, or 0 if
// there are none, or no layer concerns the call that they could keep.
func (e *endpoint) hedgesFrom(streamed bool) time.Duration {
	shortest := math.Inf(1)
	for i := range e.layers {
		if l := &e.layers[i]; l.hedged(streamed) {
			shortest = min(shortest, l.limit)
		}
	}
	if e.allowance == nil || math.IsInf(shortest, 1) {
		return 0
	}
	return max(1, seconds(hedgeFraction*shortest))
}

// hedgeFrom returns HedgeFrom.
func (p *Plan) hedgeFrom(now time.Time) time.Duration {
	e, req := p.endpoint, &p.request
	from := e.hedgeWhole
	if req.Streamed {
		from = e.hedgeStreamed
	}
	switch {
	case from == 0 || len(p.Choices) < 2 || req.Single || req.Pin != "":
		return 0
	case p.Choices[0].Probe():
		return 1
	case !req.Since.IsZero():
		return max(1, from-now.Sub(req.Since))
	}
	return from
}

// pending is an attempt beside which a hedge may be started.
type pending struct {
	route    *route
	forecast *forecast
	tokens   float64 // of its prompt
	start    time.Time
	probe    bool
	flight   *Flight // nil if it is only imagined
}

// Hedge advises on a second attempt for a call whose attempt f has no content yet. Of
// the plan's choices those from the given one on are asked. It takes some ten times as
// long as a plan: ask at HedgeFrom, and from then on when the answer says.
func (p *Plan) Hedge(f *Flight, from int) Hedge {
	if f == nil || p.HedgeFrom == 0 || from >= len(p.Choices) {
		return Hedge{}
	}
	now := time.Now()
	defer p.router.events.flush()
	o := p.Choices[from].way.route.group.current(now)
	return p.advise(&pending{
		route: f.route, forecast: f.route.expect(), tokens: f.tokens, start: f.start,
		probe: f.ticket.probe || f.keyProbe, flight: f,
	}, from, o, now)
}

// advise finds whether, when and where a hedge pays.
func (p *Plan) advise(first *pending, from int, o *outlook, now time.Time) Hedge {
	var (
		weights [8]weighed
		limits  [8]stake
		routes  [16]ranked
		places  [16]rival
	)
	q := newQuestion(p.endpoint, &p.request, now, weights[:0])
	c := q.contest(first, limits[:0])
	age := now.Sub(first.start).Seconds()
	if age >= c.over {
		return Hedge{}
	}
	list := q.survey(p.Choices, o, routes[:0])
	rivals := p.rivals(&q, list, from, first, now, places[:0])
	price := p.endpoint.allowance.price(now)
	best, at := c.seek(age, price, rivals)
	if first.probe && !math.IsInf(price, 1) {
		best, at = c.most(age, rivals), age
	}
	h := Hedge{At: Unbounded, Again: c.again(age, at)}
	if best != nil {
		h.At, h.Choice = seconds(at), p.offer(&c, first, best, at)
	}
	return h
}

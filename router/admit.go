package router

import (
	"math"
	"slices"
	"time"
)

// standing is how a call may take a route now. The zero value is the usual way.
type standing struct {
	key      int32
	probe    bool    // it would find out whether the route or the key is well again
	last     bool    // it is taken although its breaker is open
	explore  bool    // it is taken to find out whether it has become better
	ramp     float32 // after an opening: of calls, the share that should not take it yet
	pressure float32 // on the score
}

// refusal is why a route may not be taken now. The zero value is none.
type refusal struct {
	why   string
	until time.Time
}

// stand looks at everything that can keep a call from a route.
func (q *question) stand(x *ranked, now time.Time) (no refusal) {
	rt := x.route
	if !rt.oneGoodKey(now.UnixNano()) {
		x.standing, no = rt.pickKey(now)
	}
	if no.why == "" && rt.breaker.state.Load() != closed {
		no = rt.breaker.stand(x, len(q.endpoint.tails) > 0, now)
	}
	if q := rt.account.quota; q != nil && no.why == "" {
		no.why, no.until = q.free(now)
	}
	return no
}

// plain tells whether there is nothing to be said about any route of the group. It
// costs a few atomics.
func (g *group) plain(nano int64) bool {
	r := g.router
	return g.simple && g.unwell.Load() == 0 && r.refused.Load() == 0 &&
		r.cooldowns.last.Load() <= nano && r.watched.Load() <= nano
}

func (rt *route) oneGoodKey(nano int64) bool {
	return len(rt.lanes) == 1 && !rt.account.keys[0].out.Load() &&
		rt.group.router.cooldowns.last.Load() <= nano && rt.group.router.watched.Load() <= nano
}

// pickKey finds the key with most headroom, where one is below half: of those about as
// good the one with fewest attempts under way, and in turns. A refused key is tried when
// it is due.
func (rt *route) pickKey(now time.Time) (s standing, no refusal) {
	best, turn := -1, 0
	if len(rt.lanes) > 1 {
		turn = int(rt.turn.Add(1) % uint32(len(rt.lanes)))
	}
	watched := rt.group.router.watched.Load() > now.UnixNano()
	var most float64
	for i := range rt.lanes {
		k := (i + turn) % len(rt.lanes)
		l := rt.lanes[k]
		if rt.account.keys[k].out.Load() {
			if due, _ := rt.account.keys[k].due(); now.Before(due) {
				no.add(WhyKeyRefused, due)
				continue
			}
			return standing{key: int32(k), probe: true}, refusal{}
		}
		if until := rt.group.router.cooldowns.until(l.name, now); !until.IsZero() {
			no.add(WhyCooling, until)
			continue
		}
		share := 1.0
		if watched {
			share = l.share(now)
		}
		if best < 0 || share > most+closeHeadroom ||
			share > most-closeHeadroom && l.running.Load() < rt.lanes[best].running.Load() {
			best, most = k, share
		}
	}
	if best >= 0 {
		return standing{key: int32(best), pressure: float32(pressure(most))}, refusal{}
	}
	return s, no
}

// closeHeadroom is the difference in headroom that does not matter between keys.
const closeHeadroom = 0.05

// add notes what holds back one key: of all the one that ends first. A cooldown says
// more than a refused key.
func (no *refusal) add(why string, until time.Time) {
	if no.why == "" || until.Before(no.until) {
		no.until = until
	}
	if no.why != WhyCooling {
		no.why = why
	}
}

// admit sorts the ranked routes into those that the plan lists and those that it
// refuses.
func (p *Plan) admit(q *question, list []ranked, now time.Time) []ranked {
	if len(list) == 0 || list[0].route.group.plain(now.UnixNano()) {
		return list
	}
	admitted, probes := make([]ranked, 0, len(list)), 0
	for _, x := range list {
		no := q.stand(&x, now)
		if no.why != "" && !q.takesSlow(&x, no) {
			p.refuse(x.route, no)
			continue
		}
		if x.probe {
			probes++
		}
		q.press(&x)
		admitted = append(admitted, x)
	}
	if probes > 1 {
		return p.oneProbe(admitted)
	}
	return admitted
}

// takesSlow tells whether a route that is open may be taken since it is only slow:
// after all others, or as always by an endpoint that promises nothing of the kind.
func (q *question) takesSlow(x *ranked, no refusal) bool {
	if no.why != WhyOpen && no.why != WhyProbing || !x.route.breaker.latency.Load() {
		return false
	}
	x.last = true
	if len(q.endpoint.tails) > 0 {
		x.score = math.Inf(1)
	}
	return true
}

// press makes a route worse that is near a limit of its provider. Where scores are
// times that is in proportion.
func (q *question) press(x *ranked) {
	if q.byTime() {
		x.score *= 1 + float64(x.pressure)
	} else {
		x.score += float64(x.pressure)
	}
}

// oneProbe keeps a call from more than one probe: two could fail.
func (p *Plan) oneProbe(list []ranked) []ranked {
	seen := false
	return slices.DeleteFunc(list, func(x ranked) bool {
		again := x.probe && seen
		seen = seen || x.probe
		if again {
			p.refuse(x.route, refusal{why: WhyProbing})
		}
		return again
	})
}

func (p *Plan) refuse(rt *route, no refusal) {
	p.add(UnavailableError{
		Target: p.router.targets[rt.target].Name,
		Model:  p.request.Model,
		Why:    no.why,
		Until:  no.until,
	})
}

func (p *Plan) add(e UnavailableError) {
	p.Refused = append(p.Refused, e)
	if !e.Until.IsZero() && (p.Until.IsZero() || e.Until.Before(p.Until)) {
		p.Until = e.Until
	}
}

// lastResort tells whether nothing is left but routes whose breaker is open and
// such as will not come back by waiting a little. Then an open breaker protects
// nothing.
func (p *Plan) lastResort() bool {
	some := false
	for i := range p.Refused {
		switch p.Refused[i].Why {
		case WhyOpen, WhyProbing:
			some = true
		case WhyKeyRefused:
		default:
			return false
		}
	}
	return some
}

// takeOpen admits the routes whose breaker is open.
func (p *Plan) takeOpen(list []ranked, now time.Time) (admitted []ranked) {
	for _, x := range list {
		var no refusal
		if x.standing, no = x.route.pickKey(now); no.why == "" {
			x.last = true
			admitted = append(admitted, x)
		}
	}
	refused := p.Refused
	p.Refused, p.Until = nil, time.Time{}
	for _, e := range refused {
		if e.Why == WhyKeyRefused {
			p.add(e)
		}
	}
	return admitted
}

// arrange puts a probe first, so that it is made at all: its route's record is bad.
// A route that is coming back keeps to its share.
func (r *Router) arrange(list []ranked) {
	for i := range list {
		if list[i].probe {
			toFront(list, i)
			return
		}
	}
	if list[0].ramp == 0 {
		return
	}
	for i := range list {
		if list[i].ramp == 0 || r.fraction() >= float64(list[i].ramp) {
			toFront(list, i)
			return
		}
	}
}

// toFront puts list[i] first and lets the others keep their order.
func toFront[T any](list []T, i int) {
	first := list[i]
	copy(list[1:i+1], list[:i])
	list[0] = first
}

package router

import "time"

// hedgeCost is what a hedge at the median cost must gain besides its price, as a part
// of what that cost weighs in a choice: a second attempt is mostly a short one.
const hedgeCost = 0.2 / 12

// rival is a route that a hedge may take.
type rival struct {
	leg
	route    *route
	key      int
	last     bool
	abandon  float64 // seconds
	failures float64
	factor   float64 // of its chances beside the first attempt; see pairing
	cost     float64
}

// rescues returns P(content within so many seconds) given that the first attempt has
// none.
func (y *rival) rescues(spare float64, atom int) float64 {
	return min(1, y.factor*(1-y.failures)*(1-y.waits(spare, atom)))
}

// survey looks at the routes of a plan. Their scores are their costs.
func (q *question) survey(choices []Choice, o *outlook, list []ranked) []ranked {
	for i := range choices {
		x := q.look(choices[i].way.route, o)
		x.score = 0
		list = append(list, x)
	}
	if q.endpoint.cost > 0 && len(list) > 0 {
		q.addCost(list)
	}
	return list
}

// rivals returns those routes of a plan, from a choice on, that can be of help: well, with
// room at their limits, not late themselves, and not the one that is waited for.
func (p *Plan) rivals(q *question, list []ranked, from int, first *pending, now time.Time, to []rival) []rival {
	factors := p.router.pairing.factors(now)
	for i := from; i < len(list); i++ {
		x, way := &list[i], p.Choices[i].way
		if way.probe || x.route.target == first.route.target || x.route.unfit(x.forecast, first.forecast) {
			continue
		}
		cost := hedgeCost * x.score
		if no := q.stand(x, now); no.why != "" && !q.takesSlow(x, no) || x.probe || x.pressure > 0 || x.route.account.quota.scarce(now) {
			continue
		}
		y := rival{
			route:    x.route,
			key:      int(x.key),
			last:     x.last,
			abandon:  x.abandon,
			failures: x.forecast.failures,
			factor:   factors[p.router.kinship(first.route.target, x.route.target)],
			cost:     cost,
		}
		q.leg(&y.leg, x.forecast, x.tokens)
		to = append(to, y)
	}
	return to
}

// offer is a choice for a hedge, and what it was made for.
type offer struct {
	way
	pair
}

// offer makes the choice of a rival's route, to be started at an age of the first
// attempt.
func (p *Plan) offer(c *contest, first *pending, y *rival, at float64) Choice {
	o := &offer{way: way{route: y.route, key: y.key, last: y.last}}
	o.way.hedge = o
	o.pair.kinship = p.router.kinship(first.route.target, y.route.target)
	o.first = first.flight
	m := c.at(at)
	o.within = c.within(&m, y)
	o.predicted = c.predict(&m, y, o.within)
	return Choice{
		Target:  p.router.targets[y.route.target].Name,
		Model:   p.request.Model,
		Abandon: seconds(y.abandon),
		way:     &o.way,
	}
}

package router

import (
	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/latency"
)

// lengthAtoms are the lengths of an answer that stand for all where the whole of it
// matters.
const lengthAtoms = 4

const (
	// What a miss weighs in a hedge is what it adds to the debt, times how dear debt is.
	hedgeStep = 0.05

	// There is one limit more than promised, at so many times the last one, lest
	// nothing be rescued once that has passed.
	lastLimit = 2
)

// contest is a call that waits for content, and what a second attempt may gain it.
type contest struct {
	first  leg
	stakes []stake
	over   float64 // age of the first attempt from which on nothing is left to be gained
	atoms  int     // how many lengths of the answer are told apart
}

// stake is one limit and what it is worth to keep it.
type stake struct {
	limit  float64 // seconds from the start of the first attempt
	weight float64
	total  bool                 // it is one for the whole answer
	missed [lengthAtoms]float64 // P(the first attempt has no content in time), by length of the answer
}

// leg is how long an attempt takes until its content, by the length of the answer: a
// whole answer that is long takes long everywhere, which is no bad luck.
type leg struct {
	dist   *latency.Dist
	factor [lengthAtoms]float64
	rest   [lengthAtoms]float64 // seconds from the content to the end
}

// waits returns P(no content within t seconds).
func (l *leg) waits(t float64, atom int) float64 { return l.dist.Survival(t / l.factor[atom]) }

// spare returns how many seconds are left for the content of an attempt that starts t
// seconds after the first.
func (s *stake) spare(l *leg, t float64, atom int) float64 {
	if s.total {
		return s.limit - l.rest[atom] - t
	}
	return s.limit - t
}

// hedged tells whether a hedge may keep the layer.
func (l *layer) hedged(streamed bool) bool {
	return l.metric == budget.Total || l.metric == budget.TTFT && streamed
}

// leg sets l for a call with a prompt of so many tokens.
func (q *question) leg(l *leg, f *forecast, tokens float64) {
	l.dist = &f.dist[total]
	if q.req.Streamed {
		l.dist = &f.dist[ttft]
	}
	for i := range lengthAtoms {
		outputs := atMost(q.lengths.atoms[i], q.req.MaxTokens)
		if q.req.Streamed {
			l.factor[i], l.rest[i] = f.fit.factor(tokens), (outputs-1)*f.pace
		} else {
			l.factor[i], l.rest[i] = f.work(tokens, outputs), 0
		}
	}
}

// contest finds what is at stake for a call, as it stands if it has had attempts before.
func (q *question) contest(first *pending, stakes []stake) (c contest) {
	q.leg(&c.first, first.forecast, first.tokens)
	c.stakes, c.atoms = stakes, 1
	offset := 0.0
	if since := q.req.Since; !since.IsZero() {
		offset = first.start.Sub(since).Seconds()
	}
	var last stake
	for _, l := range q.layers {
		if !l.hedged(q.req.Streamed) {
			continue
		}
		s := stake{
			limit:  l.limit - offset,
			weight: hedgeStep * (q.endpoint.ledger.Debt(l.index) + baseDebt) / l.allowed,
			total:  l.metric == budget.Total,
		}
		if s.total {
			c.atoms = lengthAtoms
		}
		c.stakes = append(c.stakes, s)
		if last.weight == 0 || c.middle(&s) >= c.middle(&last) {
			last = s
		}
	}
	last.limit = lastLimit*(last.limit+offset) - offset
	c.stakes = append(c.stakes, last)
	for i := range c.stakes {
		s := &c.stakes[i]
		for atom := range c.atoms {
			s.missed[atom] = c.first.waits(s.spare(&c.first, 0, atom), atom)
		}
	}
	c.over = last.limit
	return c
}

// middle returns the age by which the first attempt must have content, for an answer
// of middling length.
func (c *contest) middle(s *stake) float64 {
	return s.spare(&c.first, 0, lengthAtoms/2)
}

// moment is an age of the first attempt at which it is still without content.
type moment struct {
	t     float64
	waits [lengthAtoms]float64 // P(it would be), by length
	sum   float64
}

func (c *contest) at(t float64) (m moment) {
	m.t = t
	for atom := range c.atoms {
		m.waits[atom] = c.first.waits(t, atom)
		m.sum += m.waits[atom]
	}
	return m
}

// gain returns G(t): what a hedge on the rival's route that is started now is worth.
func (c *contest) gain(m *moment, y *rival) float64 {
	sum := 0.0
	for i := range c.stakes {
		s := &c.stakes[i]
		for atom := range c.atoms {
			part, _ := c.part(s, m, y, atom)
			sum += part
		}
	}
	if m.sum == 0 {
		return sum / float64(c.atoms)
	}
	return sum / m.sum
}

// part returns what one limit adds to the gain for one length of the answer, and the
// seconds that a hedge has for it.
func (c *contest) part(s *stake, m *moment, y *rival, atom int) (gain, spare float64) {
	if spare = s.spare(&y.leg, m.t, atom); spare <= 0 {
		return 0, spare
	}
	missed := min(s.missed[atom], m.waits[atom])
	if m.sum == 0 {
		missed = 1 // nothing was ever seen to take so long: it is hopeless
	}
	return s.weight * missed * y.rescues(spare, atom), spare
}

// within returns how many seconds a hedge that starts at m may take to be in time for
// what it is mostly started for.
func (c *contest) within(m *moment, y *rival) (within float64) {
	most := -1.0
	for i := range c.stakes {
		gain, spare := 0.0, 0.0
		for atom := range c.atoms {
			one, left := c.part(&c.stakes[i], m, y, atom)
			gain += one
			spare += left / float64(c.atoms)
		}
		if gain > most {
			most, within = gain, max(0, spare)
		}
	}
	return within
}

// predict returns P(the rival has content before the first attempt, and within so many
// seconds) if it starts at m and the two have nothing to do with each other.
func (c *contest) predict(m *moment, y *rival, within float64) float64 {
	const steps = 24
	sum := 0.0
	for atom := range c.atoms {
		before := 1.0
		for k := range steps {
			u := within * float64(k+1) / steps
			waits := y.waits(u, atom)
			still := 1.0
			if m.sum > 0 {
				still = c.first.waits(m.t+u-within/(2*steps), atom) / m.sum
			} else {
				still /= float64(c.atoms)
			}
			sum += (before - waits) * still
			before = waits
		}
	}
	return (1 - y.failures) * sum
}

package router

import (
	"math"
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

// How many samples of one's own weigh as much as what is leant on.
const (
	fastLean = 8  // the last minute on the last hour
	slowLean = 20 // a route on its relatives, and those on more distant ones
)

// scratch is the memory that one fold needs, kept for the next.
type scratch struct {
	fast, slow []latency.Counts // by target
	views      []view           // by target
	sum, ring  latency.Counts
	base       latency.Counts // what the next nearer counts lean on
}

// view is what a fold takes from a route under its lock.
type view struct {
	waiting []wait
	points  []point
	fitted  bool
	share   share

	degraded bool
	slow     string // why it should be opened
}

// wait is an attempt without content.
type wait struct {
	age             float64 // seconds
	tokens, outputs float64
	streamed        bool
}

func newScratch(targets int) *scratch {
	return &scratch{
		fast:  make([]latency.Counts, targets),
		slow:  make([]latency.Counts, targets),
		views: make([]view, targets),
	}
}

// fold looks at all that the group's routes have seen. The caller holds folding.
func (g *group) fold(now time.Time, old *outlook, s *scratch) *outlook {
	o := &outlook{
		at:     now,
		routes: make([]*forecast, len(g.routes)),
		kin:    make([]*kin, len(g.routes)),
	}
	for i, rt := range g.routes {
		if rt != nil {
			o.routes[i] = rt.view(now, &s.views[i])
			if why := s.views[i].slow; why != "" {
				rt.openSlow(why, now)
			}
			o.routes[i].tables = make([]tablePlace, 2*len(g.router.byIndex))
		}
	}
	g.trace(now)
	g.foldShares(o, s)
	for m := range metrics {
		g.foldMetric(m, now, old, o, s)
	}
	if old != nil {
		g.renewTables(now, old, o)
	}
	return o
}

// view copies what a fold needs and starts the forecast.
func (rt *route) view(now time.Time, v *view) *forecast {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	v.slow = rt.overdue(now)
	v.degraded = rt.degraded(now)
	v.waiting = v.waiting[:0]
	for _, f := range rt.waiting {
		f.note(now.Sub(f.start).Seconds(), false, now)
		v.waiting = append(v.waiting, wait{
			age:      now.Sub(f.start).Seconds(),
			tokens:   f.tokens,
			outputs:  f.outputs,
			streamed: f.streamed,
		})
	}
	others := rt.others.Load()
	v.points = others.addPoints(rt.sizes.points(v.points[:0]))
	v.share = others.addShare(rt.share.with(rt.absent, now), now)
	f := &forecast{
		bytesPerToken: others.bytesPerToken(&rt.ratio), typical: others.typical(&rt.sizes),
		hits: rt.hits.expected(), recent: rt.recent.fade(now),
	}
	if v.fitted = len(v.points) > 0; v.fitted {
		f.fit, f.fitted = fitSizes(v.points), true
	}
	return f
}

// foldShares finds the share of failures, by the same two time scales and the same
// relatives as the distributions.
func (g *group) foldShares(o *outlook, s *scratch) {
	var sum tally
	for i, rt := range g.routes {
		if rt != nil {
			sum = sum.add(s.views[i].share.slow, 1)
			if slow := s.views[i].share.slow; slow != (tally{}) {
				k := kinOf(o.kin, g.router.providers[i])
				k.share = k.share.add(slow, 1)
			}
		}
	}
	for i, rt := range g.routes {
		if rt == nil {
			continue
		}
		own := s.views[i].share
		others := sum.add(own.slow, -1)
		p := g.origins[g.router.providers[i]].failures
		p = tally{max(0, others.well), max(0, others.failed)}.lean(p, slowLean)
		p = own.slow.lean(p, slowLean)
		o.routes[i].failures = own.fast.lean(p, fastLean)
		o.routes[i].outcomes = fresh(own.fast.attempts(), own.slow.attempts())
	}
}

// foldMetric finds the distribution of one metric for every route.
func (g *group) foldMetric(m int, now time.Time, old, o *outlook, s *scratch) {
	s.sum = *latency.NewCounts(units[m])
	for i, rt := range g.routes {
		if rt == nil {
			continue
		}
		fast, slow := &s.fast[i], &s.slow[i]
		*fast, *slow = *latency.NewCounts(units[m]), *latency.NewCounts(units[m])
		rt.fold(m, now, fast, slow)
		o.routes[i].count(m, fast, slow)
		o.routes[i].setUsual(m, slow, now, old, i)
		if s.views[i].degraded {
			scale(slow, slowShare)
		}
		if mass(slow) > 0 {
			s.sum.Add(slow, 1)
			kinOf(o.kin, g.router.providers[i]).counts[m].Add(slow, 1)
		}
	}
	o.shareUsual(m)
	for i, rt := range g.routes {
		if rt == nil {
			continue
		}
		f := o.routes[i]
		g.leanOnRelatives(m, i, f, s)
		f.settle(m, &s.fast[i], &s.views[i])
	}
}

// count notes how much the route has seen of one metric.
func (f *forecast) count(m int, fast, slow *latency.Counts) {
	for _, n := range slow.Ended {
		f.seen[m] += n
	}
	all := mass(slow)
	f.fresh[m] = fresh(mass(fast), all)
	if m != tpot {
		f.own += all
	}
}

// fold adds what the route has seen of one metric, here and elsewhere.
func (rt *route) fold(m int, now time.Time, fast, slow *latency.Counts) {
	rt.others.Load().addTimes(m, now, fast, slow)
	switch m {
	case ttft:
		rt.ttft.Fold(now, fast, slow)
	case tpot:
		rt.tpot.Fold(now, fast, slow)
	case total:
		rt.mu.Lock()
		defer rt.mu.Unlock()
		if rt.total != nil {
			rt.total.fade(now)
			fast.Add(&rt.total.fast, 1)
			slow.Add(&rt.total.slow, 1)
		}
	}
}

// leanOnRelatives mixes into the fast counts of a route its slow ones, into those
// what the same model does elsewhere, and so on outwards. Counts are mixed, not the
// distributions that follow from them, so that what was cut off early does not
// pass for evidence of what comes later.
func (g *group) leanOnRelatives(m, i int, f *forecast, s *scratch) {
	o := &g.origins[g.router.providers[i]]
	switch m {
	case ttft:
		s.base = priors.ttft
	case tpot:
		s.base = priors.tpot
	case total:
		f.compose(&s.base)
	}
	if o.distant != nil {
		s.leanBase(&o.distant[m])
	}
	if o.near != nil {
		s.leanBase(&o.near[m])
	}
	without(&s.ring, &s.sum, &s.slow[i])
	s.leanBase(&s.ring)
	s.leanBase(&s.slow[i])
	lean(&s.fast[i], &s.base, fastLean)
}

// leanBase makes c, leaning on the base, the new base.
func (s *scratch) leanBase(c *latency.Counts) {
	scale(&s.base, slowLean/mass(&s.base))
	s.base.Add(c, 1)
}

// addWaiting counts what is still under way: it has taken at least as long as it
// has been. This is how a hang is seen before anything has completed.
func (f *forecast) addWaiting(m int, c *latency.Counts, v *view) {
	for _, w := range v.waiting {
		switch {
		case m == ttft && w.streamed:
			c.Censor(w.age/f.fit.factor(w.tokens), 1)
		case m == total && !w.streamed:
			c.Censor(w.age/f.work(w.tokens, w.outputs), 1)
		}
	}
}

// settle makes the distribution of one metric, given the counts of all that has
// ended, and what plans look up of it.
func (f *forecast) settle(m int, c *latency.Counts, v *view) {
	if m == ttft && !v.fitted {
		d := c.Dist()
		f.fit = guessSizes(bounded(d.Quantile(0.5), longest))
	}
	f.addWaiting(m, c, v)
	f.dist[m] = c.Dist()
	if m == tpot {
		f.setPaces()
		return
	}
	f.setQuantiles(m)
	// A failure never comes: the median of all is a higher quantile of the rest.
	f.median[m] = longest * (1 + f.failures)
	if half := 0.5 / (1 - f.failures); half < 1 {
		f.median[m] = bounded(f.dist[m].Quantile(half), f.median[m])
	}
	c.Censored = [latency.Buckets]float64{}
	came := c.Dist()
	f.p99[m] = bounded(came.Quantile(0.99), longest)
}

// lean adds weight samples that are distributed like other.
func lean(c, other *latency.Counts, weight float64) {
	c.Add(other, weight/mass(other))
}

// mass returns how many samples there are, ended or not.
func mass(c *latency.Counts) float64 {
	sum := 0.0
	for i := range c.Ended {
		sum += c.Ended[i] + c.Censored[i]
	}
	return sum
}

// without sets c to sum less part.
func without(c, sum, part *latency.Counts) {
	*c = *sum
	for i := range c.Ended {
		c.Ended[i] = math.Max(0, sum.Ended[i]-part.Ended[i])
		c.Censored[i] = math.Max(0, sum.Censored[i]-part.Censored[i])
	}
}

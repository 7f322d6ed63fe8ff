package router

import (
	"math"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

const (
	// exploreEvery is how many calls of an endpoint pass between two that explore: less
	// than 1% do, and never two in a row. A call that cannot be hedged, or whose prompt
	// is long, explores only if as many more have passed without a better one.
	exploreEvery = 100

	// unknownEvery is the same for a route of which nothing has been seen, while the best
	// of the known is expected to break a promise: then there is little to lose, and
	// what is unknown is judged by its relatives, which may be what is bad.
	unknownEvery = 4

	// optimism is how many standard deviations below its estimate the chance of a miss
	// is thought possible: one time in twenty it is lower still.
	optimism = 1.645

	// freshness is how many times as much evidence that has come evenly weighs in slow
	// as in fast: the ratio of their half-lives.
	freshness = float64(slowHalfLife / fastHalfLife)

	// warm is the evidence of its own, in attempts, from which on a route takes any
	// number of calls at a time.
	warm = fastLean
)

// fresh returns how many attempts say how a route is now, given the weight of all that
// it has seen on both time scales: those of the last minutes for as many as there
// would be if all had come like them. What is not renewed counts for less and less,
// half of it every 30 s, however much there was.
func fresh(fast, slow float64) float64 { return min(slow, freshness*fast) }

// lowest returns the least share that may be behind one that was seen in n attempts: the
// lower bound of Wilson's interval, 0 where nothing was seen.
func lowest(share, n float64) float64 {
	const z = optimism
	return max(0, share*n+z*z/2-z*math.Sqrt(share*(1-share)*n+z*z/4)) / (n + z*z)
}

// optimistic is the score of a route if it is as well as what was seen of it lately
// allows. Cost is what it is.
func (q *question) optimistic(x *ranked) float64 {
	f := x.forecast
	failures := lowest(f.failures, f.outcomes)
	if q.byTime() {
		m, factor := q.timed(x)
		half := lowest(0.5, f.fresh[m]) / (1 - failures)
		return bounded(f.dist[m].Quantile(half), longest) * factor
	}
	score := x.score - q.score(x) + q.answered*failures*failures
	for _, l := range q.layers {
		late := lowest(q.late(x, l.layer), q.evidence(f, l.metric))
		score += l.weight * (failures + (1-failures)*late)
	}
	return score
}

// evidence returns how many attempts tell how a route keeps the layers of a metric now.
func (q *question) evidence(f *forecast, m budget.Metric) float64 {
	switch {
	case m == budget.TPOT:
		return f.fresh[tpot]
	case m == budget.Total && !q.req.Streamed:
		return f.fresh[total]
	case m == budget.Total:
		return min(f.fresh[ttft], f.fresh[tpot])
	}
	return f.fresh[ttft]
}

// explore puts a route first, once in a while, that would be the best if it had become
// as well as may be: it would never be tried again otherwise, and never be found out.
// The best route stays next in line, where a hedge finds it.
func (q *question) explore(list []ranked, o *outlook) {
	if len(list) < 2 {
		return
	}
	may, unknown := q.mayExplore(&list[0], o), false
	if !may {
		unknown = q.mayTry(list)
	}
	if !may && !unknown {
		return
	}
	found, least := 0, list[0].score
	for i := 1; i < len(list); i++ {
		if x := &list[i]; (may || x.forecast.own == 0) && x.explorable(q.now) {
			if score := q.optimistic(x); score < least {
				found, least = i, score
			}
		}
	}
	if found > 0 {
		toFront(list, found)
		list[0].explore = true
	}
}

// mayExplore tells whether it is this call's turn. If there is nothing to explore, no
// other looks for it until more is known.
func (q *question) mayExplore(first *ranked, o *outlook) bool {
	if q.req.Attempts > 0 || q.req.Pin != "" || first.probe || first.last {
		return false
	}
	passed, due := q.endpoint.unexplored.Load(), int64(exploreEvery)
	if passed < due {
		return false
	}
	if q.req.Single || first.forecast.tokens(q.req.PromptBytes) > smallCall*first.forecast.typical {
		due *= 2
	}
	at := o.at.UnixNano()
	return passed >= due && q.endpoint.searched.Swap(at) != at
}

// mayTry tells whether it is this call's turn to try a route of which nothing has been
// seen, since the best that is known would break a promise.
func (q *question) mayTry(list []ranked) bool {
	first := &list[0]
	if q.req.Attempts > 0 || q.req.Pin != "" || q.req.Single || first.probe || first.last ||
		first.forecast.own == 0 || q.endpoint.unexplored.Load() < unknownEvery {
		return false
	}
	return slices.ContainsFunc(list, func(x ranked) bool { return x.forecast.own == 0 }) &&
		slices.ContainsFunc(q.layers, func(l weighed) bool { return q.miss(first, l.layer) > l.allowed })
}

// explorable tells whether a route is well, and nobody is finding out about it.
func (x *ranked) explorable(now time.Time) bool {
	return x.standing == (standing{key: x.key}) && x.route.breaker.state.Load() == closed &&
		x.route.explored.Load() <= now.UnixNano() && x.route.unanswered() == 0
}

// unanswered returns how many attempts are under way without content.
func (rt *route) unanswered() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return len(rt.waiting)
}

// explore makes the flight the one that explores its route, unless another call has done
// so since it was planned.
func (f *Flight) explore(now time.Time) bool {
	held, lease := f.route.explored.Load(), now.Add(2*f.abandon).UnixNano()
	if held > now.UnixNano() || !f.route.explored.CompareAndSwap(held, lease) {
		return false
	}
	passed, due := &f.endpoint.unexplored, int64(exploreEvery)
	if f.route.expect().own == 0 {
		due = unknownEvery
	}
	for n := passed.Load(); n >= due; n = passed.Load() {
		if passed.CompareAndSwap(n, 0) {
			f.lease = lease
			return true
		}
	}
	f.route.explored.CompareAndSwap(lease, 0)
	return false
}

// explored ends an exploration: there is content, or there will be none.
func (f *Flight) explored() {
	if f.lease != 0 {
		f.route.explored.CompareAndSwap(f.lease, 0)
	}
}

// ease keeps a route that is first, and of which next to nothing is known, from taking
// all calls at once: it takes no more at a time than it has been seen to answer, and
// one. The next that is well known takes the others.
func ease(list []ranked) {
	x := &list[0]
	if x.forecast.own >= warm || x.probe || x.last {
		return
	}
	for i := 1; i < len(list); i++ {
		if list[i].forecast.own >= warm && !list[i].last {
			if float64(x.route.unanswered()) >= 1+x.forecast.own {
				toFront(list, i)
			}
			return
		}
	}
}

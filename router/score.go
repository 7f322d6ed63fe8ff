package router

import (
	"math"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

const (
	// baseDebt is the debt that every layer is reckoned to have in addition, so
	// that a promise weighs something before it was ever broken.
	baseDebt = 0.2

	// closeScore is how much worse than the best a route may score, as a part of
	// the best score, and still be drawn: so near, taking turns is worth more than
	// being right.
	closeScore = 0.03
)

// ranked is a route with its score: the less, the better.
type ranked struct {
	route    *route
	forecast *forecast
	tokens   float64 // uncached prompt tokens, estimated
	factor   float64 // of its TTFT for such a prompt
	abandon  float64 // seconds after which an attempt without content is given up
	cost     float64 // USD
	score    float64
	standing
	known int32 // bytes of the prompt that should be cached
}

// question is what a plan asks about every route.
type question struct {
	endpoint *endpoint
	req      *Request
	now      time.Time
	lengths  *lengths
	limit    int       // the cap's index on the grid of lengths
	layers   []weighed // those that concern the call
	answered float64   // weight of an error that reaches the caller
	known    []int32   // by target, bytes of the prompt that should be cached; nil: not looked up
}

// weighed is a layer and what a miss of it weighs at its present debt.
type weighed struct {
	*layer
	weight float64
}

func newQuestion(e *endpoint, req *Request, now time.Time, buf []weighed) question {
	q := question{
		endpoint: e,
		req:      req,
		now:      now,
		lengths:  e.outputs.current(now),
		limit:    gridIndex(req.MaxTokens),
		layers:   buf,
	}
	for i := range e.layers {
		l := &e.layers[i]
		if req.Streamed || l.metric == budget.Total {
			q.layers = append(q.layers, weighed{l, (e.ledger.Debt(l.index) + baseDebt) / l.allowed})
		}
	}
	q.answered = (e.ledger.Debt(e.answered()) + baseDebt) / e.answeredAllowed
	return q
}

// rank scores the routes of g that the call may take.
func (q *question) rank(g *group, o *outlook, list []ranked) []ranked {
	takers := g.router.formats.takers(q.req.Format)
	for i, rt := range g.routes {
		if rt != nil && (takers == nil || takers[i]) && q.admits(g.router, i) {
			list = append(list, q.look(rt, o))
		}
	}
	if !q.byTime() && q.endpoint.cost > 0 {
		q.addCost(list)
	}
	return list
}

// look works out how good a route is for the call, cost apart.
func (q *question) look(rt *route, o *outlook) ranked {
	f := o.routes[rt.target]
	x := ranked{route: rt, forecast: f}
	if f.hits > 0 {
		x.known = q.knownTo(rt)
	}
	x.tokens = f.uncached(q.req.PromptBytes, int(x.known))
	x.factor = f.fit.factor(x.tokens)
	x.abandon = q.abandon(&x)
	x.score = q.score(&x)
	return x
}

func (q *question) admits(r *Router, target int) bool {
	t := &r.targets[target]
	return q.endpoint.allowed[target] && (q.req.Pin == "" || q.req.Pin == t.Name) &&
		(q.req.Avoid == "" || q.req.Avoid != t.Provider)
}

// byTime tells whether scores are times: nothing was promised to the call, nor is it
// to be cheap.
func (q *question) byTime() bool { return len(q.layers) == 0 && !q.endpoint.frugal }

// score weighs the chance of each miss or, where nothing was promised, is the time
// that is to be expected.
func (q *question) score(x *ranked) float64 {
	f := x.forecast
	if q.byTime() {
		m, factor := q.timed(x)
		return f.median[m] * factor
	}
	score := q.answered * f.failures * f.failures
	for _, l := range q.layers {
		score += l.weight * q.miss(x, l.layer)
	}
	return score
}

// timed returns which metric counts where nothing was promised, and how much longer
// the call takes than one of the reference sizes.
func (q *question) timed(x *ranked) (metric int, factor float64) {
	if q.req.Streamed {
		return ttft, x.factor
	}
	return total, x.forecast.work(x.tokens, atMost(q.lengths.median, q.req.MaxTokens))
}

// miss returns P(the layer is missed): by an error, or by being late.
func (q *question) miss(x *ranked, l *layer) float64 {
	failures := x.forecast.failures
	return failures + (1-failures)*q.late(x, l)
}

// late returns P(the layer is missed, unless by an error). What is given up will not
// come any more, so that no longer limit is kept either.
func (q *question) late(x *ranked, l *layer) float64 {
	f := x.forecast
	switch l.metric {
	case budget.TTFT:
		return f.dist[ttft].Survival(min(l.limit, x.abandon) / x.factor)
	case budget.TPOT:
		return f.dist[tpot].Survival(l.limit)
	}
	t := f.table(q.endpoint, q.lengths, q.req.Streamed)
	return max(float64(t.miss[l.total][sizeBucket(x.tokens)][q.limit]), q.givenUp(x))
}

// givenUp returns P(no content comes before an attempt is given up).
func (q *question) givenUp(x *ranked) float64 {
	f := x.forecast
	if q.req.Streamed {
		return f.dist[ttft].Survival(x.abandon / x.factor)
	}
	return f.dist[total].Survival(x.abandon / f.work(x.tokens, q.lengths.mean[q.limit]))
}

// tolerance returns how much worse than the best of list another may score and be
// as good. A score below twice the base debt means promises kept several times over;
// what differs there is noise, and to follow it would send everything to one route.
func (q *question) tolerance(list []ranked) float64 {
	best := list[0].score
	for _, x := range list[1:] {
		best = min(best, x.score)
	}
	if !q.byTime() {
		best = max(best, 2*baseDebt)
	}
	return closeScore * best
}

// addCost adds what each route costs, in medians of them all.
func (q *question) addCost(list []ranked) {
	var buf [16]float64
	costs := buf[:0]
	for i := range list {
		x := &list[i]
		price := &x.route.price
		x.cost = (x.tokens*price.Input + q.lengths.mean[q.limit]*price.Output) / 1e6
		if x.known > 0 {
			x.cost += x.forecast.cached(int(x.known)) * price.cached() / 1e6
		}
		costs = insert(costs, x.cost)
	}
	n := len(costs)
	if n == 0 {
		return
	}
	median := (costs[(n-1)/2] + costs[n/2]) / 2
	if !(median > 0) {
		return
	}
	for i := range list {
		list[i].score += q.endpoint.cost * list[i].cost / median
	}
}

// insert puts v into its place in sorted.
func insert(sorted []float64, v float64) []float64 {
	sorted = append(sorted, v)
	i := len(sorted) - 1
	for ; i > 0 && sorted[i-1] > v; i-- {
		sorted[i] = sorted[i-1]
	}
	sorted[i] = v
	return sorted
}

const (
	// An attempt is hopeless after this many times the p99 of those that brought
	// something, but not before the least, unless the endpoint says so.
	abandonFactor = 3
	leastAbandon  = 5.0   // seconds
	mostAbandon   = 600.0 // seconds
)

// abandon returns when to give up an attempt without content, in seconds.
func (q *question) abandon(x *ranked) float64 {
	p99 := q.came(x, q.lengths.p99)
	hopeless := min(abandonFactor*p99, mostAbandon)
	if !q.req.Deadline.IsZero() {
		hopeless = min(hopeless, q.share(x, p99))
	}
	return max(q.endpoint.abandon, hopeless)
}

// came returns the p99 of what came, for the call's size and an answer of so many tokens.
func (q *question) came(x *ranked, output float64) float64 {
	f := x.forecast
	if q.req.Streamed {
		return f.p99[ttft] * x.factor
	}
	return f.p99[total] * f.work(x.tokens, atMost(output, q.req.MaxTokens))
}

// share returns how much of the time until the call's deadline a route may have. A call
// is not to spend all of it on one that hangs: half is left to the others, unless an
// answer may well take longer than half. Where the longest have no time at all, it is the
// usual ones that count, or nothing would ever be hopeless to a route that is not known.
func (q *question) share(x *ranked, p99 float64) float64 {
	left := q.req.Deadline.Sub(q.now).Seconds()
	if p99 >= left {
		p99 = q.came(x, q.lengths.mean[q.limit])
	}
	return max(p99, left/2)
}

// seconds converts to a Duration, to the nearest nanosecond.
func seconds(s float64) time.Duration {
	return time.Duration(math.Round(s * float64(time.Second)))
}

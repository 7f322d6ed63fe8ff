package router

import (
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

// foldEvery is how old an outlook may grow before the next plan makes a new one.
const foldEvery = 250 * time.Millisecond

// The metrics of a route that have a distribution.
const (
	ttft = iota
	tpot
	total // of answers that were not streamed
	metrics
)

// outlook is what is expected of the routes of a group. It never changes once
// published, the tables of its forecasts apart, which are filled in on demand.
type outlook struct {
	at     time.Time
	routes []*forecast // by target; nil where there is no route
	kin    []*kin      // by provider; nil where nothing has been seen
}

// kin is what the routes of one model on one provider have seen, for the relatives
// of other models.
type kin struct {
	counts [metrics]latency.Counts // slow
	share  tally
}

// forecast is what is expected of one route.
type forecast struct {
	fit           sizeFit
	bytesPerToken float64
	typical       float64 // prompt tokens
	failures      float64 // share of attempts
	hits          float64 // share of the prompt tokens that should be cached that are

	// Survival functions in seconds: of the TTFT of a prompt of refPrompt tokens,
	// of TPOT, and of the whole of an answer of refOutput tokens to such a prompt.
	dist [metrics]latency.Dist
	seen [metrics]float64 // ended attempts of its own, by slow weight

	own      float64          // attempts that it has had, by slow weight
	fresh    [metrics]float64 // those that say how it is now; see fresh
	outcomes float64          // the same of those that failed or did not

	paces [paceAtoms]float64 // TPOT quantiles that stand for all
	pace  float64            // TPOT median

	// Medians with failures as never coming, and p99 of those that did come, at
	// the reference sizes. Index ttft or total.
	median, p99 [metrics]float64

	quantiles [metrics][len(predicted)]float64 // at the reference sizes

	// What 95% usually do not exceed, at the reference sizes, 0 if not known, in which
	// case like is the route that does for it; and how the latest have done against it.
	// Index ttft or total. Of seen, unsure were converted by a guess, before the fit.
	usual, unsure [metrics]float64
	like          [metrics]*forecast
	recent        recent
	fitted        bool

	tables []tablePlace // by endpoint, twice: streamed, whole
}

// tokens estimates how long a prompt is.
func (f *forecast) tokens(bytes int) float64 {
	return float64(max(bytes, 0)) / f.bytesPerToken
}

// work returns how much longer a whole answer takes than one of the reference
// sizes.
func (f *forecast) work(tokens, outputs float64) float64 {
	return (f.fit.at(tokens) + (outputs-1)*f.pace) / (f.fit.at(refPrompt) + (refOutput-1)*f.pace)
}

// current returns the latest outlook, making a new one if it is stale and nobody
// else does. Only the very first plans of a group wait for each other.
func (g *group) current(now time.Time) *outlook {
	o := g.latest.Load()
	if o == nil {
		g.folding.Lock()
	} else if !stale(o.at, now) || !g.folding.TryLock() {
		return o
	}
	defer g.folding.Unlock()
	if o = g.latest.Load(); o == nil || stale(o.at, now) {
		s := g.router.scratch.Get().(*scratch)
		o = g.fold(now, o, s)
		g.router.scratch.Put(s)
		g.latest.Store(o)
	}
	return o
}

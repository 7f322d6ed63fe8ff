package router

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// endpoint is one call site with its promise, and how long its answers are.
type endpoint struct {
	name    string
	index   int
	budget  budget.Budget
	ledger  *budget.Ledger
	layers  []layer // those with a limit
	totals  []layer // of them, the total ones
	tails   []tail  // of them, those with alarms
	allowed []bool  // by target
	cost    float64 // weight of cost; 0 if ignored or no price is known
	frugal  bool    // nothing is promised, and cost is to count: the cheapest wins

	abandon float64 // the least, in seconds

	answeredAllowed float64 // of the implicit layer

	outputs *outputs
	advised atomic.Pointer[advised] // nil before the first snapshot
	former  cuts                    // what the ledger had when the token cap became this one

	used       atomic.Bool  // the config names it, or a call of it was planned
	unexplored atomic.Int64 // calls since the last that explored
	searched   atomic.Int64 // the outlook in which there was nothing to explore

	allowance                 *allowance    // of hedges; nil if there are none
	hedgeWhole, hedgeStreamed time.Duration // see hedgesFrom
}

// layer is one promise in the units that are reckoned in.
type layer struct {
	metric  budget.Metric
	index   int     // in the ledger
	total   int     // among the total layers
	limit   float64 // seconds
	allowed float64
}

func newEndpoint(name string, index int, b budget.Budget, targets []Target) *endpoint {
	e := &endpoint{
		name:    name,
		index:   index,
		budget:  b,
		ledger:  budget.NewLedger(b),
		allowed: make([]bool, len(targets)),
		abandon: leastAbandon,
		outputs: &outputs{tokens: newFading(tokenUnit, time.Now())},
	}
	if b.Abandon > 0 {
		e.abandon = b.Abandon.Seconds()
	}
	for i, l := range e.ledger.Layers() {
		if l.Metric == budget.Answered {
			e.answeredAllowed = l.Allowed()
			continue
		}
		own := layer{metric: l.Metric, index: i, limit: l.Limit.Seconds(), allowed: l.Allowed()}
		if l.Metric == budget.Total {
			own.total = len(e.totals)
			e.totals = append(e.totals, own)
		}
		e.layers = append(e.layers, own)
	}
	priced := false
	for i, t := range targets {
		e.allowed[i] = len(b.Targets) == 0 || slices.Contains(b.Targets, t.Name)
		priced = priced || e.allowed[i] && t.priced()
	}
	if priced {
		e.cost = b.Weight()
		e.frugal = len(e.layers) == 0 && b.CostWeight > 0
	}
	e.allowance = newAllowance(b.HedgeShare(), time.Now())
	e.hedgeWhole, e.hedgeStreamed = e.hedgesFrom(false), e.hedgesFrom(true)
	return e
}

// answered returns the index of the implicit layer in the ledger.
func (e *endpoint) answered() int { return len(e.layers) }

// outputs are how many tokens the answers of an endpoint have, and what else its latest
// calls were like.
type outputs struct {
	mu     sync.Mutex // guards tokens and habits
	tokens *fading
	habits habits
	latest atomic.Pointer[lengths]
}

// lengths is what is expected of the length of an answer. It never changes.
type lengths struct {
	at     time.Time
	share  [gridSize]float64 // of the answers whose length is nearest to grid[k]
	mean   [gridSize]float64 // E[min(tokens, grid[k])]
	median float64
	p99    float64
	atoms  [lengthAtoms]float64 // quantiles that stand for all
}

// record counts an answer of so many tokens. One that was cut off by the cap would
// have had at least as many.
func (o *outputs) record(now time.Time, tokens, limit int, h habit) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.habits.add(h)
	if limit > 0 && tokens >= limit {
		o.tokens.censor(now, float64(tokens))
	} else {
		o.tokens.record(now, float64(tokens))
	}
}

// current returns what is known now, looking at it anew if it is stale and nobody
// else does.
func (o *outputs) current(now time.Time) *lengths {
	l := o.latest.Load()
	if l == nil {
		o.mu.Lock()
	} else if !stale(l.at, now) || !o.mu.TryLock() {
		return l
	}
	defer o.mu.Unlock()
	if l = o.latest.Load(); l == nil || stale(l.at, now) {
		l = o.fold(now)
		o.latest.Store(l)
	}
	return l
}

func (o *outputs) fold(now time.Time) *lengths {
	o.tokens.fade(now)
	c := o.tokens.slow
	lean(&c, &priors.tokens, slowLean)
	dist := c.Dist()
	l := &lengths{at: now, median: bounded(dist.Quantile(0.5), maxTokens), p99: bounded(dist.Quantile(0.99), maxTokens)}
	for i := range l.atoms {
		l.atoms[i] = bounded(dist.Quantile((float64(i)+0.5)/lengthAtoms), maxTokens)
	}
	longer := 1.0
	for k := range grid {
		rest := 0.0
		if k < gridSize-1 {
			rest = dist.Survival(grid[k] * gridHalfStep)
		}
		l.share[k] = longer - rest
		longer = rest
	}
	sum, longer := 0.0, 1.0
	for k, n := range grid {
		l.mean[k] = sum + longer*n
		sum += l.share[k] * n
		longer -= l.share[k]
	}
	return l
}

// expected returns how many tokens an answer is expected to have under a cap.
func (e *endpoint) expected(now time.Time, limit int) float64 {
	return e.outputs.current(now).mean[gridIndex(limit)]
}

// atMost returns tokens bounded by the cap, which is 0 if there is none.
func atMost(tokens float64, limit int) float64 {
	if limit > 0 {
		tokens = min(tokens, float64(limit))
	}
	return max(1, tokens)
}

// bounded returns v, or limit if v is above it or infinite.
func bounded(v, limit float64) float64 {
	if math.IsNaN(v) {
		return limit
	}
	return min(v, limit)
}

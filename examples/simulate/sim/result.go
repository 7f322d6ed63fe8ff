package sim

import (
	"math"
	"slices"

	"github.com/ontime-llm/ontime/budget"
)

// Kind tells whose policy it is.
type Kind string

// The kinds.
const (
	KindOurs   Kind = "ours"
	KindPeer   Kind = "peer"
	KindOracle Kind = "oracle"
)

// The names of our two rows, and of the oracles.
const (
	Ours              = "ontime"
	OursFast          = "ontime, cost ignored"
	OracleClairvoyant = "oracle: clairvoyant"
	OracleRegime      = "oracle: regime"
	OracleStatic      = "oracle: best static"
)

// answered is the layer that every endpoint has besides those of its budget.
var answered = budget.Layer{Metric: budget.Answered, Percentile: 99.9}

// promises returns all layers of a budget, the implicit one last.
func promises(b budget.Budget) []budget.Layer { return append(b.Layers(), answered) }

// Numbers is what one run came to.
type Numbers struct {
	Calls  int
	Miss   []float64  // share of the calls, for each layer
	TTFT   [4]float64 // s, at the percentiles of quantiles; +Inf: it never came
	Extra  float64    // requests beyond the first, per call
	Hedged float64    // share of the calls
	Errors float64    // share of the calls
	Cost   float64    // USD per call, losers included
}

var quantiles = [4]float64{0.5, 0.95, 0.99, 0.999}

// Measure sums up a run of at least one call.
func Measure(b budget.Budget, outcomes []Outcome) Numbers {
	layers := promises(b)
	n := float64(len(outcomes))
	m := Numbers{Calls: len(outcomes), Miss: make([]float64, len(layers))}
	times := make([]float64, 0, len(outcomes))
	for i := range outcomes {
		o := &outcomes[i]
		for j, l := range layers {
			if missed(l, o) {
				m.Miss[j] += 1 / n
			}
		}
		if o.Requests > 1 {
			m.Extra += float64(o.Requests-1) / n
		}
		if o.Hedged {
			m.Hedged += 1 / n
		}
		if o.Failed {
			m.Errors += 1 / n
		}
		m.Cost += o.Cost / n
		times = append(times, waited(o))
	}
	slices.Sort(times)
	for i, q := range quantiles {
		m.TTFT[i] = rank(times, q)
	}
	return m
}

// waited is the time to the first token in seconds, for ever if there was none.
func waited(o *Outcome) float64 {
	if o.TTFT == 0 {
		return math.Inf(1)
	}
	return o.TTFT.Seconds()
}

// missed reports whether a call missed a layer: an error misses every layer.
func missed(l budget.Layer, o *Outcome) bool {
	switch {
	case o.Failed:
		return true
	case l.Metric == budget.TTFT:
		return o.TTFT == 0 || o.TTFT > l.Limit
	case l.Metric == budget.TPOT:
		return o.TPOT > l.Limit
	case l.Metric == budget.Total:
		return o.Total > l.Limit
	}
	return false
}

// Place is the conditions under which policies are compared.
type Place struct {
	Scenario string  `json:"scenario"`
	Rate     float64 `json:"rate"` // calls per second
	Early    bool    `json:"early_headers"`
}

// Series is what a policy came to at a place: one run for each seed, in the same
// order for all policies.
type Series struct {
	Policy string
	Kind   Kind
	Hedges bool
	Runs   []Numbers
}

// Result is what a policy came to at a place, over all seeds.
type Result struct {
	Place
	Policy string `json:"policy"`
	Kind   Kind   `json:"kind"`
	Hedges bool   `json:"hedges"`
	Seeds  int    `json:"seeds"`
	Calls  int    `json:"calls"` // of one seed

	Allowance float64       `json:"hedge_allowance"` // of ours: the share of calls that may be doubled
	Layers    []LayerResult `json:"layers"`          // the last: whether calls were answered
	P50       Stat          `json:"ttft_p50"`        // s
	P95       Stat          `json:"ttft_p95"`
	P99       Stat          `json:"ttft_p99"`
	P999      Stat          `json:"ttft_p99_9"`
	Extra     Stat          `json:"extra_requests"`
	Hedged    Stat          `json:"hedged"`
	Errors    Stat          `json:"errors"`
	Cost      Stat          `json:"cost"`          // USD per call
	Relative  Stat          `json:"relative_cost"` // to the cheapest peer that keeps all layers; NaN: none does
}

// LayerResult is how well one layer was kept.
type LayerResult struct {
	Layer   string  `json:"layer"`
	Allowed float64 `json:"allowed"` // share of the calls
	Miss    Stat    `json:"miss"`    // share of the calls
	Kept    bool    `json:"kept"`    // Miss is no more than Allowed
	Regret  Stat    `json:"regret"`  // Miss beyond that of the regime oracle; NaN: it was not run
}

// keepsAll reports whether every layer was kept.
func (r *Result) keepsAll() bool {
	return !slices.ContainsFunc(r.Layers, func(l LayerResult) bool { return !l.Kept })
}

// Compare sums up what all policies came to at a place.
func Compare(at Place, b budget.Budget, all []Series) []Result {
	var oracle []Numbers
	for _, s := range all {
		if s.Policy == OracleRegime {
			oracle = s.Runs
		}
	}
	results := make([]Result, 0, len(all))
	for _, s := range all {
		r := Result{Place: at, Policy: s.Policy, Kind: s.Kind, Hedges: s.Hedges, Seeds: len(s.Runs), Calls: s.Runs[0].Calls, Allowance: b.HedgeShare()}
		stat := func(of func(*Numbers) float64) Stat { return statOver(s.Runs, of) }
		for j, l := range promises(b) {
			r.Layers = append(r.Layers, layerResult(l, j, s.Runs, oracle))
		}
		r.P50 = stat(func(n *Numbers) float64 { return n.TTFT[0] })
		r.P95 = stat(func(n *Numbers) float64 { return n.TTFT[1] })
		r.P99 = stat(func(n *Numbers) float64 { return n.TTFT[2] })
		r.P999 = stat(func(n *Numbers) float64 { return n.TTFT[3] })
		r.Extra = stat(func(n *Numbers) float64 { return n.Extra })
		r.Hedged = stat(func(n *Numbers) float64 { return n.Hedged })
		r.Errors = stat(func(n *Numbers) float64 { return n.Errors })
		r.Cost = stat(func(n *Numbers) float64 { return n.Cost })
		results = append(results, r)
	}
	relate(results)
	return results
}

func statOver(runs []Numbers, of func(*Numbers) float64) Stat {
	values := make([]float64, len(runs))
	for i := range runs {
		values[i] = of(&runs[i])
	}
	return statOf(values)
}

func layerResult(l budget.Layer, j int, runs, oracle []Numbers) LayerResult {
	r := LayerResult{Layer: l.String(), Allowed: l.Allowed(), Regret: Stat{Mean: math.NaN()}}
	r.Miss = statOver(runs, func(n *Numbers) float64 { return n.Miss[j] })
	r.Kept = r.Miss.Mean <= r.Allowed+1e-9
	if len(oracle) == len(runs) {
		beyond := make([]float64, len(runs))
		for i := range runs {
			beyond[i] = runs[i].Miss[j] - oracle[i].Miss[j]
		}
		r.Regret = statOf(beyond)
	}
	return r
}

// relate sets the relative costs.
func relate(results []Result) {
	least := cheapest(results, func(r *Result) bool { return r.Kind == KindPeer && r.keepsAll() })
	for i := range results {
		r := &results[i]
		if least == nil {
			r.Relative.Mean = math.NaN()
			continue
		}
		r.Relative = Stat{r.Cost.Mean / least.Cost.Mean, r.Cost.Half / least.Cost.Mean}
	}
}

// cheapest returns the cheapest of the results that qualify, nil if none does.
func cheapest(results []Result, qualifies func(*Result) bool) *Result {
	var best *Result
	for i := range results {
		if r := &results[i]; qualifies(r) && (best == nil || r.Cost.Mean < best.Cost.Mean) {
			best = r
		}
	}
	return best
}

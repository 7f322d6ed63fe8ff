package budget

import "time"

const (
	defaultHedge      = 0.05
	defaultCostWeight = 3
)

// Budget is what one endpoint promises and what it may spend on keeping the
// promise. The zero value promises no latency, caps output tokens at the
// defaults of [MaxTokens] and uses every target that serves the model.
//
// A Budget is data: it is safe for concurrent use as long as nobody changes it.
type Budget struct {
	// TTFT, TPOT and Total are the promised layers of each metric. Nil
	// promises nothing. See [Metric] for what is measured and for which calls.
	TTFT, TPOT, Total Layers

	// MaxTokens caps the output tokens of a call.
	MaxTokens MaxTokens

	// Deadline bounds a whole call, all attempts included. It is not shorter
	// than the limit of any layer. If zero, only the caller's context does.
	Deadline time.Duration

	// Abandon is the least time after which an attempt that has brought no content
	// may be given up: three times the p99 of its route, if that is longer, decides,
	// though no more than half of the time until the call's deadline as long as that
	// covers the p99. If zero, 5 s. It is not the limit of a layer: a late answer is
	// better than none.
	Abandon time.Duration

	// Hedge is the share of calls that may be sent a second time, to another
	// route, at most 1. If zero, 0.05; if negative, none. See
	// [Budget.HedgeShare].
	Hedge float64

	// HedgeAll says that calls with n > 1 and embeddings may be hedged too. They are
	// left alone otherwise, since each such call costs as much as several.
	HedgeAll bool

	// CostWeight is how much a route's cost counts against the layers: the
	// higher, the further a promise may slip before a dearer route is taken. If
	// zero, 3; if negative, cost is ignored. A budget without layers goes by time,
	// unless this is above zero: then the cheapest route is taken. See
	// [Budget.Weight].
	CostWeight float64

	// Targets names the targets that may serve the endpoint, for every attempt
	// of a call. If empty, every target that serves the model may.
	Targets []string

	// Models lists models in order of preference. A call goes to the model that it
	// names, and to those behind it in the list (to all, if it is not listed) only
	// while no route of the former can be taken, or all have failed it: a smaller
	// one, or another vendor's. Embeddings keep their model, since vectors of two
	// cannot be compared. If empty, the model of the call alone.
	Models []string
}

// Layers returns the layers of the budget, sorted by metric and then by rising
// percentile, in a new slice. The implicit layer [Answered] is not among them.
func (b Budget) Layers() []Layer {
	layers := make([]Layer, 0, len(b.TTFT)+len(b.TPOT)+len(b.Total))
	layers = appendLayers(layers, TTFT, b.TTFT)
	layers = appendLayers(layers, TPOT, b.TPOT)
	return appendLayers(layers, Total, b.Total)
}

// HedgeShare returns the share of calls that may be hedged, from 0 (none) to 1:
// Hedge with its default filled in.
func (b Budget) HedgeShare() float64 { return orDefault(b.Hedge, defaultHedge) }

// Weight returns the weight of cost, from 0 (cost is ignored) up: CostWeight
// with its default filled in.
func (b Budget) Weight() float64 { return orDefault(b.CostWeight, defaultCostWeight) }

// orDefault reads a setting whose zero value means its default and whose
// negative values mean none.
func orDefault(v, def float64) float64 {
	if v == 0 {
		return def
	}
	return max(v, 0)
}

package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Metric is what a layer makes a promise about.
type Metric uint8

// The metrics, in the order in which layers are listed.
const (
	// TTFT is the time from the start of the call to its first generated
	// content. It concerns streamed calls.
	TTFT Metric = iota
	// TPOT is the time per output token after the first content. It concerns
	// streamed calls.
	TPOT
	// Total is the time from the start of the call to the end of its answer.
	Total
	// Answered is whether an answer came at all, however late. It has no
	// limit, is missed by errors only, and belongs to every endpoint: see
	// [Ledger].
	Answered

	metricCount
)

// String returns the metric's name as configuration files and metric labels
// have it: "ttft", "tpot", "total" or "answered".
func (m Metric) String() string {
	switch m {
	case TTFT:
		return "ttft"
	case TPOT:
		return "tpot"
	case Total:
		return "total"
	case Answered:
		return "answered"
	}
	return "metric(" + strconv.Itoa(int(m)) + ")"
}

// Layers are the promises about one metric: percentile to limit. Percentiles
// are at least 1 and below 100, and may be fractional (99.9); limits
// are above 0 and inclusive, so that a call of exactly the limit keeps the
// layer. A higher percentile has the same limit or a longer one. Nil promises
// nothing.
type Layers map[float64]time.Duration

// Layer is one promise: of this metric, at most the allowed share of the calls
// may take longer than the limit. It is a plain value.
type Layer struct {
	Metric     Metric
	Percentile float64       // at least 1 and below 100
	Limit      time.Duration // inclusive; 0 for [Answered]
}

// Allowed returns the share of calls that may miss the layer, between 0 and 1:
// 0.05 for p95.
func (l Layer) Allowed() float64 {
	// Not 1-p/100, which is off by more bits.
	return (100 - l.Percentile) / 100
}

// String returns the layer as a person would write it: "p95 TTFT 600ms",
// "p99.9 total 30s", "99.9% answered".
func (l Layer) String() string {
	p := formatFloat(l.Percentile)
	switch l.Metric {
	case Answered:
		return p + "% answered"
	case TTFT:
		return fmt.Sprintf("p%s TTFT %v", p, l.Limit)
	case TPOT:
		return fmt.Sprintf("p%s TPOT %v", p, l.Limit)
	}
	return fmt.Sprintf("p%s %v %v", p, l.Metric, l.Limit)
}

// field returns the layer's key in a configuration file: "ttft.p99.9".
func (l Layer) field() string {
	return l.Metric.String() + ".p" + formatFloat(l.Percentile)
}

// appendLayers appends the layers of one metric in rising percentile.
func appendLayers(to []Layer, m Metric, layers Layers) []Layer {
	start := len(to)
	for p, limit := range layers {
		to = append(to, Layer{Metric: m, Percentile: p, Limit: limit})
	}
	slices.SortFunc(to[start:], func(a, b Layer) int { return cmp.Compare(a.Percentile, b.Percentile) })
	return to
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

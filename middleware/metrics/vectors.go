package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const namespace = "ontime"

// Classic buckets, in seconds, for servers that do not take native histograms: people
// notice a wait from a tenth of a second on, and pace from 10 ms a token.
var (
	waits  = []float64{0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 60}
	paces  = [...]float64{0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 5}
	totals = []float64{0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 600}
	phases = []float64{0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 120}
)

// vectors are the metrics of calls and attempts, gaps apart.
type vectors struct {
	calls, attempts, tokens, cost, finishes, capped, starved, fallbacks *prometheus.CounterVec
	ttft, ttfa, tpot, total, wait, phase                                *prometheus.HistogramVec
}

func newVectors() vectors {
	return vectors{
		calls:     counter("calls_total", "calls that have ended", "endpoint", "target", "model", "outcome"),
		attempts:  counter("attempts_total", "attempts that have ended, of calls that have", "endpoint", "target", "model", "kind", "outcome"),
		tokens:    counter("tokens_total", "tokens that providers counted; no kind includes another", "endpoint", "target", "model", "kind"),
		cost:      counter("cost_usd_total", "cost of attempts, by how they ended: that of hedging is outcome lost", "endpoint", "target", "model", "outcome"),
		finishes:  counter("finish_reasons_total", "calls by the reason that their answer ended for", "endpoint", "target", "model", "reason"),
		capped:    counter("caps_applied_total", "calls whose token cap the budget set or lowered", "endpoint", "model"),
		starved:   counter("starved_answers_total", "calls without an answer, since reasoning used the token cap up", "endpoint", "model"),
		fallbacks: counter("fallbacks_total", "calls that went to another model of their endpoint in the end, by the model that they named", "endpoint", "model"),

		ttft:  histogram("ttft_seconds", "time from the start of a streamed call to its first content", waits, "endpoint", "target", "model"),
		ttfa:  histogram("ttfa_seconds", "the same to its first content that is not reasoning", waits, "endpoint", "target", "model"),
		tpot:  histogram("tpot_seconds", "time per output token after the first content", paces[:], "endpoint", "target", "model"),
		total: histogram("total_seconds", "time from the start of a call to its end; a latency if completed, else at least so long", totals, "endpoint", "target", "model", "outcome"),
		wait:  histogram("wait_seconds", "time that calls waited since every route was at a limit or cooling down, those that did", waits, "endpoint", "model"),
		phase: histogram("phase_seconds", "where the time of completed attempts went", phases, "target", "model", "phase"),
	}
}

func (v *vectors) all() []prometheus.Collector {
	return []prometheus.Collector{
		v.calls, v.attempts, v.tokens, v.cost, v.finishes, v.capped, v.starved, v.fallbacks,
		v.ttft, v.ttfa, v.tpot, v.total, v.wait, v.phase,
	}
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

// histogram is native, with classic buckets beside it. A native bucket is at most 10%
// wide, and there are enough for the 20 octaves from a microsecond to a second, or from
// a millisecond to a quarter of an hour.
func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  160,
		NativeHistogramMinResetDuration: time.Hour,
	}, labels)
}

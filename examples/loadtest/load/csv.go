package load

import (
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
)

// WriteCSV writes one figure a line: of what, whose definition, its value and interval.
// Times are in milliseconds; an empty value is not known, "never" is what did not come.
func (r *Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"subject", "routed", "load", "level", "definition", "figure", "value", "low", "high", "unit", "calls"})
	for i := range r.Series {
		s := &r.Series[i]
		kind := "concurrency"
		if s.Load.Open() {
			kind = "rate"
		}
		row := func(definition, figure string, value, low, high, unit string, calls int) {
			out.Write([]string{s.Subject, strconv.FormatBool(s.Routed), kind, number(s.Load.Level()),
				definition, figure, value, low, high, unit, strconv.Itoa(calls)})
		}
		for _, f := range append(s.Figures[:len(s.Figures):len(s.Figures)], s.Definitions...) {
			for _, q := range f.Quantiles {
				value, low, high := cell(q, q.Value), cell(q, q.Low), cell(q, q.High)
				row(orOurs(f.Tool), f.Metric+" p"+number(q.Percentile), value, low, high, "ms", f.Calls)
			}
		}
		for _, t := range s.Totals.numbers() {
			row("ontime", t.name, number(t.value), "", "", t.unit, s.Totals.Calls)
		}
		for _, l := range s.Promise {
			row("ontime", "within "+l.Layer, number(l.Share), "", "", "share", l.Calls)
		}
	}
	out.Flush()
	return out.Error()
}

type namedNumber struct {
	name  string
	value float64
	unit  string
}

func (t *Totals) numbers() []namedNumber {
	all := []namedNumber{
		{"answers", t.CallRate, "1/s"},
		{"good answers", t.Goodput, "1/s"},
		{"output", t.TokenRate, "tokens/s"},
		{"output of a stream, median", t.PerStream, "tokens/s"},
		{"answered", float64(t.Answered), "calls"},
		{"requests", float64(t.Requests), ""},
		{"hedged", float64(t.Hedged), "calls"},
		{"cost", t.Cost, "USD"},
		{"input, median", float64(t.Input.Median), "tokens"},
		{"output, median", float64(t.Output.Median), "tokens"},
		{"cache hits", float64(t.CacheHits), "calls"},
		{"late p99", t.Lag.ms(), "ms"},
	}
	for _, kind := range slices.Sorted(maps.Keys(t.Failures)) {
		all = append(all, namedNumber{"failed: " + kind, float64(t.Failures[kind]), "calls"})
	}
	return all
}

func cell(q Quantile, v Span) string {
	switch {
	case !q.Known:
		return ""
	case v == Never:
		return "never"
	default:
		return number(v.ms())
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func orOurs(tool string) string {
	if tool == "" {
		return "ontime"
	}
	return tool
}

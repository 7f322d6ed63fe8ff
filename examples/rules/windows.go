package main

import (
	"fmt"
	"slices"
)

// The windows over which misses are counted. What fell into a long one must not be over,
// so that a short one is looked at as well.
var (
	shorts = []string{"5m", "30m"}
	longs  = []string{"1h", "6h", "3d"} // 6h is the short one of 3d
)

// missShare and missed are what is recorded of a window.
func missShare(window string) string {
	return "job_endpoint_layer:ontime_layer_misses_per_calls:ratio_rate" + window
}
func missed(window string) string { return "job_endpoint_layer:ontime_layer_misses:increase" + window }

// windows record which share of the calls missed each layer, and of long windows how many:
// shares cannot be averaged, so that each window is counted from the start. A window without
// calls has no share.
func (m maker) windows() []rule {
	const by = "sum by (job, endpoint, layer) "
	misses, calls := m.of("ontime_layer_misses_total"), m.of("ontime_layer_calls_total")
	var all []rule
	for _, w := range slices.Concat(shorts, longs) {
		all = append(all, rule{Record: missShare(w), Expr: fmt.Sprintf(
			"%[1]s(rate(%[2]s[%[4]s]))\n/\n(%[1]s(rate(%[3]s[%[4]s])) > 0)", by, misses, calls, w)})
	}
	for _, w := range longs {
		all = append(all, rule{Record: missed(w), Expr: fmt.Sprintf("%s(increase(%s[%s]))", by, misses, w)})
	}
	return all
}

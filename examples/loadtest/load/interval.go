package load

import (
	"math"
	"slices"
	"sort"
)

// Confidence is that of every interval: in 19 of 20 samples it contains what it is an
// interval of.
const Confidence = 0.95

// Percentiles are those that are reported.
var Percentiles = [...]float64{50, 90, 95, 99}

// Quantile is one percentile of a sample, with the interval in which the distribution's
// own lies. Unknown, where the sample is too small for an interval with two ends (for
// p99: below 299 values), all three are zero.
type Quantile struct {
	Percentile float64 `json:"percentile"`
	Known      bool    `json:"known"`
	Value      Span    `json:"ms"`
	Low        Span    `json:"low_ms"`
	High       Span    `json:"high_ms"`
}

// Quantiles returns the [Percentiles] of values, by nearest rank, each with an interval
// that holds for every distribution: of n values, how many lie below the distribution's
// quantile q is binomial, so that
//
//	P(X(l) <= quantile <= X(u)) >= P(l <= B <= u-1),  B ~ Bin(n, q)
//
// for the values in their order, X(1) to X(n). l and u are the closest that leave at
// most 2.5% on each side; where one side has no such value, it is the last one, and the
// other side has what is left of the 5% (Hahn, Meeker: Statistical Intervals, section
// 5.2; David, Nagaraja: Order Statistics, section 7.1).
//
// It takes the values for independent. They are not quite: calls of one minute have the
// minute in common. Several rounds, apart in time, show how much.
func Quantiles(values []Span) []Quantile {
	sorted := slices.Sorted(slices.Values(values))
	all := make([]Quantile, len(Percentiles))
	for i, percentile := range Percentiles {
		all[i].Percentile = percentile
		q := percentile / 100
		low, high, ok := ranks(len(sorted), q)
		if !ok {
			continue
		}
		all[i] = Quantile{percentile, true, sorted[rank(len(sorted), q)-1], sorted[low-1], sorted[high-1]}
	}
	return all
}

// rank is the number, from 1, of the least of n values that at least the share q of them
// does not exceed.
func rank(n int, q float64) int { return min(max(int(math.Ceil(q*float64(n)-1e-9)), 1), n) }

// ranks returns between which of n values in their order, counted from 1, the quantile q
// lies with the usual confidence, or false if n is too small for that.
func ranks(n int, q float64) (low, high int, ok bool) {
	const miss = 1 - Confidence
	low, high = lowRank(n, q, miss/2), highRank(n, q, miss/2)
	switch {
	case low < 1 && high > n:
		return 0, 0, false
	case high > n:
		high = n
		low = lowRank(n, q, miss-atLeast(n, n, q))
	case low < 1:
		low = 1
		high = highRank(n, q, miss-(1-atLeast(n, 1, q)))
	}
	return low, high, low >= 1 && high <= n
}

// lowRank is the highest that the quantile lies below with at most this chance; 0: none.
func lowRank(n int, q, chance float64) int {
	return sort.Search(n, func(i int) bool { return 1-atLeast(n, i+1, q) > chance })
}

// highRank is the lowest that the quantile lies above with at most this chance; n+1: none.
func highRank(n int, q, chance float64) int {
	return 1 + sort.Search(n, func(i int) bool { return atLeast(n, i+1, q) <= chance })
}

// atLeast is the chance that k or more of n draws, of a chance p each, succeed.
func atLeast(n, k int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	}
	return beta(float64(k), float64(n-k+1), p)
}

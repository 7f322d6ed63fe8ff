package router

import (
	"math"
	"slices"
)

// z95 is the normal quantile of a 95% interval.
const z95 = 1.96

// estimate is a value with its 95% interval.
type estimate struct{ value, low, high float64 }

// scaled returns the estimate of factor times the value.
func (e estimate) scaled(factor float64) estimate {
	return estimate{factor * e.value, factor * e.low, factor * e.high}
}

// sure tells whether the interval lies above zero.
func (e estimate) sure() bool { return e.low > 0 }

// less returns the estimate of the difference of two that are independent, by their own
// intervals (Zou and Donner, "Construction of confidence limits about effect measures",
// 2008).
func (e estimate) less(o estimate) estimate {
	d := e.value - o.value
	return estimate{d, d - math.Hypot(e.value-e.low, o.high-o.value), d + math.Hypot(e.high-e.value, o.value-o.low)}
}

// medianOf estimates the median of what each of some values, which are estimates
// themselves, was drawn from. Its interval is that between two order statistics, as far
// from the middle as a fair coin would be (Conover, "Practical Nonparametric Statistics",
// section 3.2), of the values' lower bounds and upper bounds.
func medianOf(values []estimate) estimate {
	n := len(values)
	if n == 0 {
		return estimate{low: math.Inf(-1), high: math.Inf(1)}
	}
	sorted := make([]float64, n)
	order := func(of func(estimate) float64) {
		for i, v := range values {
			sorted[i] = of(v)
		}
		slices.Sort(sorted)
	}
	rank := medianRank(n)
	var e estimate
	order(func(v estimate) float64 { return v.value })
	e.value = (sorted[(n-1)/2] + sorted[n/2]) / 2
	order(func(v estimate) float64 { return v.low })
	e.low = sorted[rank]
	order(func(v estimate) float64 { return v.high })
	e.high = sorted[n-1-rank]
	return e
}

// medianRank returns the index of the lower bound of a median among n sorted values.
func medianRank(n int) int {
	return max(0, int(math.Floor(float64(n)/2-z95/2*math.Sqrt(float64(n))))-1)
}

// exactly is an estimate of what is known.
func exactly(v float64) estimate { return estimate{v, v, v} }

// shareOf estimates the share behind k of n, by Wilson's interval.
func shareOf(k, n float64) estimate {
	const z = z95
	if n <= 0 {
		return estimate{high: 1}
	}
	p := k / n
	middle, width := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return estimate{p, max(0, middle-width) / (1 + z*z/n), (middle + width) / (1 + z*z/n)}
}

// slopePoints is the most points that a slope is estimated from: 4950 pairs.
const slopePoints = 100

// slopeOf estimates by how much y rises with x: the median of the slopes between all
// pairs of points, with the interval of those that Kendall's tau does not tell from it (Sen,
// "Estimates of the regression coefficient based on Kendall's tau", 1968). Outliers do
// not move it. Of too many points it takes some, evenly.
func slopeOf(points []sample) estimate {
	if step := (len(points) + slopePoints - 1) / slopePoints; step > 1 {
		some := points[:0:0]
		for i := 0; i < len(points); i += step {
			some = append(some, points[i])
		}
		points = some
	}
	var slopes []float64
	for i, p := range points {
		for _, q := range points[:i] {
			if p.tokens != q.tokens {
				slopes = append(slopes, float64(p.seconds-q.seconds)/float64(p.tokens-q.tokens))
			}
		}
	}
	n := len(slopes)
	if n == 0 {
		return estimate{low: math.Inf(-1), high: math.Inf(1)}
	}
	slices.Sort(slopes)
	e := estimate{(slopes[(n-1)/2] + slopes[n/2]) / 2, math.Inf(-1), math.Inf(1)}
	deviation := max(tauDeviation(points), tauSpread(points, e.value))
	if rank := int(math.Floor((float64(n)-z95*deviation)/2)) - 1; rank >= 0 {
		e.low, e.high = slopes[rank], slopes[n-1-rank]
	}
	return e
}

// tauDeviation returns the standard deviation of the number of pairs that rise less
// those that fall, if y has nothing to do with x, of which some may be the same.
func tauDeviation(points []sample) float64 {
	same := make(map[float32]float64)
	for _, p := range points {
		same[p.tokens]++
	}
	ways := func(n float64) float64 { return n * (n - 1) * (2*n + 5) }
	sum := ways(float64(len(points)))
	for _, n := range same {
		sum -= ways(n)
	}
	return math.Sqrt(max(0, sum) / 18)
}

// tauSpread is the same as the points themselves tell it, by how much each contributes
// (Hoeffding, "A class of statistics with asymptotically normal distribution", 1948). It
// is more where times spread wider the longer the prompt is.
func tauSpread(points []sample, slope float64) float64 {
	sum := 0.0
	for _, p := range points {
		rising := 0.0
		for _, q := range points {
			dx := float64(p.tokens - q.tokens)
			if off := float64(p.seconds-q.seconds) - slope*dx; off*dx > 0 {
				rising++
			} else if off*dx < 0 {
				rising--
			}
		}
		sum += rising * rising
	}
	return math.Sqrt(sum)
}

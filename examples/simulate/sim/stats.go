package sim

import (
	"encoding/json"
	"math"
)

// Stat is a mean over seeds. A mean may be +Inf: in some run the value never came.
type Stat struct {
	Mean float64
	Half float64 // of the 95% confidence interval, Student's; 0: one seed
}

// MarshalJSON writes null for what is no number.
func (s Stat) MarshalJSON() ([]byte, error) {
	if math.IsInf(s.Mean, 0) || math.IsNaN(s.Mean) {
		return []byte("null"), nil
	}
	return json.Marshal(struct {
		Mean float64 `json:"mean"`
		Half float64 `json:"ci95,omitempty"`
	}{s.Mean, s.Half})
}

// statOf returns the mean of one value for each seed, and how well it is known.
func statOf(values []float64) Stat {
	n := float64(len(values))
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	s := Stat{Mean: sum / n}
	if len(values) < 2 || math.IsInf(s.Mean, 0) || math.IsNaN(s.Mean) {
		return s
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - s.Mean) * (v - s.Mean)
	}
	s.Half = student(len(values)-1) * math.Sqrt(squares/(n-1)/n)
	return s
}

// tQuantiles are the 97.5% quantiles of Student's t for 1 to 30 degrees of freedom.
var tQuantiles = [...]float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
	2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}

// student returns the 97.5% quantile of Student's t, beyond the table a little more
// than the normal's by the first term of its expansion (off by 0.002 at most).
func student(freedom int) float64 {
	if freedom <= len(tQuantiles) {
		return tQuantiles[freedom-1]
	}
	const z = 1.95996
	return z + (z*z*z+z)/(4*float64(freedom))
}

// rank returns a quantile of sorted values: the least that at least the share q of
// them does not exceed.
func rank[T any](sorted []T, q float64) T {
	i := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return sorted[min(max(i-1, 0), len(sorted)-1)]
}

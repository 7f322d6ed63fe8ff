package latency

import (
	"math"
	"sort"
)

// A Dist says how likely something is to take longer than a given time. It never
// changes once made, so that any number of goroutines may use it. The zero value
// knows nothing: everything takes longer than any time. A Dist is 2.5 KiB, better
// passed by pointer.
type Dist struct {
	below [Buckets]float64 // P(X <= lower bound of the bucket)
	n     float64
	scale scale
}

// Dist estimates the distribution behind c by Kaplan-Meier: of those that got as
// far as a bucket, the share that did not end in it go on. One that was censored
// in a bucket counts as having got through the whole of it, which errs towards
// slow, by less than a bucket. Failures have no part in it.
//
// Beyond the last observation nothing is known, and the curve stays where it is.
func (c *Counts) Dist() Dist {
	d := Dist{scale: c.scale}
	var reached [Buckets]float64
	sum := 0.0
	for i := Buckets - 1; i >= 0; i-- {
		sum += c.Ended[i] + c.Censored[i]
		reached[i] = sum
		d.n += c.Ended[i]
	}
	survival := 1.0
	for i, ended := range c.Ended {
		d.below[i] = 1 - survival
		if ended > 0 {
			survival *= 1 - ended/reached[i]
		}
	}
	return d
}

// N returns the number of ended observations that the distribution rests on, by
// weight.
func (d *Dist) N() float64 { return d.n }

// Survival returns P(X > v), in [0, 1], interpolated inside the bucket of v. It is
// 1 where v is 0 or less, or NaN. All in the last bucket is taken to be longer than
// any v, +Inf included.
func (d *Dist) Survival(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	i, share := d.scale.locate(v)
	if i >= Buckets-1 {
		return 1 - d.below[Buckets-1]
	}
	return 1 - d.below[i] - share*(d.below[i+1]-d.below[i])
}

// Quantile returns the least time that a share q of all do not exceed, for q in
// [0, 1]. It is 0 for q = 0, and +Inf where the evidence never gets that far: too
// much is censored, or lies beyond the last bound.
func (d *Dist) Quantile(q float64) float64 {
	if !(q > 0) {
		return 0
	}
	// A share that is met exactly must not move on to the next occupied bucket,
	// which may be far away, because a sum was rounded.
	const slack = 1e-9
	i := sort.Search(Buckets-1, func(i int) bool { return d.below[i+1] >= q*(1-slack) })
	if i == Buckets-1 {
		return math.Inf(1)
	}
	low, high := d.scale.bound(i), d.scale.bound(i+1)
	if i == 0 {
		low = 0
	}
	share := (q - d.below[i]) / (d.below[i+1] - d.below[i])
	return low + min(share, 1)*(high-low)
}

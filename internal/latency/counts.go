package latency

import "math"

// Counts are weighed observations by bucket, from which [Counts.Dist] estimates.
// The zero value is empty and takes the unit of the first histogram or counts
// added to it. Counts are not safe for concurrent use.
type Counts struct {
	Ended    [Buckets]float64 // ended, by how long they took
	Censored [Buckets]float64 // took at least so long: given up, or still under way

	scale scale
}

// NewCounts returns empty counts with the given unit, which is what it is for
// [New].
func NewCounts(unit float64) *Counts {
	return &Counts{scale: scaleOf(unit)}
}

// Reset empties c. The unit stays.
func (c *Counts) Reset() {
	*c = Counts{scale: c.scale}
}

// Record counts weight observations that ended after v, a value as in
// [Histogram.Record]. It panics if c has no unit yet.
func (c *Counts) Record(v, weight float64) {
	if !math.IsNaN(v) {
		c.Ended[c.index(v)] += weight
	}
}

// Censor counts weight observations that took at least v, such as something that
// has been under way for v. It panics if c has no unit yet.
func (c *Counts) Censor(v, weight float64) {
	if !math.IsNaN(v) {
		c.Censored[c.index(v)] += weight
	}
}

// Add adds other, multiplied by weight, which must not be negative. Counts
// without a unit take other's; Add panics if the units differ.
func (c *Counts) Add(other *Counts, weight float64) {
	c.scale = commonScale(c.scale, other.scale)
	for i := range c.Ended {
		c.Ended[i] += weight * other.Ended[i]
		c.Censored[i] += weight * other.Censored[i]
	}
}

func (c *Counts) index(v float64) int {
	if c.scale == 0 {
		panic("latency: counts without a unit; fold a histogram into them first, or make them with NewCounts")
	}
	return c.scale.index(v)
}

// fade multiplies all by factor.
func (c *Counts) fade(factor float64) {
	for i := range c.Ended {
		c.Ended[i] *= factor
		c.Censored[i] *= factor
	}
}

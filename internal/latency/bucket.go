package latency

import (
	"fmt"
	"math"
)

const (
	// PerOctave is the number of buckets between a value and its double.
	PerOctave = 16
	// Buckets is the number of buckets: 20 octaves. The last has no upper bound.
	Buckets = 20 * PerOctave
)

// steps are 2^(k/16): the bounds of the buckets inside an octave. Comparing with
// them puts a value that lies on a bound into the right bucket; a logarithm,
// which rounds, does not.
var steps = [PerOctave + 1]float64{
	1,
	1.0442737824274138403219,
	1.0905077326652576592070,
	1.1387886347566916537038,
	1.1892071150027210667174,
	1.2418578120734840485936,
	1.2968395546510096659337,
	1.3542555469368927282980,
	1.4142135623730950488016,
	1.4768261459394993113869,
	1.5422108254079408236122,
	1.6104903319492543081795,
	1.6817928305074290860622,
	1.7562521603732994831121,
	1.8340080864093424634870,
	1.9152065613971472938726,
	2,
}

// cells cuts the octave into 32 equal parts and tells for each how many steps lie
// before it. Steps are further apart than a part is wide, so that one comparison
// decides the rest.
var cells = func() (c [32]uint8) {
	for i := range c {
		for steps[c[i]] < 1+float64(i)/32 {
			c[i]++
		}
	}
	return c
}()

const (
	fractionBits = 52
	fractionMask = 1<<fractionBits - 1
	exponentOne  = 1023 << fractionBits
)

// scale says where the buckets lie: it is the exponent field of the unit, a power
// of two, so that finding a bucket takes no division and rounds nothing. Zero is
// no scale yet.
type scale uint16

func scaleOf(unit float64) scale {
	if !(unit >= 1e-300 && unit <= 1e300) {
		panic(fmt.Sprintf("latency: a unit of %v; it must be positive and finite, such as 1.0/1024", unit))
	}
	return scale(math.Float64bits(unit) >> fractionBits)
}

// commonScale returns the scale of two things that are to be added, either of which
// may have none yet.
func commonScale(a, b scale) scale {
	switch {
	case a == b || b == 0:
		return a
	case a == 0:
		return b
	}
	panic(fmt.Sprintf("latency: units 2^%d and 2^%d cannot be added; use the same for all of one kind", int(a)-1023, int(b)-1023))
}

// bound returns unit * 2^(i/16): bucket i holds what is above bound(i) and at most
// bound(i+1). Bucket 0 reaches down to 0.
func (s scale) bound(i int) float64 {
	exponent := uint64(s) + uint64(i/PerOctave)
	return math.Float64frombits(exponent<<fractionBits | math.Float64bits(steps[i%PerOctave])&fractionMask)
}

// index returns the bucket of v: the first for 0 and less, the last for whatever
// is too large. v must not be NaN.
func (s scale) index(v float64) int {
	if !(v > 0) {
		return 0
	}
	i, _, _ := s.position(v)
	return min(max(i, 0), Buckets-1)
}

// position returns the bucket of v > 0, which may lie outside the range, v's
// mantissa, and the step that bounds it from above.
func (s scale) position(v float64) (i int, mantissa float64, step int) {
	bits := math.Float64bits(v)
	fraction := bits & fractionMask
	mantissa = math.Float64frombits(fraction | exponentOne)
	step = int(cells[fraction>>(fractionBits-5)])
	if mantissa > steps[step] {
		step++
	}
	return (int(bits>>fractionBits)-int(s))*PerOctave + step - 1, mantissa, step
}

// locate returns the bucket of v > 0 and how far into it v lies, in (0, 1]: in
// proportion to v itself, which spares a logarithm and differs from the
// logarithmic share by 0.011 at most.
func (s scale) locate(v float64) (i int, share float64) {
	i, mantissa, step := s.position(v)
	switch {
	case i <= 0:
		return 0, v / s.bound(1)
	case step == 0: // a power of two is the upper bound of its bucket
		return i, 1
	}
	return i, (mantissa - steps[step-1]) / (steps[step] - steps[step-1])
}

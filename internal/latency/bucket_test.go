package latency_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ontime-llm/ontime/internal/latency"
	"pgregory.net/rapid"
)

// bounds returns the bounds of all buckets for a unit that is a power of two, as
// the floats nearest to unit * 2^(i/16), computed in 200 bits: bucket i lies
// between the i-th and the one after it.
func bounds(unit float64) []float64 {
	root := big.NewFloat(2).SetPrec(200)
	for range 4 { // 2^(1/16)
		root.Sqrt(root)
	}
	all := make([]float64, 0, latency.Buckets+1)
	for octave := range latency.Buckets/latency.PerOctave + 1 {
		bound := big.NewFloat(math.Ldexp(unit, octave)).SetPrec(200)
		for range latency.PerOctave {
			nearest, _ := bound.Float64()
			all = append(all, nearest)
			bound.Mul(bound, root)
		}
	}
	return all[:latency.Buckets+1]
}

// bucket finds the bucket of v by searching: the last whose lower bound is below v.
func bucket(bounds []float64, v float64) int {
	above, _ := slices.BinarySearch(bounds, v)
	return min(max(above-1, 0), latency.Buckets-1)
}

// occupied returns the only bucket that holds anything, or -1 where nothing does.
func occupied(t interface{ Fatalf(string, ...any) }, counts [latency.Buckets]float64) int {
	at := -1
	for i, n := range counts {
		switch {
		case n == 0:
		case n != 1 || at >= 0:
			t.Fatalf("more than one observation: %v in bucket %d", n, i)
		default:
			at = i
		}
	}
	return at
}

func bucketOf(t interface{ Fatalf(string, ...any) }, unit, v float64) int {
	c := latency.NewCounts(unit)
	c.Record(v, 1)
	return occupied(t, c.Ended)
}

func TestBoundsBelongToTheBucketBelow(t *testing.T) {
	for _, unit := range []float64{1, 1.0 / 1024, 0x1p-900, 0x1p900} {
		for i, bound := range bounds(unit)[1:] {
			if got := bucketOf(t, unit, bound); got != i {
				t.Errorf("unit %v: %v is the upper bound of bucket %d, but lies in %d", unit, bound, i, got)
			}
			above, want := math.Nextafter(bound, math.Inf(1)), min(i+1, latency.Buckets-1)
			if got := bucketOf(t, unit, above); got != want {
				t.Errorf("unit %v: %v is just above bucket %d, but lies in %d", unit, above, i, got)
			}
		}
	}
}

func TestBucketOf(t *testing.T) {
	for _, c := range []struct {
		name string
		unit float64
		v    float64
		want int
	}{
		{"zero", 1, 0, 0},
		{"negative zero", 1, math.Copysign(0, -1), 0},
		{"negative", 1, -3, 0},
		{"minus infinity", 1, math.Inf(-1), 0},
		{"smallest there is", 1, math.SmallestNonzeroFloat64, 0},
		{"far below the unit", 1, 1e-9, 0},
		{"the unit", 1, 1, 0},
		{"two units", 1, 2, 15},                            // 2 = 2^(16/16), the upper bound of bucket 15
		{"just above two units", 1, 2.0000000001, 16},      // the next
		{"three units", 1, 3, 25},                          // 16*log2(3) = 25.36
		{"last bound", 1, 1 << 20, 319},                    // 2^20 = 2^(320/16)
		{"above the last bound", 1, 1e9, 319},              // no upper bound
		{"largest there is", 1, math.MaxFloat64, 319},      //
		{"infinity", 1, math.Inf(1), 319},                  //
		{"not a number", 1, math.NaN(), -1},                // not counted at all
		{"a second in 1/1024 s", 1.0 / 1024, 1, 159},       // 1 s = 2^10 units = 2^(160/16)
		{"unit rounded down to 1/1024", 0.001, 1, 159},     // 2^-10 < 0.001
		{"unit rounded down to 1", 1.99, 1, 0},             //
		{"600 ms in 1/1024 s", 1.0 / 1024, 0.600, 148},     // 16*log2(614.4) = 148.2
		{"a quarter of an hour", 1.0 / 1024, 15 * 60, 317}, // 16*log2(921600) = 317.02
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := bucketOf(t, c.unit, c.v); got != c.want {
				t.Errorf("bucket of %v is %d, want %d", c.v, got, c.want)
			}
		})
	}
}

func TestBucketOfAnyValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exponent := rapid.IntRange(-900, 900).Draw(t, "exponent of the unit")
		unit := math.Ldexp(1, exponent)
		v := unit * rapid.OneOf(rapid.Float64Range(0, 4), rapid.Float64Range(0, 2e6)).Draw(t, "v")
		if got, want := bucketOf(t, unit, v), bucket(bounds(unit), v); got != want {
			t.Fatalf("bucket of %v is %d, want %d", v, got, want)
		}
	})
}

func TestUnitMustBePositiveAndFinite(t *testing.T) {
	for _, unit := range []float64{0, -1, math.NaN(), math.Inf(1), math.SmallestNonzeroFloat64} {
		if !panics(func() { latency.NewCounts(unit) }) {
			t.Errorf("a unit of %v was taken", unit)
		}
	}
}

func TestUnitsDoNotMix(t *testing.T) {
	one, two := latency.NewCounts(1), latency.NewCounts(2)
	h := latency.New(2, start)
	var none latency.Counts
	for name, f := range map[string]func(){
		"add":                   func() { one.Add(two, 1) },
		"fold":                  func() { h.Fold(start, one, two) },
		"record without a unit": func() { none.Record(1, 1) },
		"censor without a unit": func() { none.Censor(1, 1) },
	} {
		if !panics(f) {
			t.Errorf("%s did not panic", name)
		}
	}
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return
}

func TestCountsTakeTheUnitOfTheFirstAdded(t *testing.T) {
	h := latency.New(2, start)
	h.Record(start, 4) // 2 units
	var fast, slow, sum latency.Counts
	h.Fold(start, &fast, &slow)
	sum.Add(&latency.Counts{}, 1) // has none either
	sum.Add(&fast, 3)
	sum.Censor(4, 2)
	want := [2]float64{3, 2}
	if diff := cmp.Diff(want, [2]float64{sum.Ended[15], sum.Censored[15]}); diff != "" {
		t.Error(diff)
	}
	sum.Reset()
	sum.Record(4, 1) // Reset leaves the unit
	if got := occupied(t, sum.Ended); got != 15 {
		t.Errorf("after Reset, 4 lies in bucket %d, want 15", got)
	}
}

package router

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var estimates = []cmp.Option{cmp.AllowUnexported(estimate{}), cmpopts.EquateApprox(0, 1e-3)}

func TestEstimates(t *testing.T) {
	hundred := make([]estimate, 100)
	for i := range hundred {
		hundred[i] = estimate{float64(100 - i), float64(100-i) - 0.5, float64(100-i) + 0.5}
	}
	// The example of R's statpsych::ci.theil, which has 0.3243 to 0.75 by tau alone.
	var theil []sample
	y := []float32{21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19}
	for i, x := range []float32{67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51} {
		theil = append(theil, sample{x, y[i]})
	}
	for _, c := range []struct {
		name string
		got  estimate
		want estimate
	}{
		// The 40th and the 61st of 100, which is what tables say.
		{"median", medianOf(hundred), estimate{50.5, 39.5, 61.5}},
		{"median of one", medianOf([]estimate{{2, 1, 3}}), estimate{2, 1, 3}},
		{"share", shareOf(10, 100), estimate{0.1, 0.0552, 0.1744}},
		{"share of none", shareOf(0, 0), estimate{0, 0, 1}},
		{"share that is none", shareOf(0, 30), estimate{0, 0, 0.1135}}, // 3.8416/33.8416
		{"difference", estimate{10, 8, 13}.less(estimate{4, 3, 6}), estimate{6, 6 - math.Sqrt(8), 6 + math.Sqrt(10)}},
		{"slope", slopeOf(theil), estimate{0.5, 0.2727, 0.8438}},
		{"slope of two", slopeOf([]sample{{1, 1}, {3, 2}}), estimate{0.5, math.Inf(-1), math.Inf(1)}},
		{"slope of none", slopeOf([]sample{{1, 1}, {1, 2}}), estimate{0, math.Inf(-1), math.Inf(1)}},
	} {
		if diff := cmp.Diff(c.want, c.got, estimates...); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	// 15*14*35 less 3*2*11 for the one that occurs three times and 2*1*9 for the one that
	// occurs twice, over 18.
	if got, want := tauDeviation(theil), math.Sqrt(7266.0/18); math.Abs(got-want) > 1e-9 {
		t.Errorf("deviation of tau %v, want %v", got, want)
	}
}

// A share is written in plain figures, also where all or nearly none are meant. Wilson's
// interval of 200 of 200 ends at 3.84/203.84 less than 1.
func TestSharesInWords(t *testing.T) {
	for e, want := range map[estimate]string{
		shareOf(200, 200):    "100% (95%: 98% to 100%)",
		shareOf(10, 100):     "10% (95%: 5.5% to 17%)",
		{0.01, 1e-9, 0.9949}: "1% (95%: 0% to 99%)",
	} {
		if got := e.percent(); got != want {
			t.Errorf("%v is %q, want %q", e, got, want)
		}
	}
}

// Intervals have the truth in them 95 times in 100, with heavy tails and a spread that
// grows with the prompt.
func TestIntervalsContainTheTruth(t *testing.T) {
	const times = 400
	random := rand.New(rand.NewPCG(1, 2))
	luck := func() float64 {
		v := math.Exp(0.5 * random.NormFloat64()) // median 1
		if random.IntN(30) == 0 {
			v *= 10 // moves the median by 1.9%: 0.5 of the rest and these are above exp(0.5*0.0432)
		}
		return v
	}
	median := math.Exp(0.5 * 0.0432)
	var slopes, medians int
	for range times {
		var points []sample
		var values []estimate
		for range 90 {
			tokens := math.Exp(math.Log(200) + random.Float64()*math.Log(100)) // 200 to 20,000
			points = append(points, sample{float32(tokens), float32((0.3 + 50e-6*tokens) * luck())})
			values = append(values, exactly(luck()))
		}
		if e := slopeOf(points); e.low <= 50e-6*median && 50e-6*median <= e.high {
			slopes++
		}
		if e := medianOf(values); e.low <= median && median <= e.high {
			medians++
		}
	}
	// 380 of 400 with a deviation of 4.4.
	if least := 380 - 3*5; slopes < least || medians < least {
		t.Errorf("of %d intervals %d of slopes and %d of medians contain the truth, want %d", times, slopes, medians, least)
	}
	t.Logf("slopes %d, medians %d", slopes, medians)
}

package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const msec = time.Millisecond

// drawn is a report of three rounds of one series of lognormal times with stragglers, all
// of them times factor.
func drawn(seed uint64, calls int, factor float64) *Report {
	luck := rand.New(rand.NewPCG(seed, 1))
	s := Series{Subject: "a", Load: Load{Concurrency: 4}}
	lucky := func(median time.Duration) Span {
		f := math.Exp(0.3*luck.NormFloat64()) * factor
		if luck.Float64() < 0.03 {
			f *= 5
		}
		return Span(float64(median) * f)
	}
	for i := range calls {
		first := lucky(100 * msec)
		s.Samples = append(s.Samples, Sample{
			Round: 1 + 3*i/calls, TTFT: first, TTFA: first, TPOT: lucky(10 * msec), ITL: lucky(20 * msec),
			Stall: lucky(40 * msec), Total: first + lucky(500*msec), Requests: 1,
		})
	}
	return &Report{Series: []Series{s}}
}

// A thing and itself differ by noise alone, whatever the luck.
func TestSameIsNoise(t *testing.T) {
	wrong := 0
	const pairs = 40
	for seed := range uint64(pairs) {
		c := Compare(drawn(2*seed, 400, 1), drawn(2*seed+1, 400, 1))
		if len(c.Changes) != 5*4+1 || c.Unknown != 0 {
			t.Fatalf("%d figures are compared, %d are not, want 21 and 0", len(c.Changes), c.Unknown)
		}
		if c.Changes[0].Verdict() != "noise" {
			wrong++
		}
	}
	if wrong > pairs/20 { // what Holm's method allows; seeds are fixed
		t.Errorf("%d of %d comparisons of the same find a change", wrong, pairs)
	}
	same := drawn(1, 400, 1)
	for _, change := range Compare(same, same).Changes {
		if change.P != 1 || change.Verdict() != "noise" {
			t.Errorf("a report against itself: %+v", change)
		}
	}
}

// A fifth more is seen where there are calls enough, and is worse one way, better the other.
func TestAFifthMoreIsAChange(t *testing.T) {
	for seed := range uint64(5) {
		before, after := drawn(2*seed+100, 900, 1), drawn(2*seed+101, 900, 1.2)
		verdicts := func(c *Comparison) map[string]string {
			all := make(map[string]string)
			for _, change := range c.Changes {
				all[change.Figure] = change.Verdict()
			}
			return all
		}
		for verdict, found := range map[string]map[string]string{
			"worse": verdicts(Compare(before, after)), "better": verdicts(Compare(after, before)),
		} {
			for _, figure := range []string{"TTFT p50", "TPOT p50", "total p50", "mean ITL p50", "stall p50"} {
				if found[figure] != verdict {
					t.Errorf("seed %d: %s is %s, want %s", seed, figure, found[figure], verdict)
				}
			}
			if found["failed"] != "noise" {
				t.Errorf("seed %d: failures are %s", seed, found["failed"])
			}
		}
		if n := Compare(before, after).Regressions(); n < 5 {
			t.Errorf("seed %d: %d regressions", seed, n)
		}
	}
}

// What a single round has is no change: all of its calls stood still for the same second.
func TestOneBadRoundIsNoise(t *testing.T) {
	before, after := drawn(1, 400, 1), drawn(2, 400, 1)
	for i := range after.Series[0].Samples {
		if s := &after.Series[0].Samples[i]; s.Round == 2 {
			s.TTFT += Span(time.Second)
			s.TTFA = s.TTFT
		}
	}
	for _, change := range Compare(before, after).Changes {
		if change.Verdict() != "noise" {
			t.Errorf("%+v is %s", change, change.Verdict())
		}
	}
}

func TestMoreFailures(t *testing.T) {
	before, after := drawn(1, 400, 1), drawn(2, 400, 1)
	for i := range after.Series[0].Samples {
		if s := &after.Series[0].Samples[i]; i%10 == 0 {
			*s = Sample{Round: s.Round, Failure: "HTTP 503", TTFT: Never, TTFA: Never, Total: Never}
		}
	}
	for _, change := range Compare(before, after).Changes {
		switch change.Figure {
		case "failed":
			if change.Verdict() != "worse" || change.After != 0.1 {
				t.Errorf("a tenth failed: %+v", change)
			}
		case "TTFT p95", "total p99":
			if change.Verdict() != "worse" || !math.IsInf(change.After, 1) {
				t.Errorf("a tenth never came: %+v", change)
			}
		}
	}
}

func TestUnlike(t *testing.T) {
	before, after := drawn(1, 100, 1), drawn(2, 100, 1)
	before.Setup.Output, after.Setup.Output = 64, 128
	after.Series[0].Load.Concurrency = 8
	c := Compare(before, after)
	if len(c.Changes) != 0 || len(c.Unmatched) != 2 || len(c.Differences) != 1 {
		t.Errorf("%+v", c)
	}
	after.Series[0].Load = before.Series[0].Load
	if c := Compare(before, after); c.Unknown != 5 { // p99 of 100 calls, of five metrics
		t.Errorf("%d percentiles of 100 calls are not compared, want 5", c.Unknown)
	}
}

// By hand: three comparisons, of which the middle one is pulled up by the first.
func TestHolm(t *testing.T) {
	changes := []Change{{P: 0.02}, {P: 0.5}, {P: 0.012}, {P: 0.9}}
	holm(changes)
	// 0.012*4 = 0.048; 0.02*3 = 0.06; 0.5*2 = 1; 0.9*1, but not below the one before.
	var got []float64
	for _, c := range changes {
		got = append(got, c.P)
	}
	if diff := cmp.Diff([]float64{0.06, 1, 0.048, 1}, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestFisher(t *testing.T) {
	for _, tt := range []struct {
		a, m, b, n int
		want       float64
	}{
		{3, 4, 1, 4, 34.0 / 70}, // the lady and her tea, both tails: (16+1+16+1)/70
		{0, 10, 0, 10, 1},
		{5, 5, 0, 5, 2.0 / 252},
	} {
		if got := fisher(tt.a, tt.m, tt.b, tt.n); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%d of %d and %d of %d: %v, want %v", tt.a, tt.m, tt.b, tt.n, got, tt.want)
		}
	}
}

// The exact bootstrap is what drawing comes to.
func TestByChance(t *testing.T) {
	luck := rand.New(rand.NewPCG(3, 4))
	var a, b []Span
	for range 40 {
		a = append(a, Span(luck.IntN(60))) // with ties
		b = append(b, Span(luck.IntN(60)+6))
	}
	m := metric{of: func(s *Sample) Span { return s.TTFT }}
	sorted := func(of []Span) []Span {
		var samples []Sample
		for _, v := range of {
			samples = append(samples, Sample{TTFT: v + 1}) // 0 would be undefined
		}
		return m.sorted(samples)
	}
	a, b = sorted(a), sorted(b)
	for _, q := range []float64{0.5, 0.9} {
		const draws = 20_000
		again := func(of []Span) Span {
			drawn := make([]Span, len(of))
			for i := range drawn {
				drawn[i] = of[luck.IntN(len(of))]
			}
			return at(drawn, q)
		}
		less, more := 0, 0
		for range draws {
			x, y := again(a), again(b)
			if y <= x {
				less++
			}
			if y >= x {
				more++
			}
		}
		want := min(1, 2*float64(min(less, more))/draws)
		if got := make(bootstrap).byChance(a, b, q); math.Abs(got-want) > 0.02 {
			t.Errorf("q = %v: P = %v, drawing comes to %v", q, got, want)
		}
	}
}

package router

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/latency"
)

func wantFloat(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-7*max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestShareFades(t *testing.T) {
	start := time.Unix(0, 0)
	var s share
	s.record(start, true)
	s.record(start.Add(30*time.Second), false)
	s.record(start.Add(30*time.Second), false)
	wantFloat(t, "fast failed", s.fast.failed, 0.5)
	wantFloat(t, "fast well", s.fast.well, 2)
	wantFloat(t, "slow failed", s.slow.failed, math.Exp2(-1.0/30))
	later := s.fade(start.Add(30*time.Second + 15*time.Minute))
	wantFloat(t, "slow well after 15 min", later.slow.well, 1)
	// 0.5 of 2.5, leaning on 8 of which a tenth fails.
	wantFloat(t, "leaning", s.fast.lean(0.1, 8), (0.5+0.8)/(2.5+8))
}

func TestFadingCounts(t *testing.T) {
	start := time.Unix(0, 0)
	f := newFading(secondUnit, start)
	f.record(start, 0.5)
	f.record(start, 0.5)
	f.censor(start.Add(30*time.Second), 2)
	wantFloat(t, "fast", mass(&f.fast), 2*0.5+1)
	wantFloat(t, "slow", mass(&f.slow), 2*math.Exp2(-1.0/30)+1)
}

// evidence makes a group of two routes of one model, folds it at once, and returns
// the forecasts.
func evidence(t *testing.T, fill func(now time.Time, a, b *route)) (a, b *forecast) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { // no time passes
		r, err := New(Config{Targets: []Target{
			{Name: "a", Models: []string{"m"}}, {Name: "b", Models: []string{"m"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		g := r.group("m")
		now := time.Now()
		fill(now, g.routes[0], g.routes[1])
		o := g.fold(now, nil, newScratch(2))
		a, b = o.routes[0], o.routes[1]
	})
	return a, b
}

// prior1s is the built-in chance that a first token takes more than a second.
var prior1s = func() float64 {
	c := priors.ttft
	d := c.Dist()
	return d.Survival(1)
}()

func TestFewSamplesLeanOnRelatives(t *testing.T) {
	a, b := evidence(t, func(now time.Time, a, b *route) {
		for range 10 {
			a.ttft.Record(now, 0.5)
		}
		for range 40 {
			b.ttft.Record(now, 2)
		}
	})
	// a's relative is b, 40 of 2 s; with the 20 built in: (40 + 20 p)/60. Of a's own 10
	// none took longer: (10*0 + 20 relative)/30, and once more for the last minute.
	slow := 20 * (40 + 20*prior1s) / 60 / 30
	wantFloat(t, "P(a > 1s)", a.dist[ttft].Survival(1), 8*slow/(10+8))
	// b's relative is a: (0 + 20 p)/30; of its own all 40 took longer.
	slow = (40 + 20*(20*prior1s/30)) / 60
	wantFloat(t, "P(b > 1s)", b.dist[ttft].Survival(1), (40+8*slow)/(40+8))
	wantFloat(t, "N of a", a.seen[ttft], 10)
}

func TestWhatIsUnderWayCounts(t *testing.T) {
	a, _ := evidence(t, func(now time.Time, a, b *route) {
		for range 10 {
			a.ttft.Record(now, 0.5)
		}
		e := a.group.router.endpoint("")
		for range 9 { // for 4 s, with a prompt of the reference size
			a.wait(&Flight{endpoint: e, start: now.Add(-4 * time.Second), streamed: true, tokens: refPrompt})
		}
		a.wait(&Flight{endpoint: e, start: now.Add(-100 * time.Millisecond), streamed: true, tokens: refPrompt})
	})
	// Without: 10 samples and 8 to lean on, all of which have come within a second but
	// late. With 9 more that have not: S = 1 - (18-late)/27. The one of 100 ms is gone
	// from those at risk before anything has come.
	late := 8.0 * 20 / 30 * prior1s
	wantFloat(t, "P(a > 1s)", a.dist[ttft].Survival(1), 1-(18-late)/27)
}

func TestFailuresLeanOnRelatives(t *testing.T) {
	a, b := evidence(t, func(now time.Time, a, b *route) {
		for i := range 10 {
			a.share.record(now, i < 5)
		}
	})
	// Nothing else is known: 20 of which 0.2% fail, twice.
	slow := (5 + 20*0.002) / 30
	wantFloat(t, "failures of a", a.failures, (5+8*slow)/18)
	wantFloat(t, "failures of b", b.failures, (5+20*0.002)/30)
}

// fixed returns a forecast in which TTFT is 0.5 s for nine in ten and 1 s for the
// rest, TPOT 1/8 s, whatever the prompt.
func fixed() *forecast {
	f := &forecast{fit: sizeFit{a: 1}, bytesPerToken: 4, pace: 0.125, tables: nil}
	c := latency.NewCounts(secondUnit)
	c.Record(0.5, 90)
	c.Record(1, 10)
	f.dist[ttft] = c.Dist()
	c = latency.NewCounts(paceUnit)
	c.Record(0.125, 1)
	f.dist[tpot] = c.Dist()
	for i := range f.paces {
		f.paces[i] = 0.125
	}
	return f
}

func TestTableComposesTotal(t *testing.T) {
	f := fixed()
	e := newEndpoint("e", 0, budget.Budget{Total: budget.Layers{95: 1500 * time.Millisecond}}, nil)
	l := &lengths{}
	l.share[gridIndex(4)], l.share[gridIndex(8)], l.share[gridIndex(64)] = 0.5, 0.25, 0.25
	table := f.makeTable(e, l, true)
	// 4 tokens: 0.375 s after the first, so that all are in time. 5.66 and 8: 0.58 and
	// 0.875 s, so that the tenth with a TTFT of 1 s is late. 64: 7.9 s, all are.
	for _, c := range []struct {
		limit int
		want  float64
	}{
		{1, 0}, {4, 0},
		{5, 0.5 * 0.1},     // half have 4 tokens; the rest is cut to 5.66, the nearest of the grid
		{8, 0.5 * 0.1},     // half have 4 tokens, the rest is cut to 8
		{64, 0.025 + 0.25}, // a quarter has 8, a quarter 64
		{0, 0.025 + 0.25},
		{1 << 30, 0.025 + 0.25},
	} {
		for bucket := range sizeBuckets {
			got := float64(table.miss[0][bucket][gridIndex(c.limit)])
			if math.Abs(got-c.want) > 1e-6 {
				t.Errorf("P(total > 1.5s), at most %d tokens, size bucket %d = %v, want %v", c.limit, bucket, got, c.want)
			}
		}
	}
}

func TestLengths(t *testing.T) {
	o := outputs{tokens: newFading(tokenUnit, time.Now())}
	l := o.current(time.Now())
	if l.median < 140 || l.median > 160 {
		t.Errorf("median before there is any = %v, want the built-in 150", l.median)
	}
	sum := 0.0
	for _, p := range l.share {
		sum += p
	}
	wantFloat(t, "sum of shares", sum, 1)
	wantFloat(t, "mean of answers of one token", l.mean[0], 1)

	now := time.Now()
	for range 10000 {
		o.record(now, 64, 0, habit{})
	}
	l = o.fold(now)
	if l.median < 60 || l.median > 64 || math.Abs(l.mean[gridSize-1]-64) > 1 || math.Abs(l.mean[gridIndex(16)]-16) > 0.1 {
		t.Errorf("median %v, mean %v, of at most 16 tokens %v; want 64, 64, 16", l.median, l.mean[gridSize-1], l.mean[gridIndex(16)])
	}

	// Answers that the cap has cut off are at least so long.
	o = outputs{tokens: newFading(tokenUnit, now)}
	for range 1000 {
		o.record(now, 64, 64, habit{})
	}
	if l = o.fold(now); l.median <= 66 {
		t.Errorf("median %v of answers that were cut at 64, want more", l.median)
	}
}

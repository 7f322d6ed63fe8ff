package router

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/latency"
)

func wantFloat(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-7*max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestFitSizes(t *testing.T) {
	approx := cmpopts.EquateApprox(1e-6, 0)
	tests := []struct {
		name   string
		points []point
		want   sizeFit
	}{
		// b is the prior where one size says nothing about the slope; a = 0.5 - 1000b.
		{"one size", []point{{1000, 0.5, 64}}, sizeFit{0.44, 60e-6}},
		// Means 2500 and 0.5, sums of products 20*2000*0.2 = 8000 and of squares 8e7:
		// b = (8000 + 6.25e6*60e-6) / (8e7 + 6.25e6) = 8375/8.625e7.
		{"two sizes", []point{{500, 0.3, 10}, {4500, 0.7, 10}}, sizeFit{0.5 - 2500*8375/8.625e7, 8375 / 8.625e7}},
		// The prior's own line stays what it is: 0.2 + 60e-6*s.
		{"as expected", []point{{500, 0.23, 3}, {4500, 0.47, 40}, {20000, 1.4, 64}}, sizeFit{0.2, 60e-6}},
		// A longer prompt never takes less time: the weighed mean is all that is left.
		{"falling", []point{{500, 0.9, 60}, {4500, 0.1, 20}}, sizeFit{0.7, 0}},
		// 0.5 - 50000*60e-6 is below 0; a fifth of the median is fixed, and the line
		// from there: (6.25e6*60e-6 + 50000*0.4) / (6.25e6 + 2.5e9).
		{"steep", []point{{50000, 0.5, 1}}, sizeFit{0.1, 20375 / 2.50625e9}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, fitSizes(test.points), approx, cmp.AllowUnexported(sizeFit{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	// Before there are samples the relatives' median is that of 1000 tokens.
	for _, median := range []float64{0.5, 0.05} {
		wantFloat(t, "median at the reference", guessSizes(median).at(refPrompt), median)
	}
}

func TestSizeBuckets(t *testing.T) {
	for _, c := range []struct {
		tokens float64
		want   int
	}{{0, 0}, {512, 0}, {513, 1}, {2048, 1}, {2049, 2}, {8192, 2}, {8193, 3}, {32768, 3}, {32769, 4}, {1e9, 4}} {
		if got := sizeBucket(c.tokens); got != c.want {
			t.Errorf("bucket of %v tokens = %d, want %d", c.tokens, got, c.want)
		}
	}
	for i, tokens := range sizeMiddle {
		if sizeBucket(tokens) != i {
			t.Errorf("%v tokens do not lie in bucket %d", tokens, i)
		}
	}
}

// Only the latest 64 of a bucket count: of 100 values rising by 1 the last 64 are 36
// to 99, and their median 67.5.
func TestSamplesKeepTheLatest(t *testing.T) {
	var s samples
	for i := range 100 {
		s.add(float64(100+i), float64(i))
	}
	want := []point{{tokens: 167.5, seconds: 67.5, weight: 64}}
	if diff := cmp.Diff(want, s.points(nil), cmp.AllowUnexported(point{})); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	s.add(5000, 3)
	want = append(want, point{5000, 3, 1})
	if diff := cmp.Diff(want, s.points(nil), cmp.AllowUnexported(point{})); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}

func TestRatio(t *testing.T) {
	r := newRatio()
	r.add(300, 100) // the prior counts for 4: 4 + (3-4)/5
	wantFloat(t, "after one of 3", r.bytesPerToken, 3.8)
	r.add(300, 100) // 3.8 - 0.8/6
	wantFloat(t, "after two of 3", r.bytesPerToken, 3.8-0.8/6)
	for range 1000 {
		r.add(300, 100)
	}
	wantFloat(t, "in the end", r.bytesPerToken, 3)
	r.add(1<<20, 100) // counts as 16: 3 + 13/64
	wantFloat(t, "after an image", r.bytesPerToken, 3+13.0/64)
	r.add(0, 100)
	r.add(100, 0)
	wantFloat(t, "after nothing", r.bytesPerToken, 3+13.0/64)
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

func TestScore(t *testing.T) {
	f := fixed()
	f.failures = 0.02
	targets := []Target{{Name: "a"}}
	e := newEndpoint("e", 0, budget.Budget{
		TTFT: budget.Layers{95: 500 * time.Millisecond, 99: time.Second},
		TPOT: budget.Layers{90: 100 * time.Millisecond},
	}, targets)
	for range 10 { // misses p95 TTFT and keeps the others: Q = 10 * 0.05*(1 - 0.8*0.05) = 0.48
		tally := e.ledger.Tally(true)
		tally.Content(700 * time.Millisecond)
		tally.Completed(0, time.Second)
	}
	// P(miss) with a failure as a miss: 0.02 + 0.98*0.1 for p95, 0.02 for p99, 1 for TPOT.
	// Weights: (0.48+0.2)/0.05, 0.2/0.01, 0.2/0.1; and 0.2/0.001 for two failures in a row.
	want := 13.6*0.118 + 20*0.02 + 2*1 + 200*0.02*0.02
	req := Request{Streamed: true, PromptBytes: 4000}
	q := newQuestion(e, &req, time.Now(), nil)
	r := &Router{targets: targets}
	g := &group{router: r, routes: []*route{{target: 0}}}
	list := q.rank(g, &outlook{routes: []*forecast{f}}, nil)
	wantFloat(t, "score", list[0].score, want)

	whole := Request{PromptBytes: 4000}
	q = newQuestion(e, &whole, time.Now(), nil)
	if len(q.layers) != 0 {
		t.Errorf("%d layers concern a call that is not streamed, want none", len(q.layers))
	}
}

// Costs are those of 1000 prompt tokens and the answer's expected length, in medians
// of all.
func TestCostInMedians(t *testing.T) {
	targets := []Target{
		{Name: "a", Price: Price{Input: 1}}, {Name: "b", Price: Price{Input: 2}},
		{Name: "c", Price: Price{Input: 4}}, {Name: "d", Price: Price{Input: 8}},
	}
	e := newEndpoint("e", 0, budget.Budget{TTFT: budget.Layers{95: 2 * time.Second}}, targets)
	req := Request{Streamed: true, PromptBytes: 4000}
	q := newQuestion(e, &req, time.Now(), nil)
	r := &Router{targets: targets}
	g := &group{router: r}
	o := &outlook{}
	for i := range targets {
		g.routes = append(g.routes, &route{target: i})
		o.routes = append(o.routes, fixed())
	}
	list := q.rank(g, o, nil)
	// The median of 1, 2, 4 and 8 is 3; V is 3; nothing is late and nothing fails.
	for i, want := range []float64{1, 2, 4, 8} {
		wantFloat(t, targets[i].Name, list[i].score, want)
	}
}

// An attempt that will be given up at 2 s keeps no longer limit either.
func TestWhatIsGivenUpKeepsNoLimit(t *testing.T) {
	f := fixed()
	c := latency.NewCounts(secondUnit)
	c.Record(0.5, 50)
	c.Record(8, 50)
	f.dist[ttft] = c.Dist()
	for _, b := range []budget.Budget{
		{TTFT: budget.Layers{95: 10 * time.Second}, Abandon: 2 * time.Second},
		{Total: budget.Layers{95: 60 * time.Second}, Abandon: 2 * time.Second},
	} {
		e := newEndpoint("e", 0, b, []Target{{Name: "a"}})
		f.tables = nil
		req := Request{Streamed: true, PromptBytes: 4000, MaxTokens: 2}
		q := newQuestion(e, &req, time.Now(), nil)
		x := ranked{forecast: f, tokens: 1000, factor: 1, abandon: 2}
		f.tables = make([]tablePlace, 2)
		wantFloat(t, "P(miss)", q.miss(&x, q.layers[0].layer), 0.5)
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

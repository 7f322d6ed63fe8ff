package router

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/latency"
)

func TestLowest(t *testing.T) {
	const z2 = 1.645 * 1.645 // 2.706
	for _, c := range []struct{ share, n, want float64 }{
		{0.5, 0, 0},
		{0, 100, 0},
		{1, 10, 10 / (10 + z2)}, // all of ten
		// (15 + 1.353 - 1.645*sqrt(7.5 + 0.6765)) / 32.706
		{0.5, 30, (15 + z2/2 - 1.645*math.Sqrt(7.5+z2/4)) / (30 + z2)},
		{0.5, 1e12, 0.5},
	} {
		if got := lowest(c.share, c.n); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("lowest(%v, %v) = %v, want %v", c.share, c.n, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		share, n := rapid.Float64Range(0, 1).Draw(t, "share"), rapid.Float64Range(0, 1e6).Draw(t, "n")
		more := n * rapid.Float64Range(1, 10).Draw(t, "more")
		got := lowest(share, n)
		if !(0 <= got && got <= share+1e-12) || lowest(share, more) < got-1e-9 {
			t.Fatalf("lowest(%v, %v) = %v, and of %v %v: want it from 0 to the share, and never to fall with n", share, n, got, more, lowest(share, more))
		}
	})
}

// Evidence that comes evenly counts in full, what is no longer renewed for half as
// much every 30 s, however much it was.
func TestFreshEvidence(t *testing.T) {
	var a, b *forecast
	synctest.Test(t, func(t *testing.T) {
		r, err := New(Config{Targets: []Target{{Name: "a", Models: []string{"m"}}, {Name: "b", Models: []string{"m"}}}})
		if err != nil {
			t.Fatal(err)
		}
		g := r.group("m")
		for i := range 3600 { // one a second for an hour, until now and until 2 minutes ago
			now := time.Now()
			g.routes[0].ttft.Record(now, 0.5)
			g.routes[0].share.record(now, false)
			if i < 3480 {
				g.routes[1].ttft.Record(now, 0.5)
			}
			time.Sleep(time.Second)
		}
		o := g.fold(time.Now(), nil, newScratch(2))
		a, b = o.routes[0], o.routes[1]
	})
	const even = 900 / math.Ln2 * (1 - 1./16) // slow weight of an hour, one a second
	if a.fresh[ttft] < 0.97*even || a.fresh[ttft] > 1.03*even || math.Abs(a.own-even) > 0.03*even {
		t.Errorf("until now: %v of %v are fresh, want all of %v", a.fresh[ttft], a.own, even)
	}
	if want := even / 16; b.fresh[ttft] < 0.9*want || b.fresh[ttft] > 1.2*want { // four half-lives
		t.Errorf("until 2 min ago: %v are fresh, want about %v", b.fresh[ttft], want)
	}
	if a.outcomes < 0.97*even || a.outcomes > 1.03*even || a.fresh[tpot] != 0 || b.outcomes != 0 {
		t.Errorf("%v outcomes, %v TPOTs; %v outcomes of the other", a.outcomes, a.fresh[tpot], b.outcomes)
	}
}

// The scores of TestScore, with lower bounds in place of estimates.
func TestOptimisticScore(t *testing.T) {
	f := fixed()
	f.failures, f.outcomes = 0.02, 50
	f.fresh = [metrics]float64{ttft: 10, tpot: 20}
	targets := []Target{{Name: "a"}}
	e := newEndpoint("e", 0, budget.Budget{
		TTFT: budget.Layers{95: 500 * time.Millisecond},
		TPOT: budget.Layers{90: 100 * time.Millisecond},
	}, targets)
	req := Request{Streamed: true, PromptBytes: 4000}
	q := newQuestion(e, &req, time.Now(), nil)
	x := ranked{forecast: f, tokens: 1000, factor: 1, abandon: 5}
	x.score = q.score(&x) + 1.5 // and 1.5 of cost
	// Weights 4, 2 and 200; a tenth are late for TTFT, all for TPOT.
	failures := lowest(0.02, 50)
	want := 1.5 + 200*failures*failures +
		4*(failures+(1-failures)*lowest(0.1, 10)) +
		2*(failures+(1-failures)*20/(20+optimism*optimism))
	wantFloat(t, "optimistic score", q.optimistic(&x), want)

	f.outcomes, f.fresh = 0, [metrics]float64{}
	wantFloat(t, "where nothing is known: the cost", q.optimistic(&x), 1.5)
	f.outcomes, f.fresh = 1e12, [metrics]float64{1e12, 1e12, 1e12}
	if got := q.optimistic(&x); math.Abs(got-x.score) > 1e-3 {
		t.Errorf("where all is known: %v, want the score %v", got, x.score)
	}
}

// Where nothing was promised: the median that may be.
func TestOptimisticTime(t *testing.T) {
	f := fixed()
	c := latency.NewCounts(secondUnit)
	for i := range 1000 {
		c.Record(0.1+float64(i)/1000, 1) // 0.1 to 1.1 s
	}
	f.dist[ttft] = c.Dist()
	e := newEndpoint("e", 0, budget.Budget{}, []Target{{Name: "a"}})
	req := Request{Streamed: true, PromptBytes: 4000}
	q := newQuestion(e, &req, time.Now(), nil)
	x := ranked{forecast: f, tokens: 1000, factor: 2}
	f.fresh[ttft] = 30
	// lowest(0.5, 30) is 0.3562: 0.1 + 0.3562 s, twice for the size; buckets are 4% wide.
	if got := q.optimistic(&x); math.Abs(got-0.912) > 0.02 {
		t.Errorf("%v, want 0.912", got)
	}
	f.fresh[ttft] = 0
	wantFloat(t, "where nothing is known", q.optimistic(&x), 0)
}

func TestWhoExplores(t *testing.T) {
	ordinary := Request{Streamed: true, PromptBytes: 4000}
	for _, c := range []struct {
		name   string
		change func(*Request, *ranked)
		passed int64
		want   bool
	}{
		{"an ordinary call", nil, 100, true},
		{"too soon", nil, 99, false},
		{"pinned", func(r *Request, _ *ranked) { r.Pin = "a" }, 1000, false},
		{"no first attempt", func(r *Request, _ *ranked) { r.Attempts = 1 }, 1000, false},
		{"instead of a probe", func(_ *Request, x *ranked) { x.probe = true }, 1000, false},
		{"instead of a last resort", func(_ *Request, x *ranked) { x.last = true }, 1000, false},
		{"not to be hedged: others first", func(r *Request, _ *ranked) { r.Single = true }, 199, false},
		{"not to be hedged, but no other came", func(r *Request, _ *ranked) { r.Single = true }, 200, true},
		{"1.5 times the usual prompt", func(r *Request, _ *ranked) { r.PromptBytes = 6000 }, 100, true},
		{"longer", func(r *Request, _ *ranked) { r.PromptBytes = 6004 }, 199, false},
		{"longer, but no other came", func(r *Request, _ *ranked) { r.PromptBytes = 6004 }, 200, true},
	} {
		e := newEndpoint("e", 0, budget.Budget{}, nil)
		e.unexplored.Store(c.passed)
		f := fixed()
		f.typical = 1000
		req, x := ordinary, ranked{forecast: f}
		if c.change != nil {
			c.change(&req, &x)
		}
		q := newQuestion(e, &req, time.Now(), nil)
		o := &outlook{at: time.Now()}
		if got := q.mayExplore(&x, o); got != c.want {
			t.Errorf("%s, after %d calls: %t", c.name, c.passed, got)
		}
		if q.mayExplore(&x, o) {
			t.Errorf("%s: looked for twice in one outlook", c.name)
		}
	}
}

// Only routes of which all is well are explored, one attempt at a time.
func TestWhatIsExplored(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name   string
		change func(*ranked)
		want   bool
	}{
		{"as it should be", func(*ranked) {}, true},
		{"another key", func(x *ranked) { x.key = 1 }, true},
		{"a probe", func(x *ranked) { x.probe = true }, false},
		{"a last resort", func(x *ranked) { x.last = true }, false},
		{"coming back", func(x *ranked) { x.ramp = 0.1 }, false},
		{"under pressure", func(x *ranked) { x.pressure = 0.1 }, false},
		{"open", func(x *ranked) { x.route.breaker.state.Store(open) }, false},
		{"just closed", func(x *ranked) { x.route.breaker.state.Store(ramping) }, false},
		{"explored just now", func(x *ranked) { x.route.explored.Store(now.Add(time.Second).UnixNano()) }, false},
		{"explored long ago", func(x *ranked) { x.route.explored.Store(now.UnixNano()) }, true},
		{"somebody waits for it", func(x *ranked) { x.route.wait(&Flight{}) }, false},
	} {
		x := ranked{route: &route{record: new(record)}}
		c.change(&x)
		if got := x.explorable(now); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

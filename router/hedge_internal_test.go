package router

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/latency"
)

// counts returns so many each of some times.
func counts(times map[float64]float64) *latency.Counts {
	c := latency.NewCounts(secondUnit)
	for seconds, n := range times {
		c.Record(seconds, n)
	}
	return c
}

func of(times map[float64]float64) latency.Dist { return counts(times).Dist() }

// fixedQuestion is one of an endpoint with the given budget, where an answer has 1, 11,
// 21 or 31 tokens.
func fixedQuestion(b budget.Budget, req *Request) question {
	e := newEndpoint("e", 0, b, []Target{{Name: "a"}, {Name: "b"}})
	q := newQuestion(e, req, time.Now(), nil)
	q.lengths = &lengths{atoms: [lengthAtoms]float64{1, 11, 21, 31}, mean: q.lengths.mean}
	return q
}

// plain returns a forecast of a TTFT that does not depend on the prompt.
func plain(ttfts map[float64]float64, pace float64) *forecast {
	f := &forecast{fit: sizeFit{a: 1}, pace: pace}
	f.dist[ttft] = of(ttfts)
	return f
}

func rivalOf(q *question, f *forecast, factor, failures float64) (y rival) {
	q.leg(&y.leg, f, refPrompt)
	y.factor, y.failures = factor, failures
	return y
}

func TestGain(t *testing.T) {
	// The first attempt takes 1/4 s in four of five cases, else 4 s; the other 1/4, 1
	// or 8 s in 5, 4 and 1 of ten. Limits are 0.8 and 3 s, and in addition 6 s. Without
	// debt a miss weighs 0.05*0.2/0.05 = 0.2 for p95 and 1 for p99.
	b := budget.Budget{TTFT: budget.Layers{95: 800 * time.Millisecond, 99: 3 * time.Second}, TPOT: budget.Layers{95: time.Second}}
	x := plain(map[float64]float64{0.25: 80, 4: 20}, 0)
	y := plain(map[float64]float64{0.25: 50, 1: 40, 8: 10}, 0)
	q := fixedQuestion(b, &Request{Streamed: true})
	first := pending{forecast: x, tokens: refPrompt}
	c := q.contest(&first, nil)
	// k is 0.8 and a tenth of the other's attempts fail: of what it would rescue 0.72.
	rival := rivalOf(&q, y, 0.8, 0.1)
	for _, test := range []struct{ t, want float64 }{
		{0, 0.2*0.2*0.72*0.5 + 1*0.2*0.72*0.9 + 0}, // by 6 s the first has come
		{0.5, 0.2*1*0.72*0.5 + 1*1*0.72*0.9 + 0},   // only the slow ones are left; 0.3 and 2.5 s
		{0.7, 0 + 1*1*0.72*0.9},                    // 0.1 s is too little
		{0.9, 0 + 1*1*0.72*0.9},
		{2.5, 0 + 1*1*0.72*0.5},
		{2.9, 0},
		{4.5, 1 * 0.72 * 0.9}, // longer than was ever seen: it will not come by 6 s
		{6, 0},
	} {
		m := c.at(test.t)
		wantFloat(t, "G", c.gain(&m, &rival), test.want)
	}

	// k cannot make it surer than sure.
	m, sure := c.at(0.9), rivalOf(&q, plain(map[float64]float64{0.25: 1}, 0), 1.5, 0)
	wantFloat(t, "G, sure", c.gain(&m, &sure), 1)

	// Ten misses of both: Q = 10*0.05*(1-0.8*0.05) = 0.48 and 10*0.05*(1-0.8*0.01) = 0.496.
	for range 10 {
		tally := q.endpoint.ledger.Tally(true)
		tally.Content(5 * time.Second)
	}
	c = q.contest(&first, nil)
	m = c.at(0.5)
	wantFloat(t, "G, in debt", c.gain(&m, &rival), 0.05*0.68/0.05*0.72*0.5+0.05*0.696/0.01*0.72*0.9)

	// Limits are the call's: it has been under way for 2.3 s.
	first.start = time.Now()
	q.req.Since = first.start.Add(-2300 * time.Millisecond)
	c = q.contest(&first, nil)
	m = c.at(0.1) // 0.6 s are left for p99; at 3.7 s of its own the first will not have come
	wantFloat(t, "G, second attempt", c.gain(&m, &rival), 0.05*0.696/0.01*0.2*0.72*0.5+0.05*0.696/0.01*0.2*0.72*0.9)
}

// A limit for the whole answer leaves less for the first content, the longer the
// answer and the slower the route.
func TestGainOfTotals(t *testing.T) {
	b := budget.Budget{Total: budget.Layers{95: 2 * time.Second}}
	q := fixedQuestion(b, &Request{Streamed: true})
	// 1, 11, 21 and 31 tokens take the first 0, 1, 2 and 3 s after their first, so that
	// its content is late after 2, 1, 0 and -1 s; the other 0, 0.5, 1, 1.5 s.
	x, y := plain(map[float64]float64{0.25: 50, 1.5: 50}, 0.1), plain(map[float64]float64{0.25: 50, 0.8: 50}, 0.05)
	first := pending{forecast: x, tokens: refPrompt}
	c := q.contest(&first, nil)
	rival := rivalOf(&q, y, 1, 0)
	m := c.at(0.5) // half are left
	// By 2 s: 0, all, all, all of them miss. The other has 1.5, 1, 0.5, 0 s.
	got := 0.2 * (0*1 + 1*1 + 1*0.5 + 1*0) / 4
	// By 4 s: 4, 3, 2 and 1 s for the first, and 3.5, 3, 2.5, 2 for the other.
	got += 0.2 * (0 + 0 + 0 + 1*1) / 4
	wantFloat(t, "G", c.gain(&m, &rival), got)

	// Where nothing is streamed a long answer takes long everywhere. One of 1, 11, 21
	// and 31 tokens takes 1, 2, 3 and 4 times 1/20.9 of that of reference.
	q = fixedQuestion(b, &Request{})
	x, y = plain(nil, 0.1), plain(nil, 0.1)
	x.dist[total], y.dist[total] = of(map[float64]float64{0.6 * 20.9: 50, 1.5 * 20.9: 50}), of(map[float64]float64{0.4 * 20.9: 100})
	first.forecast = x
	c, rival = q.contest(&first, nil), rivalOf(&q, y, 1, 0)
	m = c.at(0.9)
	// Still waiting: half of the first length (0.6 or 1.5 s), and all others (1.2 or 3,
	// 1.8 or 4.5, 2.4 or 6). By 2 s late: 0, 0.5, 0.5, 1; by 4 s: 0, 0, 0.5, 0.5. The
	// other takes 0.4, 0.8, 1.2, 1.6 and has 1.1 and 3.1.
	want := 0.2 * (0*1 + 0.5*1 + 0.5*0 + 1*0 + 0 + 0 + 0.5 + 0.5) / 3.5
	wantFloat(t, "G, not streamed", c.gain(&m, &rival), want)
}

// The formula as it is written down, for one kind of call: streamed, TTFT layers only.
func TestGainIsTheFormula(t *testing.T) {
	times := rapid.MapOfN(rapid.Float64Range(0.01, 20), rapid.Float64Range(0.1, 10), 1, 20)
	rapid.Check(t, func(t *rapid.T) {
		layers := make(budget.Layers)
		limit := 0.0
		for _, p := range []float64{50, 95, 99} {
			limit += rapid.Float64Range(0.01, 3).Draw(t, "limit")
			layers[p] = seconds(limit)
		}
		q := fixedQuestion(budget.Budget{TTFT: layers}, &Request{Streamed: true})
		for range rapid.IntRange(0, 50).Draw(t, "misses") {
			tally := q.endpoint.ledger.Tally(true)
			tally.Content(time.Second)
		}
		x, y := plain(times.Draw(t, "x"), 0), plain(times.Draw(t, "y"), 0)
		k, failures := rapid.Float64Range(0.05, 1.5).Draw(t, "k"), rapid.Float64Range(0, 1).Draw(t, "failures")
		first := pending{forecast: x, tokens: refPrompt}
		c, other := q.contest(&first, nil), rivalOf(&q, y, k, failures)

		want := func(at float64) (sum float64) {
			add := func(limit time.Duration, l layer) {
				w := 0.05 * (q.endpoint.ledger.Debt(l.index) + 0.2) / l.allowed
				if T := limit.Seconds(); T > at {
					sum += w * x.dist[ttft].Survival(T) / x.dist[ttft].Survival(at) *
						min(1, k*(1-failures)*(1-y.dist[ttft].Survival(T-at)))
				}
			}
			for _, l := range q.endpoint.layers {
				add(seconds(l.limit), l)
			}
			last := q.endpoint.layers[2]
			add(2*seconds(last.limit), last)
			return sum
		}
		for range 5 {
			at := rapid.Float64Range(0, 2*limit).Draw(t, "t")
			if x.dist[ttft].Survival(at) < 1e-9 {
				continue
			}
			m := c.at(at)
			if got, want := c.gain(&m, &other), want(at); math.Abs(got-want) > 1e-9*(1+want) {
				t.Fatalf("G(%v) = %v, want %v", at, got, want)
			}
		}

		// The age that is found pays, and no other of the grid is worth much more: what it
		// gains then, if the first attempt is still waiting.
		price := math.Exp(rapid.Float64Range(-4, 3).Draw(t, "log price"))
		age := rapid.Float64Range(0, limit).Draw(t, "age")
		waits := func(at float64) float64 { return x.dist[ttft].Survival(at) }
		if waits(age) < 1e-9 {
			return
		}
		worth := func(at float64) float64 {
			if waits(at) == 0 {
				return 0
			}
			return (want(at) - price) * waits(at) / waits(age)
		}
		most := 0.0
		for _, at := range c.ages(age, nil) {
			most = max(most, worth(at))
		}
		best, at := c.seek(age, price, []rival{other})
		if at < age || at > c.over || (best != nil) != (most > 0) || best != nil && worth(at) < 0.979*most {
			t.Fatalf("found %v at %v, worth %v, want %v", best, at, worth(at), most)
		}
		if again := c.again(age, at).Seconds(); again <= age && age > 0 || again > c.over+1e-9 || at > age && again > at+1e-9 {
			t.Fatalf("at %v, ask again at %v", at, again)
		}
	})
}

// Of several routes that pay the one is taken that gains most beyond its cost.
func TestSeekTakesTheBest(t *testing.T) {
	b := budget.Budget{TTFT: budget.Layers{99: 2 * time.Second}}
	q := fixedQuestion(b, &Request{Streamed: true})
	c := q.contest(&pending{forecast: plain(map[float64]float64{0.25: 80, 8: 20}, 0), tokens: refPrompt}, nil)
	// With 1 s left: half, all, and all at a cost.
	rivals := []rival{
		rivalOf(&q, plain(map[float64]float64{0.25: 50, 8: 50}, 0), 1, 0),
		rivalOf(&q, plain(map[float64]float64{0.75: 100}, 0), 1, 0),
		rivalOf(&q, plain(map[float64]float64{0.25: 100}, 0), 1, 0),
	}
	rivals[2].cost = 0.1
	for _, test := range []struct {
		name       string
		age, price float64
		best       int
	}{
		{"all in time", 1, 0.1, 1},
		{"only the dear one in time", 1.5, 0.5, 2},
		{"none is worth it", 1, 5, -1},
		{"no token is left", 1, math.Inf(1), -1},
	} {
		best, at := c.seek(test.age, test.price, rivals)
		if test.best < 0 && best != nil || test.best >= 0 && (best != &rivals[test.best] || at != test.age) {
			t.Errorf("%s: %+v at %v", test.name, best, at)
		}
	}
}

// P(Y < X, Y <= within | X > t), for two that have nothing to do with each other.
func TestPredict(t *testing.T) {
	q := fixedQuestion(budget.Budget{TTFT: budget.Layers{95: time.Second}}, &Request{Streamed: true})
	// After 0.5 s half of the first are left: 1/5 of them come at 1 s, the rest at 8 s.
	x := plain(map[float64]float64{0.25: 50, 1: 10, 8: 40}, 0)
	c := q.contest(&pending{forecast: x, tokens: refPrompt}, nil)
	m := c.at(0.5)
	// The other comes at 0.25 s (half), 1 s, or 4 s. By 1.5 s: at 0.25 s always ahead, at
	// 1 s in 4 of 5 cases. A tenth fails.
	y := rivalOf(&q, plain(map[float64]float64{0.25: 50, 1: 30, 4: 20}, 0), 1, 0.1)
	if got, want := c.predict(&m, &y, 1.5), 0.9*(0.5+0.3*0.8); math.Abs(got-want) > 0.01 {
		t.Errorf("predicted %v, want %v", got, want)
	}
	m = c.at(0.25 * 0.9)
	wantFloat(t, "in no time", c.predict(&m, &y, 0), 0)
}

// A limit and an age may differ by less than the clock can tell: whoever asks again at
// that very age would ask for ever.
func TestAgainIsLater(t *testing.T) {
	const age = 6.0
	c := contest{over: math.Nextafter(age, 7)}
	for _, at := range []float64{math.Inf(1), c.over} {
		if again := c.again(age, at); again <= 6*time.Second {
			t.Errorf("at %v: ask again at %v, want it above the age of 6s", at, again)
		}
	}
}

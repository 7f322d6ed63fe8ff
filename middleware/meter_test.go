package middleware

import (
	"maps"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// one event of a stream, and when it was complete
type stamped struct {
	at time.Duration
	ev dialect.Event
}

func text(at time.Duration) stamped {
	return stamped{at, dialect.Event{Content: true, Answer: true, TextBytes: 8}}
}

func reasoning(at time.Duration) stamped {
	return stamped{at, dialect.Event{Content: true, ReasoningText: true}}
}

func summary(at time.Duration) stamped { return stamped{at, dialect.Event{Content: true}} }

func usage(at time.Duration, u dialect.Usage) stamped {
	return stamped{at, dialect.Event{HasUsage: true, Usage: u}}
}

const ms = time.Millisecond

func TestTPOT(t *testing.T) {
	for _, tt := range []struct {
		name    string
		choices int
		events  []stamped
		want    time.Duration
	}{
		{
			name:   "(1400-500)/(10-1): the role chunk at 200 and the usage at 1500 move nothing",
			events: []stamped{{200 * ms, dialect.Event{}}, text(500 * ms), text(1400 * ms), usage(1500*ms, dialect.Usage{Output: 10})},
			want:   100 * ms,
		},
		{
			name:   "(900-300)/(7-4): the first event is known to hold 4 tokens",
			events: []stamped{{300 * ms, dialect.Event{Content: true, Answer: true, Tokens: 4}}, text(900 * ms), usage(900*ms, dialect.Usage{Output: 7})},
			want:   200 * ms,
		},
		{
			name:   "(500-400)/(66-64-1): hidden reasoning was never streamed",
			events: []stamped{text(400 * ms), text(500 * ms), usage(500*ms, dialect.Usage{Output: 66, Reasoning: 64})},
			want:   100 * ms,
		},
		{
			name:   "(700-100)/(7-1): streamed reasoning counts",
			events: []stamped{reasoning(100 * ms), text(600 * ms), text(700 * ms), usage(700*ms, dialect.Usage{Output: 7, Reasoning: 5})},
			want:   100 * ms,
		},
		{
			name:   "(800-600)/(25-20-1): a summary of reasoning has no pace, the answer has",
			events: []stamped{summary(100 * ms), text(600 * ms), text(800 * ms), usage(800*ms, dialect.Usage{Output: 25, Reasoning: 20})},
			want:   50 * ms,
		},
		{name: "one content event", events: []stamped{text(500 * ms), usage(500*ms, dialect.Usage{Output: 77})}},
		{name: "no usage", events: []stamped{text(500 * ms), text(600 * ms)}},
		{name: "several choices", choices: 2, events: []stamped{text(500 * ms), text(600 * ms), usage(600*ms, dialect.Usage{Output: 5})}},
		{name: "all tokens in the first event", events: []stamped{{500 * ms, dialect.Event{Content: true, Answer: true, Tokens: 9}}, text(600 * ms), usage(600*ms, dialect.Usage{Output: 9})}},
		{name: "one burst", events: []stamped{text(500 * ms), text(500 * ms), usage(500*ms, dialect.Usage{Output: 9})}},
	} {
		m := meter{start: time.Unix(0, 0), choices: max(tt.choices, 1)}
		for _, s := range tt.events {
			m.event(&s.ev, m.start.Add(s.at))
		}
		if got := m.tpot(); got != tt.want {
			t.Errorf("%s: TPOT is %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestMeterTimes(t *testing.T) {
	m := meter{start: time.Unix(0, 0), choices: 1}
	for _, s := range []stamped{
		{100 * ms, dialect.Event{}}, // a role
		reasoning(250 * ms), reasoning(300 * ms), text(800 * ms), text(830 * ms),
		{900 * ms, dialect.Event{Finish: "stop"}},
		usage(950*ms, dialect.Usage{Input: 5, CachedInput: 2, Output: 4, Reasoning: 2}),
		{960 * ms, dialect.Event{Terminal: true}},
	} {
		m.event(&s.ev, m.start.Add(s.at))
	}
	var a Attempt
	m.record(&a)
	if a.TTFT != 250*ms || a.TTFA != 800*ms {
		t.Errorf("TTFT %v, TTFA %v; want 250ms, 800ms", a.TTFT, a.TTFA)
	}
	if a.Stall != 500*ms || a.ITL.N() != 3 || a.ITL.Mean() != 580*ms/3 {
		t.Errorf("stall %v of %d gaps with mean %v; want 500ms of 3 with 193.333333ms", a.Stall, a.ITL.N(), a.ITL.Mean())
	}
	if m.end != 960*ms {
		t.Errorf("the end is %v, want 960ms", m.end)
	}
	if want := (Usage{Input: 5, CachedInput: 2, Output: 4, Reasoning: 2}); a.Usage != want {
		t.Errorf("usage %+v, want %+v", a.Usage, want)
	}
}

// Without usage the output is an estimate, and no token metric is made of it.
func TestEstimatedUsage(t *testing.T) {
	m := meter{start: time.Unix(0, 0), choices: 1}
	for _, s := range []stamped{text(100 * ms), text(200 * ms), text(300 * ms)} { // 24 bytes
		m.event(&s.ev, m.start.Add(s.at))
	}
	var a Attempt
	m.record(&a)
	if want := (Usage{Output: 6, Estimated: true}); a.Usage != want || a.TPOT != 0 {
		t.Errorf("usage %+v, TPOT %v; want %+v, 0", a.Usage, a.TPOT, want)
	}
}

func TestBackpressureGivesNoPace(t *testing.T) {
	m := meter{start: time.Unix(0, 0), choices: 1}
	first, second := text(100*ms), text(200*ms)
	m.event(&first.ev, m.start.Add(first.at))
	m.event(&second.ev, m.start.Add(second.at))
	m.backpressured = true
	late, end := text(5000*ms), usage(5000*ms, dialect.Usage{Output: 3})
	m.event(&late.ev, m.start.Add(late.at))
	m.event(&end.ev, m.start.Add(end.at))
	var a Attempt
	m.record(&a)
	if a.TPOT != 0 || a.Stall != 100*ms || a.ITL.N() != 1 || !a.Backpressured {
		t.Errorf("TPOT %v, stall %v, %d gaps, backpressured %v; want 0, 100ms, 1, true", a.TPOT, a.Stall, a.ITL.N(), a.Backpressured)
	}
}

// Every gap lands in the bucket whose bound is the first one not below it.
func TestGapBuckets(t *testing.T) {
	for i := 1; i < gapBuckets-1; i++ {
		bound := gapBound(i)
		if got := gapBucket(bound); got != i {
			t.Errorf("a gap of %v is in bucket %d, want %d", bound, got, i)
		}
		if got := gapBucket(bound + 1); got != i+1 {
			t.Errorf("a gap of %v is in bucket %d, want %d", bound+1, got, i+1)
		}
		if ratio := float64(gapBound(i+1)) / float64(bound); ratio > 1.25 {
			t.Errorf("bucket %d is %.3f times wider than the one before", i+1, ratio)
		}
	}
	for gap, want := range map[time.Duration]int{0: 0, gapFloor: 0, gapFloor + 1: 1, time.Hour: gapBuckets - 1} {
		if got := gapBucket(gap); got != want {
			t.Errorf("a gap of %v is in bucket %d, want %d", gap, got, want)
		}
	}
}

func TestGapQuantiles(t *testing.T) {
	var g Gaps
	if g.Quantile(0.5) != 0 || g.Mean() != 0 {
		t.Error("no gaps have a quantile or a mean")
	}
	for range 99 {
		g.add(10 * ms)
	}
	g.add(700 * ms)
	// The octave from 8.192 ms has its bounds at 10.24 ms, the one from 524.288 ms at 786.432 ms.
	if got, want := g.Quantile(0.5), 10240*time.Microsecond; got != want {
		t.Errorf("p50 is %v, want %v", got, want)
	}
	if got, want := g.Quantile(1), 786432*time.Microsecond; got != want {
		t.Errorf("p100 is %v, want %v", got, want)
	}
	buckets := map[time.Duration]int{}
	for bound, n := range g.Buckets() {
		buckets[bound] = n
	}
	if want := map[time.Duration]int{10240 * time.Microsecond: 99, 786432 * time.Microsecond: 1}; !maps.Equal(buckets, want) {
		t.Errorf("buckets are %v, want %v", buckets, want)
	}
	other := g
	g.Add(&other)
	if g.N() != 200 || g.Mean() != other.Mean() {
		t.Errorf("twice the gaps are %d with mean %v, want 200 with %v", g.N(), g.Mean(), other.Mean())
	}
}

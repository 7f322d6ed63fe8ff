package router

import (
	"math"
	"testing"
	"time"
)

func TestCusum(t *testing.T) {
	for _, c := range []struct {
		allowed, miss, keep, level float64
	}{
		{0.05, math.Log(0.30 / 0.05), math.Log(0.70 / 0.95), 5},
		{0.01, math.Log(0.10 / 0.01), math.Log(0.90 / 0.99), 6},
		{0.1, math.Log(6), math.Log(0.4 / 0.9), 5},
		{0.001, math.Log(10), math.Log(0.99 / 0.999), 6},
	} {
		got, ok := newCusum(c.allowed)
		if !ok {
			t.Fatalf("no test for %v", c.allowed)
		}
		wantFloat(t, "miss", got.miss, c.miss)
		wantFloat(t, "keep", got.keep, c.keep)
		wantFloat(t, "level", got.level, c.level)
	}
	for _, allowed := range []float64{0.25, 0.5, 0.9} {
		if _, ok := newCusum(allowed); ok {
			t.Errorf("%v may be missed, and has an alarm", allowed)
		}
	}
}

func TestPressure(t *testing.T) {
	for _, c := range []struct{ share, want float64 }{{1, 0}, {0.2, 0}, {0.1, 1.25}, {0.05, 2.8125}, {0, 5}} {
		wantFloat(t, "pressure", pressure(c.share), c.want)
	}
}

func TestLevelFillsUp(t *testing.T) {
	now := time.Now()
	at := func(s float64) time.Time { return now.Add(time.Duration(s * float64(time.Second))) }
	var l level
	wantFloat(t, "unknown", l.share(now), 1)
	l.set(Headroom{Known: true, Limit: 100, Left: 20, Reset: 40 * time.Second}, now)
	wantFloat(t, "at once", l.share(now), 0.2)
	wantFloat(t, "half-way", l.share(at(20)), 0.6)
	wantFloat(t, "full", l.share(at(40)), 1)
	l.set(Headroom{Known: true, Left: 10}, at(50)) // limit as before, a minute to reset
	wantFloat(t, "limit not told", l.share(at(50)), 0.1)
	wantFloat(t, "reset not told", l.share(at(80)), 0.55)
	l = level{}
	l.set(Headroom{Known: true, Left: 10}, now)
	wantFloat(t, "limit never told", l.share(now), 1)
	l.set(Headroom{Known: true, Left: 0, Limit: 0, Reset: time.Second}, at(1))
	wantFloat(t, "none left", l.share(at(1)), 0)
}

// While degraded, slow history counts a fifth: 10 samples are as 2 against the 20 of
// relatives.
func TestDegradedDiscountsSlowHistory(t *testing.T) {
	fill := func(now time.Time, a, b *route) {
		for range 10 {
			a.ttft.Record(now, 0.5)
		}
		for range 40 {
			b.ttft.Record(now, 2)
		}
		a.alarms = []*alarm{{since: now, at: now}}
	}
	a, _ := evidence(t, fill)
	slow := 20 * (40 + 20*prior1s) / 60 / (2 + 20)
	wantFloat(t, "P(a > 1s)", a.dist[ttft].Survival(1), 8*slow/(10+8))
	wantFloat(t, "N of a", a.seen[ttft], 10)
}

// A breaker's fresh circuits do what they are made for; gobreaker's own clock and ours
// agree on when an opening ends.
func TestCircuitOfAnOpening(t *testing.T) {
	c := newOpen(time.Hour)
	if _, err := c.Allow(); err == nil {
		t.Error("a fresh opening lets an attempt through")
	}
	c = newOpen(time.Nanosecond)
	time.Sleep(time.Microsecond)
	done, err := c.Allow()
	if err != nil {
		t.Fatal("no probe after the opening")
	}
	if _, err := c.Allow(); err == nil {
		t.Error("a second probe")
	}
	done(errNothing)
	if done, err = c.Allow(); err != nil {
		t.Fatal("no other probe after one without a result")
	}
	done(nil)
}

package router

import (
	"fmt"
	"math"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

const (
	// The share of misses against which what is allowed is tested, in multiples of
	// it, and how much more likely it has to be (the logarithm) to ring: for a p95,
	// 30% against 5%; for a p99, 10% against 1%. What is allowed to be missed more
	// often than the last is no tail: it would ring for ever.
	tailRatio, tailLevel       = 6, 5.0
	farTailRatio, farTailLevel = 10, 6.0
	farTail                    = 0.02
	longestTail                = 0.1

	mostTails = 64 // of an endpoint; Flight.judged has a bit for each

	// slowShare is what slow history counts for while a route is degraded.
	slowShare = 0.2

	// alarmForgets is how old the latest verdict may be for an alarm to go on.
	alarmForgets = 5 * time.Minute
)

// cusum is a sequential test for one layer: which of two shares of misses is the
// true one.
type cusum struct {
	miss, keep float64 // logarithms of the likelihood ratios
	level      float64
}

// newCusum returns the test for a layer, or false if it has none.
func newCusum(allowed float64) (cusum, bool) {
	if allowed > longestTail {
		return cusum{}, false
	}
	ratio, level := float64(tailRatio), tailLevel
	if allowed <= farTail {
		ratio, level = farTailRatio, farTailLevel
	}
	return cusum{
		miss:  math.Log(ratio),
		keep:  math.Log((1 - ratio*allowed) / (1 - allowed)),
		level: level,
	}, true
}

// alarm is the state of the test on one route. It rings when misses have become
// likely, and the same test the other way round ends it. Before that has once
// found the layer kept the alarm is not armed: a route that never kept it is not ill
// but slow, which scores tell for each endpoint.
type alarm struct {
	up, down float64
	at       time.Time // of the latest verdict
	since    time.Time // of the first ring; zero: it is quiet
	armed    bool
	usual    usualSize
}

// usualSize is the mean size of the latest 64 or so calls that kept a limit. A larger
// one may take longer in proportion: a long prompt is no illness of its route.
type usualSize struct{ mean, count float64 }

func (u *usualSize) add(size float64) {
	u.count = min(u.count+1, latestSamples)
	u.mean += (size - u.mean) / u.count
}

// stretch returns how many times the limit a call of the given size may take.
func (u *usualSize) stretch(size float64) float64 {
	if u.count == 0 {
		return max(1, size) // those of reference have size 1
	}
	return max(1, size/u.mean)
}

// ring is what a verdict made of an alarm.
type ring uint8

const (
	quiet ring = iota
	first      // it rang, and had been quiet
	again      // it rang, and had rung before
	over       // it is quiet again
)

func (a *alarm) enter(t *cusum, missed bool, now time.Time) ring {
	forgotten := !a.since.IsZero() && !a.ringing(now)
	if now.Sub(a.at) > alarmForgets {
		*a = alarm{armed: a.armed, usual: a.usual}
	}
	a.at = now
	step := t.keep
	if missed {
		step = t.miss
	}
	a.up = max(0, a.up+step)
	a.down = min(max(0, a.down-step), t.level)
	kept := a.down >= t.level
	a.armed = a.armed || kept
	switch {
	case a.up >= t.level:
		a.up, a.down = 0, 0
		return a.ring(now)
	case forgotten, kept && !a.since.IsZero():
		a.since = time.Time{}
		return over
	}
	return quiet
}

func (a *alarm) ring(now time.Time) ring {
	switch {
	case !a.armed:
		return quiet
	case a.since.IsZero():
		a.since = now
		return first
	}
	return again
}

// ringing tells whether the alarm is to be heeded.
func (a *alarm) ringing(now time.Time) bool {
	return !a.since.IsZero() && now.Sub(a.at) <= alarmForgets
}

// tail is a layer that has an alarm on every route.
type tail struct {
	*layer
	cusum
	name  string
	alarm int // index in route.alarms
}

// addTails finds those layers of an endpoint that have alarms; next is the index of
// the first. It returns the next free index.
func (e *endpoint) addTails(next int) int {
	names := e.ledger.Layers()
	for i := range e.layers {
		l := &e.layers[i]
		if t, ok := newCusum(l.allowed); ok && len(e.tails) < mostTails {
			e.tails = append(e.tails, tail{layer: l, cusum: t, name: fmt.Sprintf("%v of %q", names[l.index], e.name), alarm: next})
			next++
		}
	}
	return next
}

// judge enters whether a flight kept the tail layers of one metric, each once, given
// the seconds that it took or, unless it is final, has taken so far, and how large
// it is. It returns why the route should be opened, if it should. The caller holds mu.
func (rt *route) judge(f *Flight, metric budget.Metric, took, size float64, final bool, now time.Time) (why string) {
	for i := range f.endpoint.tails {
		t, bit := &f.endpoint.tails[i], uint64(1)<<i
		kept := took <= t.limit
		if t.metric != metric || f.judged&bit != 0 || kept && !final {
			continue
		}
		usual := &rt.alarms[t.alarm].usual
		if kept {
			usual.add(size)
		}
		missed := !kept && took > t.limit*usual.stretch(size)
		if !missed && !final {
			continue
		}
		f.judged |= bit
		f.late = f.late || missed
		if rt.enterAlarm(t, missed, now) {
			why = "more and more misses of " + t.name
		}
	}
	return why
}

// enterAlarm tells whether the alarm persists.
func (rt *route) enterAlarm(t *tail, missed bool, now time.Time) bool {
	a := rt.alarms[t.alarm]
	rang := a.enter(&t.cusum, missed, now)
	if rang == quiet {
		return false
	}
	if rang != over {
		rt.rang.Store(now.UnixNano())
	}
	if alone := rt.ringing(now, a) == nil; rang == first && alone {
		rt.post(Event{At: now, Key: -1, State: StateDegraded, Why: "more misses than allowed of " + t.name})
	} else if rang == over && alone {
		rt.post(Event{At: now, Key: -1, State: StateOK, Why: "promises are kept again"})
	}
	return rang == again && now.Sub(a.since) >= alarmPersists
}

// degraded tells whether an alarm is ringing. The caller holds mu.
func (rt *route) degraded(now time.Time) bool { return rt.ringing(now, nil) != nil }

// ringing returns an alarm that is ringing, other than one, or nil. The caller holds
// mu.
func (rt *route) ringing(now time.Time, other *alarm) *alarm {
	for i := range rt.alarms {
		if a := rt.alarms[i]; a != other && a.ringing(now) {
			return a
		}
	}
	return nil
}

// calm makes all alarms quiet. Disarmed ones wait until the route keeps its layers.
func (rt *route) calm(disarm bool) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	for i := range rt.alarms {
		a := rt.alarms[i]
		*a = alarm{armed: a.armed && !disarm, usual: a.usual}
	}
}

// alarmed tells whether an alarm is ringing, or has just done so.
func (rt *route) alarmed(now time.Time) bool {
	if now.UnixNano()-rt.rang.Load() <= int64(alarmTogether) {
		return true
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.degraded(now)
}

// overdue judges attempts that are past a limit while they are still under way, so
// that a hang rings before anything has ended. The caller holds mu.
func (rt *route) overdue(now time.Time) (why string) {
	for _, f := range rt.waiting {
		age := now.Sub(f.start)
		if w := f.route.judgeWait(f, age, now); w != "" {
			why = w
		}
	}
	return why
}

// judgeWait judges an attempt that has been without content for so long.
func (rt *route) judgeWait(f *Flight, age time.Duration, now time.Time) (why string) {
	if len(f.endpoint.tails) == 0 {
		return ""
	}
	x := rt.expect()
	if f.streamed {
		why = rt.judge(f, budget.TTFT, age.Seconds(), x.fit.factor(f.tokens), false, now)
	}
	if w := rt.judge(f, budget.Total, age.Seconds(), x.work(f.tokens, f.outputs), false, now); w != "" {
		why = w
	}
	return why
}

package router

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// An opening lasts twice as long as the one before, and up to a tenth more so
	// that replicas do not probe in step. It starts anew after the route has been
	// closed for as long as the longest.
	shortestOpening = 15 * time.Second
	longestOpening  = 5 * time.Minute
	openingJitter   = 0.1
	mostOpenings    = 6 // in a row that differ: 15, 30, 60, 120, 240, 300 s

	// A probe's prompt may be so many times the route's typical one, and any length
	// once it is overdue by the shortest opening.
	smallCall = 1.5

	// A route that is well again gets a tenth of what it would, and all after a
	// while.
	rampTime = 30 * time.Second
	rampFrom = 0.1
)

// verdict is what the end of an attempt, or its first content, says of its route.
type verdict uint8

const (
	nothing verdict = iota
	well
	failed
)

// The states that a breaker can be in, as plans see it.
const (
	closed uint32 = iota
	ramping
	open // half-open as well: what differs is the time
)

// breaker keeps a route from being taken while it fails. It puts a gobreaker to use
// in this way:
//
// An outcome is entered at the first content or the end, by Allow and done in one go.
// gobreaker counts an outcome as of the time of its Allow, and drops it if that is
// past its window: with Allow at the start a time-out of two minutes would count for
// nothing. Only a half-open probe keeps its done, since that is what lets no second
// one in. A generation of our own drops what belongs to an earlier state, and makes
// sure that a probe's done is called once.
//
// gobreaker's timeout is fixed, so each opening has a new one, tripped at once. Its
// callback [breaker.ready] runs under its lock; it reads nothing but fields of the
// breaker, all set by the caller that holds mu. Neither State nor Counts, which takes
// no notice of time, is ever asked for.
type breaker struct {
	route      atomic.Pointer[route] // the latest that has it; see [Router.Reload]
	state      atomic.Uint32
	generation atomic.Uint32 // of the state; from 1 on
	latency    atomic.Bool   // it was opened because of being slow
	held       atomic.Bool   // it would be open, but for being the last route

	mu       sync.Mutex // guards all below
	circuit  *circuit
	row      int // failures in a row
	openings int // in a row
	until    time.Time
	closedAt time.Time
	why      string
	probe    func(error) // done of the probe under way, if there is one
	lease    time.Time   // after which the probe is taken to be lost

	alone, slow, tripped bool // of ready

	opened time.Time // the latest opening began
	vote   vote
}

// ticket is what a flight keeps of its breaker. The zero ticket has no say.
type ticket struct {
	generation uint32
	probe      bool
}

func (b *breaker) init(rt *route) {
	b.route.Store(rt)
	b.circuit = b.newClosed()
	b.generation.Store(1)
}

// admit lets an attempt through, or says why not and until when. An attempt lets
// a closed breaker be; the next one after an opening is the probe, for as long as
// the lease.
func (b *breaker) admit(now time.Time, lease time.Duration) (t ticket, why string, until time.Time) {
	generation := b.generation.Load()
	if b.state.Load() != open {
		return ticket{generation: generation}, "", time.Time{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state.Load() != open {
		return ticket{generation: b.generation.Load()}, "", time.Time{}
	}
	if b.probe != nil {
		if now.Before(b.lease) {
			return ticket{}, WhyProbing, b.lease
		}
		b.settle(errNothing)
	}
	if now.After(b.until) {
		if ok, again := b.mayProbe(lease, now); !ok {
			return ticket{}, WhyProbing, again
		}
	}
	done, err := b.circuit.Allow()
	if err != nil {
		return ticket{}, WhyOpen, b.until
	}
	b.probe, b.lease = done, now.Add(lease)
	return ticket{generation: b.generation.Add(1), probe: true}, "", time.Time{}
}

// enter tells what became of an attempt; late says that it missed a tail layer. A
// ticket may be entered several times: an attempt that was well at its first
// content can fail later. What belongs to an earlier state is ignored.
func (b *breaker) enter(t ticket, v verdict, late bool, now time.Time) {
	if v == nothing && !t.probe || t.generation != b.generation.Load() {
		return
	}
	if v == failed || t.probe {
		opening := b.route.Load().group.opening
		opening.Lock()
		defer opening.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.generation != b.generation.Load() || t.probe != (b.state.Load() == open) {
		return
	}
	if t.probe {
		b.enterProbe(v, late, now)
		return
	}
	b.enterClosed(v, now)
}

// enterClosed counts an outcome. The caller holds mu and, if it is a failure, the
// group's opening.
func (b *breaker) enterClosed(v verdict, now time.Time) {
	done, err := b.circuit.Allow()
	if err != nil {
		return // cannot be: it is closed
	}
	if v == well {
		b.row = 0
		b.held.Store(false)
		done(nil)
		return
	}
	b.row++
	rt := b.route.Load()
	b.alone, b.slow = rt.group.isLast(rt, now), false
	if done(errFailed); b.tripped {
		b.open(now, "it failed too often")
	}
}

func (b *breaker) enterProbe(v verdict, late bool, now time.Time) {
	rt := b.route.Load()
	slow := late && b.latency.Load() && rt.group.mayOpenSlow(rt, now)
	switch {
	case v != failed && slow && b.openings >= mostOpenings:
		rt.calm(true)
		b.settle(nil)
		b.close(now, "it has become slow for good, which is for the scores to tell")
	case v == failed || slow:
		why := "the probe failed"
		if slow {
			why = "the probe was slow"
		}
		b.settle(errFailed)
		b.open(now, why)
	case v == nothing:
		b.settle(errNothing)
		return
	default:
		b.settle(nil)
		b.close(now, "a probe did well")
	}
	b.tellProbe()
}

// set changes the state. The caller holds mu.
func (b *breaker) set(state uint32) {
	before := b.state.Swap(state)
	switch unwell := &b.route.Load().group.unwell; {
	case before == closed && state != closed:
		unwell.Add(1)
	case before != closed && state == closed:
		unwell.Add(-1)
	}
}

// adopt makes rt the route that the breaker belongs to.
func (b *breaker) adopt(rt *route) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.route.Store(rt)
	if b.state.Load() != closed {
		rt.group.unwell.Add(1)
	}
}

// settle ends the probe under way, so that its ticket is worth nothing any more. The
// caller holds mu.
func (b *breaker) settle(err error) {
	done := b.probe
	b.probe = nil
	b.generation.Add(1)
	done(err)
}

// tripSlow opens the breaker because of an alarm that persists. The caller holds the
// group's opening, and has seen that it may.
func (b *breaker) tripSlow(now time.Time, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state.Load() == open {
		return
	}
	done, err := b.circuit.Allow()
	if err != nil {
		return
	}
	b.alone, b.slow = false, true
	if done(errSlow); b.tripped {
		b.latency.Store(true)
		b.open(now, why)
	}
}

// open begins an opening. The caller holds mu.
func (b *breaker) open(now time.Time, why string) {
	if b.state.Load() != open && now.Sub(b.closedAt) >= longestOpening {
		b.openings = 0
	}
	r := b.route.Load().group.router
	timeout := float64(min(shortestOpening<<b.openings, longestOpening)) * (1 + openingJitter*r.fraction())
	b.openings = min(b.openings+1, mostOpenings)
	b.openUntil(now.Add(time.Duration(timeout)), why, now)
}

// openUntil is open for a given time. The caller holds mu.
func (b *breaker) openUntil(until time.Time, why string, now time.Time) {
	b.circuit = newOpen(until.Sub(now))
	b.until, b.why, b.opened, b.vote = until, why, now, vote{}
	b.tripped, b.slow, b.row = false, false, 0
	b.generation.Add(1)
	b.set(open)
	b.post(now, StateOpen, why, b.until)
}

// close ends an opening for good. The caller holds mu.
func (b *breaker) close(now time.Time, why string) {
	b.circuit = b.newClosed()
	b.closedAt, b.row = now, 0
	b.latency.Store(false)
	b.route.Load().calm(false)
	b.generation.Add(1)
	b.set(ramping)
	b.post(now, StateOK, why, time.Time{})
}

// restore closes the breaker because somebody says that the route is well.
func (b *breaker) restore(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state.Load() != open {
		return
	}
	if b.probe != nil {
		b.settle(errNothing)
	}
	b.close(now, "it was restored")
}

func (b *breaker) post(now time.Time, state, why string, until time.Time) {
	b.route.Load().post(Event{At: now, Key: -1, State: state, Why: why, Until: until})
}

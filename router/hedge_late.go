package router

import (
	"math"
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

const (
	// An attempt is late if it takes longer than this share of its route's usually do, or
	// of another's before there are so many. What is usual may double in no less than a
	// while, or an incident would soon be that.
	usualShare   = 0.95
	usualLeast   = 20
	usualDoubles = 5 * time.Minute

	// Of so many latest attempts half are late where a route is; of fewer than the
	// least it is not known. Each counts half after a while.
	recentAttempts = 20
	recentLeast    = 5
	recentHalfLife = 10 * time.Second
	recentLate     = 0.5
)

// recent is how a route's latest attempts have done. Each counts once, as soon as it
// is known: when its content comes or when it is late, whichever is first. (Of
// those under way at some time the late ones would be too many: they are under way for
// longer.)
type recent struct {
	late, kept float64
	at         time.Time
}

func (r *recent) add(late bool, now time.Time) {
	left := halved(now.Sub(r.at), recentHalfLife)
	if n := (r.late+r.kept)*left + 1; n > recentAttempts {
		left *= (recentAttempts - 1) / (n - 1)
	}
	r.late, r.kept, r.at = r.late*left, r.kept*left, now
	if late {
		r.late++
	} else {
		r.kept++
	}
}

func (r recent) fade(now time.Time) recent {
	left := halved(now.Sub(r.at), recentHalfLife)
	return recent{late: r.late * left, kept: r.kept * left, at: now}
}

func (r recent) known() bool { return r.late+r.kept >= recentLeast }

func (r recent) ill() bool { return r.known() && r.late >= recentLate*(r.late+r.kept) }

// unfit tells whether a hedge is of no use on the route because it is late itself. Where
// nobody knows, and the first attempt's route is late, so that all may be, a few find
// out.
func (rt *route) unfit(own, first *forecast) bool {
	if own.recent.known() {
		return own.recent.ill()
	}
	return first.recent.ill() && rt.holds(recentLeast)
}

// holds tells whether so many attempts or more have no content yet.
func (rt *route) holds(n int) bool {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return len(rt.waiting) >= n
}

// setUsual finds what is usual, in the slow history of a route: once there is enough of
// it, and at least half was converted to the reference sizes by a fit and not by a guess.
// A guess may be wrong by as much as targets differ, and what is usual is slow to mend.
func (f *forecast) setUsual(m int, slow *latency.Counts, now time.Time, old *outlook, target int) {
	if m == tpot {
		return
	}
	var before *forecast
	if old != nil {
		before = old.routes[target]
	}
	switch {
	case !f.fitted || before != nil && !before.fitted:
		f.unsure[m] = f.seen[m]
		return
	case before != nil:
		f.unsure[m] = before.unsure[m] * halved(now.Sub(old.at), slowHalfLife)
	}
	if f.seen[m]-f.unsure[m] < max(usualLeast, f.unsure[m]) {
		return
	}
	d := slow.Dist()
	f.usual[m] = bounded(d.Quantile(usualShare), longest)
	if before == nil {
		return
	}
	limit := before.usual[m]
	if like := before.like[m]; limit == 0 && like != nil {
		limit = like.typically(m) / f.scale(m)
	}
	if limit > 0 {
		f.usual[m] = min(f.usual[m], limit*math.Exp2(now.Sub(old.at).Seconds()/usualDoubles.Seconds()))
	}
}

// shareUsual has the routes that have not been seen enough judged by the slowest of the
// others.
func (o *outlook) shareUsual(m int) {
	var slowest *forecast
	for _, f := range o.routes {
		if f != nil && f.usual[m] > 0 && (slowest == nil || f.typically(m) > slowest.typically(m)) {
			slowest = f
		}
	}
	for _, f := range o.routes {
		if f != nil && f.usual[m] == 0 {
			f.like[m] = slowest
		}
	}
}

// typically returns what is usual for the route's typical prompt, in seconds.
func (f *forecast) typically(m int) float64 { return f.usual[m] * f.scale(m) }

// scale returns how much longer the typical prompt takes than that of reference.
func (f *forecast) scale(m int) float64 {
	if m == ttft {
		return f.fit.factor(f.typical)
	}
	return f.work(f.typical, refOutput)
}

// usually returns the seconds after which an attempt is late, 0 if not known.
func (f *forecast) usually(a *Flight) float64 {
	m := total
	if a.streamed {
		m = ttft
	}
	if f.usual[m] == 0 && f.like[m] != nil {
		f = f.like[m]
	}
	switch {
	case f.usual[m] == 0:
		return 0
	case a.streamed:
		return f.usual[m] * f.fit.factor(a.tokens)
	default:
		return f.usual[m] * f.work(a.tokens, a.outputs)
	}
}

// note enters how long an attempt took to its content or, unless it is final, has taken
// so far. The caller holds the route's mu.
func (f *Flight) note(took float64, final bool, now time.Time) {
	late := took > f.usual
	if f.usual == 0 || f.noted || !late && !final {
		return
	}
	f.noted = true
	f.route.recent.add(late, now)
}

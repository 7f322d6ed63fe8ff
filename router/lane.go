package router

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Into the last fifth of a provider's limit the score rises, to the most where
	// nothing is left.
	steerBelow   = 0.2
	mostPressure = 5.0

	// watchBelow is the share from which on plans look at what is left at all.
	watchBelow = 0.5

	untoldReset = time.Minute // after which a limit is taken to be full again
)

// Headroom is what a response says is left of one of its sender's limits. The zero
// value says nothing.
type Headroom struct {
	Known bool
	Limit int64         // 0: not told
	Left  int64         // of requests, or of tokens
	Reset time.Duration // until it is full again; 0: not told, taken to be a minute
}

// lane is one API key on one route: what providers keep limits for.
type lane struct {
	name    string // in the cooldowns
	running atomic.Int32
	strikes atomic.Int32 // 429s in a row that did not tell for how long

	mu               sync.Mutex // guards all below, and changes of strikes
	struck           time.Time
	requests, tokens level
}

// level is how full a limit is. It fills up again evenly.
type level struct {
	limit, left float64
	at, full    time.Time
}

func (l *level) set(h Headroom, now time.Time) {
	limit := float64(h.Limit)
	if limit <= 0 {
		limit = l.known(now)
	}
	l.limit = max(limit, float64(h.Left), 1)
	l.left, l.at = max(0, float64(h.Left)), now
	if h.Reset <= 0 {
		h.Reset = untoldReset
	}
	l.full = now.Add(h.Reset)
}

// known returns the limit that was seen before, if that was not long ago.
func (l *level) known(now time.Time) float64 {
	if now.Sub(l.full) > time.Hour {
		return 0
	}
	return l.limit
}

// share returns the part that is left, 1 if nothing is known.
func (l *level) share(now time.Time) float64 {
	if l.limit == 0 || !now.Before(l.full) {
		return 1
	}
	filled := now.Sub(l.at).Seconds() / l.full.Sub(l.at).Seconds()
	return max(0, l.left+(l.limit-l.left)*filled) / l.limit
}

// share returns the lesser part that is left, of requests or of tokens.
func (l *lane) share(now time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return min(l.requests.share(now), l.tokens.share(now))
}

// spend counts a request that is about to be sent, until a response tells.
func (l *lane) spend(tokens float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests.left--
	l.tokens.left -= tokens
}

// answered notes an answer to an attempt from start on.
func (l *lane) answered(start time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if start.After(l.struck) {
		l.strikes.Store(0)
	}
}

// hear takes what a response told about limits.
func (f *Flight) hear(rep *Report, now time.Time) {
	if !rep.Requests.Known && !rep.Tokens.Known {
		return
	}
	rt, l := f.route, f.route.lanes[f.key]
	l.mu.Lock()
	defer l.mu.Unlock()
	if rep.Requests.Known {
		l.requests.set(rep.Requests, now)
		rt.group.router.watch(&l.requests, now)
	}
	if rep.Tokens.Known {
		l.tokens.set(rep.Tokens, now)
		rt.group.router.watch(&l.tokens, now)
	}
}

// watch has plans look at what is left for as long as it is little.
func (r *Router) watch(l *level, now time.Time) {
	if l.share(now) >= watchBelow {
		return
	}
	for until := l.full.UnixNano(); ; {
		before := r.watched.Load()
		if before >= until || r.watched.CompareAndSwap(before, until) {
			return
		}
	}
}

// pressure returns what is added to the score for so little left.
func pressure(share float64) float64 {
	short := max(0, steerBelow-share) / steerBelow
	return mostPressure * short * short
}

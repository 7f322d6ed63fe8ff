package router

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// quota keeps a target within the limits that were agreed with its provider. Plans
// look at the atomics; [quota.take] has the last word.
type quota struct {
	concurrent int32 // 0: no limit
	running    *atomic.Int32
	made       time.Time
	notBefore  atomic.Int64 // there is nothing left until then: ns after made, whatever the wall clock does

	mu               sync.Mutex // held to take; guards the limiters as a pair
	requests, tokens *rate.Limiter
	latest           time.Time // that the limiters were asked at
}

// newQuota returns nil if there are no limits.
func newQuota(l Limits) *quota {
	if l == (Limits{}) {
		return nil
	}
	return &quota{
		concurrent: int32(min(l.Concurrent, math.MaxInt32)),
		running:    new(atomic.Int32),
		made:       time.Now(),
		requests:   newLimiter(l.RequestsPerMinute),
		tokens:     newLimiter(l.TokensPerMinute),
	}
}

// newLimiter allows no more than so many in any minute: nine tenths evenly, one
// tenth at once.
func newLimiter(perMinute int) *rate.Limiter {
	if perMinute == 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(0.9*float64(perMinute)/60), max(1, perMinute/10))
}

// free tells why no attempt can be taken now, as far as plans have to know.
func (q *quota) free(now time.Time) (why string, until time.Time) {
	if q.concurrent > 0 && q.running.Load() >= q.concurrent {
		return WhyConcurrency, time.Time{}
	}
	if until = q.made.Add(time.Duration(q.notBefore.Load())); until.After(now) {
		return WhyRateLimit, until
	}
	return "", time.Time{}
}

// scarce tells whether a fifth or less is left, which is not for hedges.
func (q *quota) scarce(now time.Time) bool {
	if q == nil {
		return false
	}
	if left := q.concurrent - q.running.Load(); q.concurrent > 0 && left <= q.concurrent/5 {
		return true
	}
	return nearlyEmpty(q.requests, now) || nearlyEmpty(q.tokens, now)
}

func nearlyEmpty(l *rate.Limiter, now time.Time) bool {
	return l.Limit() != rate.Inf && l.TokensAt(now) <= float64(l.Burst())/5
}

// take counts an attempt of so many tokens as running, or says why it may not. One
// of more tokens than can be had at once takes what there is then, and leaves the
// limit in debt.
func (q *quota) take(now time.Time, tokens float64) (why string, until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now = q.inOrder(now)
	if q.concurrent > 0 && q.running.Load() >= q.concurrent {
		return WhyConcurrency, time.Time{}
	}
	until = ready(q.requests, 1, now)
	if at := ready(q.tokens, tokens, now); at.After(until) {
		until = at
	}
	if until.After(now) {
		return WhyRateLimit, until
	}
	q.running.Add(1)
	q.requests.ReserveN(now, 1)
	charge(q.tokens, tokens, now)
	q.look(now)
	return "", time.Time{}
}

// look finds until when there is nothing left. The caller holds mu.
func (q *quota) look(now time.Time) {
	until := ready(q.requests, 1, now)
	if at := ready(q.tokens, 1, now); at.After(until) {
		until = at
	}
	q.notBefore.Store(int64(until.Sub(q.made)))
}

// inOrder returns the latest time so far: whoever waited for the lock brings an earlier
// one, from which a limiter would earn the time since then again. The caller holds mu.
func (q *quota) inOrder(now time.Time) time.Time {
	if now.After(q.latest) {
		q.latest = now
	}
	return q.latest
}

// release ends an attempt that took more tokens than were counted.
func (q *quota) release(now time.Time, more float64) {
	q.running.Add(-1)
	if more <= 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now = q.inOrder(now)
	charge(q.tokens, more, now)
	q.look(now)
}

// ready returns when a limiter has so many, or all that it can have.
func ready(l *rate.Limiter, n float64, now time.Time) time.Time {
	if l.Limit() == rate.Inf {
		return now
	}
	const rounding = 1e-6
	missing := min(n, float64(l.Burst())) - l.TokensAt(now)
	if missing <= rounding {
		return now
	}
	return now.Add(time.Duration(missing / float64(l.Limit()) * float64(time.Second)))
}

// charge takes so many, more than there are if need be: a reservation can be of no
// more than the burst. A call that took more than ten minutes' worth is one whose count
// is wrong, such as of a provider that sends nonsense: it must not shut its target out.
func charge(l *rate.Limiter, n float64, now time.Time) {
	const mostBursts = 100
	if l.Limit() == rate.Inf {
		return
	}
	burst := l.Burst()
	for left := int(math.Ceil(min(n, mostBursts*float64(burst)))); left > 0; left -= burst {
		l.ReserveN(now, min(left, burst))
	}
}

// hold is a place at a target's limits that a call was given while it waited.
type hold struct {
	quota *quota
	spent atomic.Bool // by the attempt that took it, or given back
}

func (h *hold) use() bool { return h != nil && h.spent.CompareAndSwap(false, true) }

package router

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/patrickmn/go-cache"
)

const (
	// A 429 that does not tell for how long cools down for the shortest time, and for
	// twice as long each time that it comes again before an answer did.
	shortestCooldown = time.Second
	longestUntold    = time.Minute

	longestTold = 24 * time.Hour // guards against nonsense; daily limits do exist
)

// cooldowns are the times until which API keys should not be used for a model, by
// lane name. There are no more of them than lanes. An extension never shortens.
type cooldowns struct {
	last  atomic.Int64 // when the last of them ends: plans look no further while none is left
	mu    sync.Mutex   // held to extend one
	cache *cache.Cache
}

func newCooldowns() *cooldowns {
	return &cooldowns{cache: cache.New(cache.NoExpiration, 0)} // no janitor: it would be a goroutine
}

// until returns the end of a cooldown, or the zero time if there is none.
func (c *cooldowns) until(lane string, now time.Time) time.Time {
	if c.last.Load() <= now.UnixNano() {
		return time.Time{}
	}
	if v, ok := c.cache.Get(lane); ok {
		if until := v.(time.Time); now.Before(until) {
			return until
		}
	}
	return time.Time{}
}

// extend makes a cooldown last until then at least. It returns its end, and whether
// there was none before.
func (c *cooldowns) extend(lane string, until, now time.Time) (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.until(lane, now)
	if !until.After(now) || !until.After(before) {
		return before, false
	}
	c.cache.DeleteExpired()
	c.cache.Set(lane, until, until.Sub(now))
	c.last.Store(max(c.last.Load(), until.UnixNano()))
	return until, before.IsZero()
}

func (c *cooldowns) remove(lane string) { c.cache.Delete(lane) }

// cool keeps a key from being used after a failure that says so.
func (f *Flight) cool(rep *Report, now time.Time) {
	if rep.Cause != CauseRateLimit && rep.RetryAfter <= 0 || f.route.account.keys[f.key].oldNews(f.start) {
		return
	}
	c, l := f.route.group.router.cooldowns, f.route.lanes[f.key]
	wait := min(rep.RetryAfter, longestTold)
	if wait <= 0 {
		wait = l.untold(f.start, now)
	}
	until, began := c.extend(l.name, now.Add(wait), now)
	f.route.tellCooling(f.key, until, began)
	if began {
		f.route.post(Event{At: now, Key: f.key, State: StateCooling, Why: rep.why("the provider said to wait"), Until: until})
	}
}

// forgive forgets the refusals so far.
func (l *lane) forgive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strikes.Store(0)
}

// untold returns for how long to wait if that was not told. All that started before
// the latest refusal are one with it.
func (l *lane) untold(start, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.strikes.Load() == 0 || start.After(l.struck) {
		l.strikes.Store(min(l.strikes.Load()+1, 10))
		l.struck = now
	}
	return min(shortestCooldown<<(l.strikes.Load()-1), longestUntold)
}

package router

import (
	"sync"
	"sync/atomic"
	"time"
)

// One call tries a key that is refused, lest it be out for ever because nobody
// looked: soon, in case the refusal was a mistake, then less and less often.
const (
	firstReprobe = 15 * time.Second
	lastReprobe  = 5 * time.Minute
)

// account is what all routes of a target have in common.
type account struct {
	keys  []*key
	quota *quota // nil: no limits are known
}

// key is an API key of a target. The router knows nothing of it but its index.
type key struct {
	out atomic.Bool

	mu       sync.Mutex // guards all below
	why      string
	wait     time.Duration // from one try to the next
	next     time.Time     // when one call may try it
	restored time.Time
	dropped  bool // no target has it any more
}

// refuse takes the key out after an attempt from start on. It returns until when and
// whether it was not out before.
func (k *key) refuse(why string, start, now time.Time) (time.Time, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dropped || start.Before(k.restored) {
		return k.next, false // old news
	}
	began := !k.out.Swap(true)
	if began {
		k.wait = firstReprobe
	}
	k.why, k.next = why, now.Add(k.wait)
	return k.next, began
}

// restore puts the key in again, and makes old news of what was started before. It
// returns whether it was out.
func (k *key) restore(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.restored = now
	return k.out.Swap(false)
}

// oldNews tells whether the key was restored after an attempt had started.
func (k *key) oldNews(start time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return start.Before(k.restored)
}

// due returns when one call may try the key that is out, and why it is.
func (k *key) due() (time.Time, string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.next, k.why
}

// claim lets one call through. The next one may try only after a while, whatever
// becomes of this one.
func (k *key) claim(now time.Time) (time.Time, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.out.Load() && now.Before(k.next) {
		return k.next, false
	}
	k.wait = min(2*k.wait, lastReprobe)
	k.next = now.Add(k.wait)
	return time.Time{}, true
}

// refuseKey takes the flight's key out.
func (f *Flight) refuseKey(rep *Report, now time.Time) {
	r, target := f.route.group.router, f.route.target
	why := rep.why("the provider refused it (401, 402, 403 or insufficient_quota)")
	if until, began := f.route.account.keys[f.key].refuse(why, f.start, now); began {
		r.refused.Add(1)
		r.events.post(Event{
			At: now, Target: r.targets[target].Name, Key: f.key, State: StateKeyRefused,
			Why: why + "; it is tried again by one call at a time, or at once when restored", Until: until,
		})
	}
}

// acceptKey notes that the flight's key brought content.
func (f *Flight) acceptKey(now time.Time) {
	l := f.route.lanes[f.key]
	if l.strikes.Load() != 0 {
		l.answered(f.start)
	}
	if f.keyProbe && f.route.account.keys[f.key].restore(now) {
		f.route.group.router.keyWell(f.route.target, f.key, now, "a call with it was answered")
	}
}

func (r *Router) keyWell(target, key int, now time.Time, why string) {
	r.refused.Add(-1)
	r.events.post(Event{At: now, Target: r.targets[target].Name, Key: key, State: StateOK, Why: why})
}

// Restore says that a target is well again, such as after its account was topped
// up: its refused keys, cooldowns and openings end at once, and calls that wait are
// looked at. It returns false if there is no such target.
func (r *Router) Restore(target string) bool {
	defer r.events.flush()
	now := time.Now()
	i, ok := r.targetIndex(target)
	if !ok {
		return false
	}
	for k := range r.accounts[i].keys {
		if r.accounts[i].keys[k].restore(now) {
			r.keyWell(i, k, now, "it was restored")
		}
	}
	for _, g := range *r.groups.Load() {
		if rt := g.routes[i]; rt != nil {
			for k := range rt.lanes {
				r.cooldowns.remove(rt.lanes[k].name)
				rt.lanes[k].forgive()
			}
			rt.breaker.restore(now)
		}
	}
	r.serve()
	return true
}

func (r *Router) targetIndex(name string) (int, bool) {
	for i := range r.targets {
		if r.targets[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

package router

import (
	"fmt"
	"time"
)

// addHealth adds how well a route is.
func (rt *route) addHealth(s *RouteStatus, now time.Time) {
	s.Keys = rt.keyStatus(now)
	if key, ok := common(s.Keys, StateKeyRefused); ok {
		s.State, s.Why, s.Until = key.State, key.Why, key.Until
		return
	}
	if s.State, s.Why, s.Until = rt.breaker.status(now); s.State == StateOpen || s.State == StateHalfOpen {
		return
	}
	rt.mu.Lock()
	degraded := rt.degraded(now)
	rt.mu.Unlock()
	if key, ok := common(s.Keys, StateKeyRefused, StateCooling); ok {
		s.State, s.Why, s.Until = StateCooling, key.Why, key.Until
	} else if degraded {
		s.State, s.Why = StateDegraded, "more and more promises are missed: its slow history counts a fifth"
	} else if s.State == "" && s.Attempts != (Attempts{}) {
		s.State = StateOK
	} else if s.State == "" {
		s.State = StateNoData
	}
}

func (rt *route) keyStatus(now time.Time) []KeyStatus {
	all := make([]KeyStatus, len(rt.lanes))
	for k := range all {
		l, s := rt.lanes[k], &all[k]
		*s = KeyStatus{State: StateOK, InFlight: int(l.running.Load()), Left: l.share(now)}
		if until := rt.group.router.cooldowns.until(l.name, now); !until.IsZero() {
			s.State, s.Until, s.Why = StateCooling, until, "the provider said to wait"
		}
		if key := rt.account.keys[k]; key.out.Load() {
			s.State = StateKeyRefused
			s.Until, s.Why = key.due()
		}
	}
	return all
}

// common returns the key that is well again first, if all are in one of the states:
// rather one in the last of them.
func common(keys []KeyStatus, states ...string) (soonest KeyStatus, ok bool) {
	for _, state := range states {
		for _, k := range keys {
			if k.State == state && (soonest.State != state || k.Until.Before(soonest.Until)) {
				soonest = k
			}
		}
	}
	for _, k := range keys {
		found := false
		for _, state := range states {
			found = found || k.State == state
		}
		if !found {
			return KeyStatus{}, false
		}
	}
	return soonest, true
}

// status says what a snapshot has to know.
func (b *breaker) status(now time.Time) (state, why string, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.state.Load() == open && !now.After(b.until):
		return StateOpen, b.why, b.until
	case b.state.Load() == open:
		return StateHalfOpen, b.why + "; the next small call finds out whether it is well again", b.until
	case b.state.Load() == ramping && now.Sub(b.closedAt) < rampTime:
		return "", fmt.Sprintf("well again since %v, traffic grows", now.Sub(b.closedAt).Round(time.Second)), b.closedAt.Add(rampTime)
	case b.held.Load():
		return StateDegraded, "it fails too often, and is taken as the last route", time.Time{}
	}
	return "", "", time.Time{}
}

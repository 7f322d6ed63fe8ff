package sim

import (
	"net/http"
	"time"
)

const (
	limitWindow = 10 * time.Second // in which a rate limit counts
	cacheTime   = 5 * time.Minute  // for which the prefix of a prompt is kept
)

// State is what the targets remember of one policy's requests: how many there were, for
// their rate limits, and prompts. It is for one run, and not safe for concurrent use.
type State struct {
	world  *World
	counts []used
	cache  map[place]prompt
}

// used is how many requests came in one window of a limit.
type used struct {
	from time.Duration
	n    int
}

type place struct{ conversation, target int }

type prompt struct {
	tokens int
	until  time.Duration
}

// NewState returns the state of a run that has not begun.
func (w *World) NewState() *State {
	return &State{world: w, counts: make([]used, len(w.sites)), cache: make(map[place]prompt)}
}

// Meet sends the nth request of a call (from 0 on) to a target.
func (s *State) Meet(c *Call, target, nth int, at time.Duration) Reply {
	limit := s.world.limit(target, at)
	left, reset := s.take(target, limit, at)
	if limit > 0 && left < 0 {
		r := refusal(http.StatusTooManyRequests, &draws{})
		r.Limit, r.Reset = limit, reset
		return r
	}
	r := s.world.Reply(c, target, nth, at, s.Cached(c, target, at))
	if limit > 0 {
		r.Limit, r.Left, r.Reset = limit, left, reset
	}
	if c.Conversation != 0 && r.Status == http.StatusOK {
		s.cache[place{c.Conversation, target}] = prompt{c.Prompt, at + cacheTime}
	}
	return r
}

// Cached is how many tokens of a call's prompt a target has at a time.
func (s *State) Cached(c *Call, target int, at time.Duration) int {
	if c.Conversation == 0 {
		return 0
	}
	known := s.cache[place{c.Conversation, target}]
	if at >= known.until {
		return 0
	}
	return min(c.Shared, known.tokens)
}

// take counts a request. It returns how many more the window takes, below 0 if not even
// this one, and how long the window lasts.
func (s *State) take(target, limit int, at time.Duration) (left int, reset time.Duration) {
	u := &s.counts[target]
	if from := at.Truncate(limitWindow); from != u.from {
		*u = used{from: from}
	}
	u.n++
	return limit - u.n, u.from + limitWindow - at
}

// limit is how many requests a target takes in a window; 0: any.
func (w *World) limit(target int, at time.Duration) int {
	share := w.at(target, at).effect.Limit
	if share == 0 {
		return 0
	}
	return max(1, int(share*w.rate*limitWindow.Seconds()+0.5))
}

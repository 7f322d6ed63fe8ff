package middleware

import (
	"sync"
	"time"

	"github.com/patrickmn/go-cache"
)

const (
	stateTTL   = 24 * time.Hour
	maxStates  = 100_000 // ids remembered at most
	sweepEvery = time.Minute
)

// states remembers which target made which server-side object (a stored
// response, say), so that a follow-up goes to the only one that has it.
type states struct {
	made *cache.Cache

	mu    sync.Mutex
	swept time.Time
}

// newStates starts no janitor: go-cache's ends only by a finalizer.
func newStates() *states { return &states{made: cache.New(stateTTL, 0)} }

// remember notes that target made the object id. While the memory is full,
// objects are not remembered: their follow-ups go home. Nor is what is no id.
func (s *states) remember(id, target string) {
	if !isID(id) {
		return
	}
	if s.made.ItemCount() >= maxStates {
		s.sweep()
	}
	if s.made.ItemCount() < maxStates {
		s.made.SetDefault(id, target)
	}
}

// sweep drops what has expired, now and then: it looks at every id.
func (s *states) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.swept) >= sweepEvery {
		s.swept = now
		s.made.DeleteExpired()
	}
}

func (s *states) maker(id string) (target string, ok bool) {
	v, ok := s.made.Get(id)
	if !ok {
		return "", false
	}
	return v.(string), true
}

// pin is the target that a call must go to because of the state that it names:
// the maker, or home for what we did not see made, or whose maker is gone. Where home
// does not speak the call's format, it is the first target that does. Empty: any.
func (t *Transport) pin(s *set, in *inference) string {
	if len(in.asks.State) == 0 {
		return ""
	}
	for _, id := range in.asks.State {
		if target, ok := t.states.maker(id); ok && s.upstreams[target] != nil {
			return target
		}
	}
	if format := formatOf(in.dialect); !s.router.Takes(s.home.Name, format) {
		for _, target := range s.router.Targets() {
			if s.router.Takes(target, format) {
				return target
			}
		}
	}
	return s.home.Name
}

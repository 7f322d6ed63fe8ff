package router

import (
	"strings"
	"time"

	"github.com/ontime-llm/ontime/internal/modelname"
)

const (
	// mostServed is how many models a route is remembered to have answered with. Behind a
	// load balancer a few take turns for days.
	mostServed = 8
	// servedFor is after how long without it a model makes room for another. Whatever a
	// provider says, no more than mostServed are new in that time.
	servedFor = 24 * time.Hour
)

// served are the models that a route has answered with. Guarded by the route's mu.
type served struct {
	names [mostServed]servedModel
	count int
	last  int // of names: the latest
}

type servedModel struct {
	name string
	at   time.Time // when it was last seen
}

func (s *served) latest() *servedModel { return &s.names[s.last] }

// saw takes note of a model. It tells whether it is new to the route, and the one
// before. The first is no news, nor is one that takes turns with others, nor one for
// which there is no room.
func (s *served) saw(name string, now time.Time) (before string, news bool) {
	if s.count > 0 && s.latest().name == name { // as nearly always
		s.latest().at = now
		return "", false
	}
	name = modelname.Clean(name)
	if name == "" {
		return "", false
	}
	place := -1
	for i := range s.names[:s.count] {
		switch m := &s.names[i]; {
		case m.name == name:
			s.last, m.at = i, now
			return "", false
		case now.Sub(m.at) >= servedFor && (place < 0 || m.at.Before(s.names[place].at)):
			place = i
		}
	}
	if s.count < mostServed {
		place = s.count
		s.count++
	}
	if place < 0 {
		return "", false
	}
	if s.count > 1 {
		before = s.latest().name
	}
	s.last, s.names[place] = place, servedModel{strings.Clone(name), now}
	return before, s.count > 1
}

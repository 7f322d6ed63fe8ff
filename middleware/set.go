package middleware

import (
	"errors"
	"fmt"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// set is what a reload replaces. A call goes to its end by the one under which it
// entered. It never changes.
type set struct {
	router    *router.Router
	upstreams map[string]*Upstream // by name
	home      *Upstream
	shadow    bool
	ceilings  map[string]int
	trace     bool
	grace     time.Duration
}

func newSet(cfg Config) (*set, error) {
	s := &set{
		router: cfg.Router, upstreams: make(map[string]*Upstream, len(cfg.Upstreams)),
		shadow: cfg.Shadow, ceilings: cfg.Ceilings, trace: cfg.Trace, grace: cfg.Grace,
	}
	if s.grace == 0 {
		s.grace = defaultGrace
	}
	for _, u := range cfg.Upstreams {
		if u.BaseURL == nil {
			return nil, fmt.Errorf("middleware: upstream %q has no base URL", u.Name)
		}
		u.address = address(u.BaseURL)
		s.upstreams[u.Name] = &u
	}
	s.home = s.upstreams[cfg.Home]
	if s.router == nil || s.home == nil {
		return nil, errors.New("middleware: Config needs Router, and a Home that is one of Upstreams")
	}
	for _, name := range s.router.Targets() {
		if s.upstreams[name] == nil {
			return nil, fmt.Errorf("middleware: target %q has no upstream", name)
		}
	}
	return s, nil
}

// Reload changes Router, Upstreams, Home, Shadow, Ceilings, Trace and Grace for the calls
// that enter from now on; the others go on as they are. All else in cfg is left alone. After an
// error nothing has changed; once the Transport is closed it is [ErrClosed].
//
// What is remembered of a target, such as the spelling that it takes, is forgotten
// where its upstream has another provider or base URL. The router is meant to be the
// one that [router.Router.Reload] made of the router before.
func (t *Transport) Reload(cfg Config) error {
	next, err := newSet(cfg)
	if err != nil {
		return err
	}
	if t.isClosing() {
		return ErrClosed
	}
	for name, u := range t.set.Swap(next).upstreams {
		if now := next.upstreams[name]; now == nil || now.Provider != u.Provider || now.BaseURL.String() != u.BaseURL.String() {
			t.manners.forget(name)
		}
	}
	return nil
}

package router

import (
	"context"
	"time"
)

// fetch merges what other replicas have published since the last time.
func (s *sharing) fetch(ctx context.Context, r *Router) error {
	defer s.release()
	for range mostFetches {
		n, err := s.fetchSome(ctx, r)
		if err != nil || n < fetchLimit {
			return err
		}
	}
	return nil
}

func (s *sharing) fetchSome(ctx context.Context, r *Router) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, shareTimeout)
	defer cancel()
	blobs, cursor, err := s.store.Fetch(ctx, s.cursor, fetchLimit)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	for _, b := range blobs {
		if b.At.After(s.newest) {
			s.newest = b.At
		}
		age := max(0, now.Sub(b.At.Add(s.offset)))
		s.read(r, b.Data, now.Add(-age), now) // a time that the wall clock has no say in any more
	}
	if cursor == s.cursor {
		return 0, nil
	}
	s.cursor = cursor
	return len(blobs), nil
}

// release lets folds see what was heard.
func (s *sharing) release() {
	for rt, h := range s.heard {
		rt.publish(h)
	}
	clear(s.heard)
}

// read merges a blob that was published at the given time, by the local clock.
func (s *sharing) read(r *Router, data []byte, at, now time.Time) {
	in := reader{left: data}
	in.bad = len(data) > mostSize
	h := in.header()
	switch {
	case in.bad || !wellFormed(in):
		s.ignore(r, now, "a blob is malformed, or of another version")
		return
	case h.replica == s.replica:
		return
	}
	other := s.replicas[h.replica]
	if other == nil {
		if len(s.replicas) >= mostReplicas && !s.makeRoom(now) {
			s.ignore(r, now, "there are too many replicas")
			return
		}
		other = new(replica)
		s.replicas[h.replica] = other
	}
	if h.seq <= other.seq {
		return // it was published twice, or read twice
	}
	other.seq = h.seq
	if at.After(other.heard) {
		other.heard = at
	}
	s.count(&s.state.Merged)
	end := at.Add(-millis(h.ended))
	m := merging{sharing: s, router: r, age: now.Sub(end) + millis(h.span)/2, end: end, now: now}
	in.visit(&m)
}

// makeRoom forgets the replica that has been silent for longest, if it is gone: where they
// live for a minute each, there are many in two hours. What it has published would count
// again only if it were read again.
func (s *sharing) makeRoom(now time.Time) bool {
	var oldest uint64
	heard := now
	for id, other := range s.replicas {
		if other.heard.Before(heard) {
			oldest, heard = id, other.heard
		}
	}
	if now.Sub(heard) <= replicaGone {
		return false
	}
	delete(s.replicas, oldest)
	return true
}

// ignore counts a blob that is of no use, and tells of the first.
func (s *sharing) ignore(r *Router, now time.Time, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Ignored++; s.state.Ignored == 1 {
		r.events.post(Event{At: now, Key: -1, State: StateUnshared, Why: why + ": such are ignored, and counted"})
	}
}

// wellFormed tells whether a blob can be read to its end.
func wellFormed(in reader) bool {
	in.visit(nil)
	return !in.bad
}

// visit goes through what follows the header, and has it merged if there is somebody
// to do so.
func (r *reader) visit(m *merging) {
	for len(r.left) > 0 && !r.bad {
		switch kind := r.take(1)[0]; kind {
		case kindRoute:
			if s := r.route(); m != nil {
				m.route(&s)
			}
		case kindLayer:
			if l := r.layer(); m != nil {
				m.layer(&l)
			}
		case kindPairs:
			if p := r.pairs(); m != nil {
				m.router.pairing.hear(&p, m.age, m.now)
			}
		default:
			r.bad = true
		}
	}
}

// merging is one blob that is merged.
type merging struct {
	*sharing
	router *Router
	age    time.Duration // of the middle of its span
	end    time.Time     // of its span
	now    time.Time
}

func (m *merging) route(s *said) {
	rt := m.find(s.target, s.model)
	if rt == nil {
		return
	}
	h := m.heard[rt]
	if h == nil {
		h = heardBefore(rt.others.Load(), m.now)
		m.heard[rt] = h
	}
	h.hear(s, m.age-m.now.Sub(h.at))
	for _, c := range s.cooling {
		m.cool(rt, c.key, m.end.Add(millis(c.millis)))
	}
	rt.breaker.hear(&s.probe, m.end, m.now)
}

// find returns the route of that name, or nil. Models that only others have been asked
// for get half of the room that there is for such.
func (m *merging) find(target, model string) *route {
	i, ok := m.router.targetIndex(target)
	if !ok {
		return nil
	}
	g := (*m.router.groups.Load())[model]
	if g == nil {
		if m.router.unnamed.Load() >= maxUnnamedModels/2 {
			return nil
		}
		if g = m.router.group(model); g == nil || g.model != model {
			return nil
		}
	}
	return g.routes[i]
}

// cool keeps a key from being used, since another replica was told to wait.
func (m *merging) cool(rt *route, key int, until time.Time) {
	if key >= len(rt.lanes) || rt.account.keys[key].oldNews(m.end) {
		return
	}
	if until, began := m.router.cooldowns.extend(rt.lanes[key].name, until, m.now); began {
		rt.post(Event{At: m.now, Key: key, State: StateCooling, Why: "the provider told another replica to wait", Until: until})
	}
}

// layer enters calls of others into the debt of a layer.
func (m *merging) layer(l *saidLayer) {
	e := m.router.endpoints[l.endpoint]
	if e == nil {
		return
	}
	for i, own := range e.ledger.Layers() {
		if own == l.layer {
			e.ledger.Absorb(i, l.calls, l.missed)
		}
	}
}

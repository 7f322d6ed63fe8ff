package router

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// layerName is what a layer is called among replicas.
type layerName struct {
	endpoint string
	layer    budget.Layer
}

// toldLayer is how much of a layer's counts the others have been told.
type toldLayer struct{ calls, missed uint64 }

// seal ends a span, and packs what happened in it.
func (s *sharing) seal(r *Router, now time.Time) {
	p := packing{sharing: s, span: now.Sub(s.sealed), end: now}
	s.sealed = now
	groups := *r.groups.Load()
	for _, model := range slices.Sorted(maps.Keys(groups)) {
		for i, rt := range groups[model].routes {
			if rt == nil {
				continue
			}
			if n := rt.out.take(); n != nil {
				p.room(kindRoute)
				p.body.route(r.targets[i].Name, model, n, p.end)
				rt.out.giveBack(n)
			}
		}
	}
	told := make(map[layerName]toldLayer)
	for _, e := range r.byIndex {
		s.packLayers(&p, e, told)
	}
	s.told = told // layers that are no longer promised are forgotten
	if pairs := r.pairing.takeNews(); pairs != ([kinships]saidPair{}) {
		p.room(kindPairs)
		p.body.pairs(&pairs)
	}
	p.close()
}

// packLayers packs what calls have done to the layers of an endpoint, and notes how much
// the others have been told then.
func (s *sharing) packLayers(p *packing, e *endpoint, told map[layerName]toldLayer) {
	for _, st := range e.ledger.Status() {
		name := layerName{e.name, st.Layer}
		before := s.told[name]
		if st.Calls < before.calls || st.Missed < before.missed {
			before = toldLayer{} // it was dropped and promised again meanwhile
		}
		calls := min(st.Calls-before.calls, mostCount)
		missed := min(st.Missed-before.missed, calls)
		told[name] = toldLayer{before.calls + calls, before.missed + missed}
		if calls == 0 {
			continue
		}
		p.room(kindLayer)
		p.body.layer(&saidLayer{endpoint: e.name, layer: st.Layer, calls: calls, missed: missed})
	}
}

// packing puts what happened in one span into as many blobs as it takes.
type packing struct {
	*sharing
	span time.Duration
	end  time.Time
	body writer
}

// room begins an item, in another blob if this one is full.
func (p *packing) room(kind byte) {
	if len(p.body) > wireSize {
		p.close()
	}
	p.body = append(p.body, kind)
}

func (p *packing) close() {
	if len(p.body) > 0 {
		p.send(parcel{end: p.end, span: p.span, body: p.body})
		p.body = nil
	}
}

// send has a parcel published in its turn.
func (s *sharing) send(p parcel) {
	s.seq++
	p.seq = s.seq
	s.pending = append(s.pending, p)
	if over := len(s.pending) - mostPending; over > 0 {
		s.pending = slices.Delete(s.pending, 0, over)
	}
}

// publish sends what is pending, or else now and then that the replica is there: from
// that it also learns what time it is for the store.
func (s *sharing) publish(ctx context.Context) error {
	if len(s.pending) == 0 && (s.published.IsZero() || time.Since(s.published) >= helloEvery) {
		s.send(parcel{end: time.Now()})
	}
	for len(s.pending) > 0 {
		if err := s.publishOne(ctx, &s.pending[0]); err != nil {
			return err
		}
		s.pending = slices.Delete(s.pending, 0, 1)
	}
	return nil
}

func (s *sharing) publishOne(ctx context.Context, p *parcel) error {
	ctx, cancel := context.WithTimeout(ctx, shareTimeout)
	defer cancel()
	start := time.Now()
	h := header{replica: s.replica, seq: p.seq, ended: millisTo(start, p.end), span: uint64(p.span.Milliseconds())}
	var w writer
	w.header(h)
	at, err := s.store.Publish(ctx, append(w, p.body...))
	if err != nil {
		return err
	}
	now := time.Now()
	s.published = now
	s.offset = start.Add(now.Sub(start) / 2).Sub(at)
	if at.Before(s.newest) { // its clock was set back, so that the cursor may lie ahead of all
		s.cursor, s.newest = "", time.Time{}
	}
	s.count(&s.state.Published)
	return nil
}

package router

import (
	"sync"
	"time"
)

// kinship is how much two targets have in common: what may hold up one attempt may then
// hold up the other.
type kinship uint8

const (
	sameRegion kinship = iota // of one provider
	otherRegion
	otherProvider
	kinships
)

// kinship tells it of two targets.
func (r *Router) kinship(a, b int) kinship {
	switch {
	case r.providers[a] != r.providers[b]:
		return otherProvider
	case r.targets[a].Region != r.targets[b].Region:
		return otherRegion
	}
	return sameRegion
}

var kinshipNames = [kinships]string{"same region", "another region", "another provider"}

const (
	// Hedges of which nothing is known, but for what is built in, count for so many.
	pairPrior = 10
	// What has been seen counts half after a while, and for so many at most.
	pairHalfLife = 15 * time.Minute
	pairLatest   = 100

	leastFactor, mostFactor = 0.05, 1.5
)

// pairPriors are the factors before anything has been seen.
var pairPriors = [kinships]float64{sameRegion: 0.5, otherRegion: 0.8, otherProvider: 1}

// pairing learns how much better or worse hedges do than they would if two attempts had
// nothing to do with each other: the factor k, hedges won in time over predicted.
type pairing struct {
	mu   sync.Mutex // guards all below; held for a few instructions
	seen [kinships]struct {
		won, predicted float64
		at             time.Time
	}
	// How hedges did here since other replicas were told, and what those have told.
	news   [kinships]saidPair
	others pairsHeard
}

func (p *pairing) enter(k kinship, predicted float64, won bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.seen[k]
	left := halved(now.Sub(s.at), pairHalfLife)
	if sum := s.predicted*left + predicted; sum > pairLatest {
		left *= (pairLatest - predicted) / (sum - predicted)
	}
	s.won, s.predicted, s.at = s.won*left, s.predicted*left+predicted, now
	p.news[k].predicted += predicted
	if won {
		s.won++
		p.news[k].won++
	}
}

// factors returns k for each kinship.
func (p *pairing) factors(now time.Time) (k [kinships]float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, prior := range pairPriors {
		s := &p.seen[i]
		left := halved(now.Sub(s.at), pairHalfLife)
		theirs := p.others.at(kinship(i), now)
		one := (pairPrior*prior + s.won*left + theirs.won) / (pairPrior + s.predicted*left + theirs.predicted)
		k[i] = min(max(one, leastFactor), mostFactor)
	}
	return k
}

// PairStatus is what is known of hedges between two targets, by what these have in
// common.
type PairStatus struct {
	Pair string // "same region", "another region" (of one provider) or "another provider"
	// Factor is how many times better hedges do than if attempts had nothing to do with
	// each other, 0.05 to 1.5; see k in the package comment. It rests on Won of so many
	// Predicted, those of 15 min ago counting half.
	Factor, Won, Predicted float64
}

func (p *pairing) status(now time.Time) []PairStatus {
	factors := p.factors(now)
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]PairStatus, kinships)
	for i := range all {
		s := &p.seen[i]
		left := halved(now.Sub(s.at), pairHalfLife)
		all[i] = PairStatus{Pair: kinshipNames[i], Factor: factors[i], Won: s.won * left, Predicted: s.predicted * left}
	}
	return all
}

// pair is a hedge and the attempt beside which it runs, until it is known whether it
// was worth it: once either has content, or both have ended.
type pair struct {
	first     *Flight
	kinship   kinship
	within    float64 // seconds that the hedge may take to be in time
	predicted float64 // P(it is, and before the first)

	mu      sync.Mutex // guards all below
	settled bool
	over    [2]bool // the first, and the hedge, have ended without content
}

// join makes f the hedge of a pair.
func (f *Flight) join(p *pair) {
	f.hedge = true
	f.pair.Store(p)
	p.first.pair.CompareAndSwap(nil, p)
}

// won settles the pair, since f has content.
func (f *Flight) won(took float64, now time.Time) {
	p := f.pair.Load()
	if p == nil || !p.settle() {
		return
	}
	if f.hedge {
		f.endpoint.allowance.win()
	}
	f.route.group.router.pairing.enter(p.kinship, p.predicted, f.hedge && took <= p.within, now)
}

// settle returns false if the pair is settled already.
func (p *pair) settle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.settled
	p.settled = true
	return !before
}

// pairOff tells the pair of an end before which there was no content. What says nothing of
// the route, or of how the race would have ended, settles it without a result. What was
// lost is lost to the other, unless that has ended as well: then a third attempt was
// first. A hedge without a result gives its token back.
func (f *Flight) pairOff(rep *Report, now time.Time) {
	if f.hedge && rep.blameless() {
		f.endpoint.allowance.giveBack(now, false)
	}
	p := f.pair.Load()
	switch {
	case p == nil:
	case rep.Outcome == Completed: // its content is its end
		f.won(rep.total().Seconds(), now)
	case rep.blameless() || rep.Outcome == Cancelled:
		p.settle()
	case f.hedge && rep.Outcome != Lost:
		if p.settle() {
			f.route.group.router.pairing.enter(p.kinship, p.predicted, false, now)
		}
	default:
		p.end(f.hedge)
	}
}

// outdone tells whether an attempt has lost to its hedge, or it to that, before anything
// was known of it. If it is a probe it makes no room for the next one yet: there would
// be one after the other, each with a hedge.
func (f *Flight) outdone(rep *Report, late bool) bool {
	return rep.Outcome == Lost && !f.hasContent && f.pair.Load() != nil && !(late && f.route.breaker.latency.Load())
}

func (p *pair) end(hedge bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := 0
	if hedge {
		i = 1
	}
	p.over[i] = true
	p.settled = p.settled || p.over[0] && p.over[1]
}

package router

import "time"

// pairsHeard is how the hedges of other replicas did.
type pairsHeard struct {
	pairs [kinships]saidPair
	when  time.Time // when the weights were right
}

// at returns what is left of it by now.
func (h *pairsHeard) at(k kinship, now time.Time) saidPair {
	left := halved(now.Sub(h.when), pairHalfLife)
	return saidPair{won: h.pairs[k].won * left, predicted: h.pairs[k].predicted * left}
}

// hear adds how the hedges of another replica did, so long ago.
func (p *pairing) hear(pairs *[kinships]saidPair, age time.Duration, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	weight := halved(age, pairHalfLife)
	for k := range pairs {
		sum := p.others.at(kinship(k), now)
		sum.won += pairs[k].won * weight
		sum.predicted += pairs[k].predicted * weight
		if sum.predicted > pairLatest {
			sum.won *= pairLatest / sum.predicted
			sum.predicted = pairLatest
		}
		p.others.pairs[k] = sum
	}
	p.others.when = now
}

// takeNews returns how hedges did here since the last time.
func (p *pairing) takeNews() [kinships]saidPair {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := p.news
	p.news = [kinships]saidPair{}
	return news
}

package router

import (
	"math"
	"sync"
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

const (
	saidSamples = 16 // of prompt size and TTFT in one span of a route, for each size bucket
	mostKeys    = 64 // of one route that cool down within one span
)

// outbox is what has happened to a route since the others were told. Nothing is entered
// into it while there is no store.
type outbox struct {
	mu    sync.Mutex // guards all below; held for a few instructions
	news  *news      // nil: nothing has happened
	spare *news      // an empty one
}

// news is what happened to a route within one span of a few seconds.
type news struct {
	times   [metrics]latency.Counts
	share   tally
	samples []sample
	held    [sizeBuckets]int // how many of the samples are of each bucket
	sizes   sum
	ratios  sum
	cooling []newCooling
	probe   newProbe
}

type newCooling struct {
	key   int
	until time.Time
}

type newProbe struct {
	result   uint8
	until    time.Time
	openings int
}

func newNews() *news {
	n := new(news)
	for m := range n.times {
		n.times[m] = *latency.NewCounts(units[m])
	}
	return n
}

func (n *news) reset() {
	for m := range n.times {
		n.times[m].Reset()
	}
	*n = news{times: n.times, samples: n.samples[:0], cooling: n.cooling[:0]}
}

// tell has something entered for the other replicas, if there can be any.
func (rt *route) tell(enter func(n *news)) {
	o := &rt.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.news == nil {
		if o.news, o.spare = o.spare, nil; o.news == nil {
			o.news = newNews()
		}
	}
	enter(o.news)
}

// shares tells whether there may be other replicas to tell.
func (rt *route) shares() bool {
	return rt.group.router.sharing != nil && len(rt.group.model) <= mostModelName
}

func (rt *route) tellTime(m int, v float64, ended bool) {
	if !rt.shares() {
		return
	}
	rt.tell(func(n *news) {
		if ended {
			n.times[m].Record(v, 1)
		} else {
			n.times[m].Censor(v, 1)
		}
	})
}

// tellContent tells of a TTFT.
func (rt *route) tellContent(took float64) { rt.tellTime(ttft, took, true) }

func (rt *route) tellShare(isFailure bool) {
	if !rt.shares() {
		return
	}
	rt.tell(func(n *news) {
		if isFailure {
			n.share.failed++
		} else {
			n.share.well++
		}
	})
}

// tellSize tells of an attempt's prompt, and of its TTFT if that is above 0.
func (rt *route) tellSize(tokens, seconds float64) {
	if !rt.shares() {
		return
	}
	rt.tell(func(n *news) {
		n.sizes.add(math.Log(min(max(tokens, 1), mostTokens)))
		if held := &n.held[sizeBucket(tokens)]; seconds > 0 && *held < saidSamples {
			*held++
			n.samples = append(n.samples, sample{float32(tokens), float32(seconds)})
		}
	})
}

func (rt *route) tellRatio(bytes, tokens int) {
	if one, ok := ratioOf(bytes, tokens); ok && rt.shares() {
		rt.tell(func(n *news) { n.ratios.add(one) })
	}
}

// tellCooling tells of a cooldown, at once if it has just begun.
func (rt *route) tellCooling(key int, until time.Time, began bool) {
	if !rt.shares() {
		return
	}
	rt.tell(func(n *news) { n.cool(key, until) })
	if began {
		rt.group.router.sharing.hurry()
	}
}

// cool notes until when a key cools down: once for each key, however often it is refused.
func (n *news) cool(key int, until time.Time) {
	for i := range n.cooling {
		if n.cooling[i].key == key {
			n.cooling[i].until = until // it never becomes shorter
			return
		}
	}
	if key < mostKeys {
		n.cooling = append(n.cooling, newCooling{key, until})
	}
}

// tellProbe tells at once what a probe came to.
func (rt *route) tellProbe(p newProbe) {
	if !rt.shares() {
		return
	}
	rt.tell(func(n *news) { n.probe = p })
	rt.group.router.sharing.hurry()
}

// take returns what has happened since the last time, or nil. It is to be given back.
func (o *outbox) take() *news {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.news
	o.news = nil
	return n
}

func (o *outbox) giveBack(n *news) {
	n.reset()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spare = n
}

package router

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// A blob is a magic byte, a version, the replica's id, the number of the blob among
// those of the replica, how long before it was published its span had ended and how long
// that was in milliseconds, and then what happened in it: by route, by layer, and by
// kinship. Numbers are varints, shares and times float32. What is of another version is
// ignored as a whole, so that a field can be added only with a new one.
const (
	wireMagic   = 0xe7
	wireVersion = 1

	wireSize  = 64 << 10  // after which another blob is begun
	mostSize  = 128 << 10 // of a blob that is looked at
	mostCount = 1 << 20   // of anything within one span

	mostMillis    = 1 << 40
	mostTokenBits = 24
	mostTokens    = 1 << mostTokenBits // of a prompt

	// A model that a config names may be a path or an ARN. Nothing is told of longer ones.
	mostModelName = 1 << 10 // bytes
)

// said is what one span of one route came to, as it travels.
type said struct {
	target, model string
	counts        []saidCount
	share         tally
	samples       []sample // of prompt size and TTFT
	sizes         sum      // logarithms of prompt sizes
	ratios        sum      // bytes per token
	cooling       []saidCooling
	probe         saidProbe
}

// saidCount is how many observations of a metric there were in a bucket.
type saidCount struct {
	metric, bucket int
	censored       bool
	n              float64
}

// saidCooling is how long, from the end of the span on, a key has to wait.
type saidCooling struct {
	key    int
	millis uint64
}

// saidProbe is what a probe came to; the zero value is nothing.
type saidProbe struct {
	result   uint8 // probeNothing and so on
	millis   uint64
	openings int
}

// What follows the header, each with its kind before it.
const (
	kindRoute = iota + 1
	kindLayer
	kindPairs
)

const (
	probeNothing uint8 = iota
	probeWell
	probeFailed
	probeResults
)

// sum is a sum of so many values.
type sum struct{ sum, n float64 }

func (s *sum) add(v float64) { s.sum, s.n = s.sum+v, s.n+1 }

func (s *sum) mean() float64 { return s.sum / s.n }

// saidLayer is what the calls of one span did to a layer.
type saidLayer struct {
	endpoint      string
	layer         budget.Layer
	calls, missed uint64
}

// saidPair is how the hedges of one span did, by kinship.
type saidPair struct{ won, predicted float64 }

// header is what every blob begins with.
type header struct {
	replica, seq uint64
	ended, span  uint64 // milliseconds
}

// route writes what one span of a route came to, as of the given end of the span.
func (w *writer) route(target, model string, n *news, end time.Time) {
	w.text(target)
	w.text(model)
	for m := range n.times {
		w.times(&n.times[m])
	}
	w.count(n.share.well)
	w.count(n.share.failed)
	w.number(uint64(len(n.samples)))
	for _, s := range n.samples {
		w.number(min(uint64(s.tokens), mostTokens))
		w.real(min(float64(s.seconds), longest))
	}
	w.sum(n.sizes)
	w.sum(n.ratios)
	w.number(uint64(len(n.cooling)))
	for _, c := range n.cooling {
		w.number(uint64(c.key))
		w.number(millisTo(c.until, end))
	}
	w.number(uint64(n.probe.result))
	w.number(millisTo(n.probe.until, end))
	w.number(uint64(n.probe.openings))
}

func (r *reader) route() (s said) {
	s.target, s.model = r.text(maxNameLength), r.text(mostModelName)
	for m := range metrics {
		s.counts = r.times(m, s.counts)
	}
	s.share = tally{well: r.count(), failed: r.count()}
	for range r.number(sizeBuckets * saidSamples) {
		one := sample{float32(r.number(mostTokens)), float32(r.real(longest))}
		if r.bad {
			break
		}
		s.samples = append(s.samples, one)
	}
	s.sizes, s.ratios = r.sum(0, math.Ln2*mostTokenBits), r.sum(leastRatio, mostRatio)
	for range r.number(mostKeys) {
		one := saidCooling{key: int(r.number(mostKeys)), millis: r.number(uint64(longestTold.Milliseconds()))}
		if r.bad {
			break
		}
		s.cooling = append(s.cooling, one)
	}
	s.probe.result = uint8(r.number(uint64(probeResults - 1)))
	s.probe.millis = r.number(uint64(2 * longestOpening.Milliseconds()))
	s.probe.openings = int(r.number(mostOpenings))
	return s
}

func (w *writer) pairs(pairs *[kinships]saidPair) {
	for _, p := range pairs {
		w.real(p.won)
		w.real(p.predicted)
	}
}

func (r *reader) pairs() (pairs [kinships]saidPair) {
	for i := range pairs {
		pairs[i] = saidPair{won: r.real(mostCount), predicted: r.real(mostCount)}
	}
	return pairs
}

func millisTo(until, from time.Time) uint64 {
	return uint64(max(0, until.Sub(from).Milliseconds()))
}

func (w *writer) layer(l *saidLayer) {
	w.text(l.endpoint)
	w.number(uint64(l.layer.Metric))
	w.precise(l.layer.Percentile)
	w.number(uint64(l.layer.Limit))
	w.number(l.calls)
	w.number(l.missed)
}

func (r *reader) layer() (l saidLayer) {
	l.endpoint = r.text(maxNameLength)
	l.layer.Metric = budget.Metric(r.number(math.MaxUint8))
	l.layer.Percentile = math.Float64frombits(binary.LittleEndian.Uint64(r.take(8)))
	l.layer.Limit = time.Duration(r.number(math.MaxInt64))
	l.calls = r.number(mostCount)
	l.missed = r.number(l.calls)
	return l
}

func millis(n uint64) time.Duration { return time.Duration(n) * time.Millisecond }

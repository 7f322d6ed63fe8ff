package router

import (
	"math"
	"slices"
)

const (
	sizeBuckets   = 5
	latestSamples = 64 // that each bucket keeps

	// refPrompt is the prompt size, in tokens, to which every TTFT is converted.
	refPrompt = 1000

	// priorSlope is the seconds that a prompt token takes where nothing is known,
	// and slopeWeight how firmly that is believed, in tokens²: as a pair of
	// samples 3,500 tokens apart.
	priorSlope  = 60e-6
	slopeWeight = 2500 * 2500

	// Some of the time to the first token is there whatever the prompt: at least
	// this part of the quickest median.
	leastFixed = 0.2
)

// sizeEdges are the upper bounds, inclusive, of all size buckets but the last, in
// tokens; sizeMiddle stands for all in a bucket.
var (
	sizeEdges  = [sizeBuckets - 1]float64{512, 2048, 8192, 32768}
	sizeMiddle = [sizeBuckets]float64{256, 1024, 4096, 16384, 65536}
)

func sizeBucket(tokens float64) int {
	for i, edge := range sizeEdges {
		if tokens <= edge {
			return i
		}
	}
	return sizeBuckets - 1
}

// sizeFit is the TTFT that a prompt size accounts for: m(s) = a + b*s, in seconds.
// What a measured time has beyond or below that is luck.
type sizeFit struct{ a, b float64 }

func (f sizeFit) at(tokens float64) float64 { return f.a + f.b*tokens }

// factor returns how much longer a prompt of the given size takes than one of
// refPrompt.
func (f sizeFit) factor(tokens float64) float64 { return f.at(tokens) / f.at(refPrompt) }

// samples are the latest pairs of prompt size and TTFT, by size bucket.
type samples struct {
	buckets [sizeBuckets]struct {
		ring []sample
		next int // where the next one goes once the ring is full
		mid  point
		old  bool // mid is no longer that of the ring
	}
	typical float64 // mean logarithm of the sizes, of the latest 64 or so
	count   float64 // sizes that it rests on, at most 64
}

type sample struct{ tokens, seconds float32 }

// point is the medians of one bucket.
type point struct{ tokens, seconds, weight float64 }

func (s *samples) add(tokens, seconds float64) {
	b := &s.buckets[sizeBucket(tokens)]
	one := sample{float32(tokens), float32(seconds)}
	if len(b.ring) < latestSamples {
		b.ring = append(b.ring, one)
	} else {
		b.ring[b.next] = one
		b.next = (b.next + 1) % latestSamples
	}
	b.old = true
}

// saw takes note of a prompt's size.
func (s *samples) saw(tokens float64) {
	s.count = min(s.count+1, latestSamples)
	s.typical += (math.Log(max(tokens, 1)) - s.typical) / s.count
}

// typicalSize returns the geometric mean of the latest prompts, in tokens.
func (s *samples) typicalSize() float64 {
	if s.count == 0 {
		return refPrompt
	}
	return typicalOf(s.typical)
}

// typicalOf returns the size with the given mean logarithm, in tokens.
func typicalOf(log float64) float64 { return math.Exp(log) }

// points returns the medians of the buckets that have samples.
func (s *samples) points(buf []point) []point {
	for i := range s.buckets {
		b := &s.buckets[i]
		if len(b.ring) == 0 {
			continue
		}
		if b.old {
			b.mid, b.old = medians(b.ring), false
		}
		buf = append(buf, b.mid)
	}
	return buf
}

func medians(ring []sample) point {
	var tokens, seconds [latestSamples]float32
	for i, s := range ring {
		tokens[i], seconds[i] = s.tokens, s.seconds
	}
	n := len(ring)
	return point{tokens: middle(tokens[:n]), seconds: middle(seconds[:n]), weight: float64(n)}
}

// middle sorts v and returns its median.
func middle(v []float32) float64 {
	slices.Sort(v)
	n := len(v)
	return (float64(v[(n-1)/2]) + float64(v[n/2])) / 2
}

// fitSizes fits a line through the medians, of which there is at least one, by
// least squares weighed by their numbers of samples; the slope leans on the prior.
func fitSizes(points []point) sizeFit {
	var n, tokens, seconds float64
	quickest := math.Inf(1)
	for _, p := range points {
		n += p.weight
		tokens += p.weight * p.tokens
		seconds += p.weight * p.seconds
		quickest = min(quickest, p.seconds)
	}
	tokens, seconds = tokens/n, seconds/n
	slope := func(x, y float64) float64 { // of the line through (x, y)
		up, along := slopeWeight*priorSlope, float64(slopeWeight)
		for _, p := range points {
			up += p.weight * (p.tokens - x) * (p.seconds - y)
			along += p.weight * (p.tokens - x) * (p.tokens - x)
		}
		return max(0, up/along)
	}
	b := slope(tokens, seconds)
	a := seconds - b*tokens
	if least := leastFixed * quickest; a < least {
		a, b = least, slope(0, least)
	}
	return sizeFit{a: max(a, 1e-6), b: b}
}

// guessSizes returns the fit of a route that has brought nothing yet, given the
// median TTFT of its relatives at refPrompt.
func guessSizes(median float64) sizeFit {
	a := max(median-priorSlope*refPrompt, leastFixed*median)
	return sizeFit{a: a, b: (median - a) / refPrompt}
}

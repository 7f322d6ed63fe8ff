package middleware

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"time"
)

const (
	gapFloor     = 16 * time.Microsecond // the first bucket ends here
	gapPerOctave = 4
	gapBuckets   = 24 * gapPerOctave // up to 268 s
)

// Gaps counts the gaps between an answer's content events (inter-token latency
// as it is usually called; an event may hold several tokens). Gaps of many
// attempts can be added up. The zero value has none.
type Gaps struct {
	counts [gapBuckets]uint32
	n      uint32
	sum    time.Duration
}

func (g *Gaps) add(gap time.Duration) {
	g.counts[gapBucket(gap)]++
	g.n++
	g.sum += gap
}

// gapBucket is exact to an octave and linear inside it: four steps of a
// quarter of the octave's lower bound.
func gapBucket(gap time.Duration) int {
	if gap <= gapFloor {
		return 0
	}
	q := uint64(gap-1) / uint64(gapFloor) // >= 1
	octave := bits.Len64(q) - 1
	low := uint64(gapFloor) << octave
	step := int((uint64(gap-1) - low) * gapPerOctave / low)
	return min(octave*gapPerOctave+step+1, gapBuckets-1)
}

// gapBound is the upper end of bucket i.
func gapBound(i int) time.Duration {
	if i == 0 {
		return gapFloor
	}
	low := gapFloor << ((i - 1) / gapPerOctave)
	return low + low*time.Duration((i-1)%gapPerOctave+1)/gapPerOctave
}

// N is the number of gaps.
func (g *Gaps) N() int { return int(g.n) }

// Mean is the mean gap; 0 if there is none.
func (g *Gaps) Mean() time.Duration {
	if g.n == 0 {
		return 0
	}
	return g.sum / time.Duration(g.n)
}

// Buckets yields, by rising length, up to what length each bucket of the
// histogram counts gaps, and how many it has; empty ones are left out.
func (g *Gaps) Buckets() iter.Seq2[time.Duration, int] {
	return func(yield func(time.Duration, int) bool) {
		for i, n := range g.counts {
			if n > 0 && !yield(gapBound(i), int(n)) {
				return
			}
		}
	}
}

// String is a short summary: how many, their mean and their p99.
func (g Gaps) String() string {
	return fmt.Sprintf("%d gaps, mean %v, p99 %v", g.N(), g.Mean(), g.Quantile(0.99))
}

// Add counts other's gaps too.
func (g *Gaps) Add(other *Gaps) {
	for i, c := range other.counts {
		g.counts[i] += c
	}
	g.n += other.n
	g.sum += other.sum
}

// Quantile returns the length that a share q of the gaps, from 0 to 1, does not exceed,
// at most a quarter too long; 0 if there is none.
func (g *Gaps) Quantile(q float64) time.Duration {
	if g.n == 0 {
		return 0
	}
	want := uint64(math.Ceil(q * float64(g.n)))
	var seen uint64
	for i, c := range g.counts {
		if seen += uint64(c); seen >= want && c > 0 {
			return gapBound(i)
		}
	}
	return gapBound(gapBuckets - 1)
}

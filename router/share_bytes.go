package router

import (
	"encoding/binary"
	"math"

	"github.com/ontime-llm/ontime/internal/latency"
)

// writer appends to a blob.
type writer []byte

func (w *writer) header(h header) {
	*w = append(*w, wireMagic, wireVersion)
	*w = binary.LittleEndian.AppendUint64(*w, h.replica)
	w.number(h.seq)
	w.number(h.ended)
	w.number(h.span)
}

func (w *writer) number(n uint64) { *w = binary.AppendUvarint(*w, n) }
func (w *writer) count(n float64) { w.number(uint64(min(max(n, 0), mostCount))) }
func (w *writer) real(v float64) {
	*w = binary.LittleEndian.AppendUint32(*w, math.Float32bits(float32(v)))
}
func (w *writer) text(s string)     { w.number(uint64(len(s))); *w = append(*w, s...) }
func (w *writer) sum(s sum)         { w.count(s.n); w.real(s.sum) }
func (w *writer) precise(v float64) { *w = binary.LittleEndian.AppendUint64(*w, math.Float64bits(v)) }

// times writes the occupied buckets of one metric: of each how far it is from the one
// before, and the two counts.
func (w *writer) times(c *latency.Counts) {
	occupied := 0
	for i := range c.Ended {
		if c.Ended[i] > 0 || c.Censored[i] > 0 {
			occupied++
		}
	}
	w.number(uint64(occupied))
	last := 0
	for i := range c.Ended {
		if c.Ended[i] > 0 || c.Censored[i] > 0 {
			w.number(uint64(i - last))
			w.count(c.Ended[i])
			w.count(c.Censored[i])
			last = i
		}
	}
}

// reader takes a blob apart. Once something is wrong it says so, and gives zeros.
type reader struct {
	left []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.left) {
		r.bad = true
		return make([]byte, min(max(n, 0), 8))
	}
	taken := r.left[:n]
	r.left = r.left[n:]
	return taken
}

func (r *reader) header() (h header) {
	if start := r.take(2); start[0] != wireMagic || start[1] != wireVersion {
		r.bad = true
	}
	h.replica = binary.LittleEndian.Uint64(r.take(8))
	h.seq = r.number(math.MaxUint64)
	h.ended, h.span = r.number(mostMillis), r.number(mostMillis)
	return h
}

func (r *reader) number(most uint64) uint64 {
	n, size := binary.Uvarint(r.left)
	if r.bad || size <= 0 || n > most {
		r.bad = true
		return 0
	}
	r.left = r.left[size:]
	return n
}

func (r *reader) count() float64 { return float64(r.number(mostCount)) }

// real reads a number from 0 to the most.
func (r *reader) real(most float64) float64 {
	v := float64(math.Float32frombits(binary.LittleEndian.Uint32(r.take(4))))
	if !(v >= 0 && v <= most) {
		r.bad = true
		return 0
	}
	return v
}

func (r *reader) text(most int) string {
	n := int(r.number(uint64(most)))
	if r.bad || n > len(r.left) {
		r.bad = true
		return ""
	}
	return string(r.take(n))
}

// sum reads a sum of values from the least to the most, give or take what float32 rounds.
func (r *reader) sum(least, most float64) sum {
	const rounding = 1e-6
	n := r.count()
	s := r.real((1 + rounding) * n * most)
	r.bad = r.bad || s < (1-rounding)*n*least
	return sum{sum: s, n: n}
}

func (r *reader) times(m int, counts []saidCount) []saidCount {
	bucket := 0
	for range r.number(latency.Buckets) {
		bucket += int(r.number(latency.Buckets))
		if r.bad = r.bad || bucket >= latency.Buckets; r.bad {
			return counts
		}
		for _, censored := range [...]bool{false, true} {
			if n := r.count(); n > 0 {
				counts = append(counts, saidCount{metric: m, bucket: bucket, censored: censored, n: n})
			}
		}
	}
	return counts
}

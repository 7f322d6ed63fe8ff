package metrics

import (
	"math"
	"sort"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/ontime-llm/ontime/middleware"
)

const (
	gapSchema = 3                     // 8 native buckets an octave, as other histograms have
	leastGap  = 16 * time.Microsecond // shorter ones are not told apart
)

var itl = prometheus.NewDesc(namespace+"_itl_seconds", "gaps between content events",
	[]string{"endpoint", "target", "model"}, nil)

// gaps is a histogram of the gaps between events. A stream may have thousands, so they are
// not observed one by one: each bucket in which they were counted is entered as a whole.
type gaps struct {
	mu      sync.Mutex // guards all below
	created time.Time
	n       uint64
	sum     time.Duration
	classic [len(paces) + 1]uint64
	native  map[int]int64
}

// add enters the gaps of one stream. A bucket stands for its upper bound, scaled so that
// the mean of the stream is what was measured: where the pace is even it is exact.
func (g *gaps) add(of *middleware.Gaps) {
	bounds := 0.0
	for bound, n := range of.Buckets() {
		bounds += float64(bound) * float64(n)
	}
	sum := of.Mean() * time.Duration(of.N())
	scale := float64(sum) / bounds

	g.mu.Lock()
	defer g.mu.Unlock()
	if g.native == nil {
		g.native, g.created = make(map[int]int64), time.Now()
	}
	g.n += uint64(of.N())
	g.sum += sum
	for bound, n := range of.Buckets() {
		v := max(time.Duration(math.Round(float64(bound)*scale)), leastGap).Seconds()
		g.classic[sort.SearchFloat64s(paces[:], v)] += uint64(n)
		g.native[int(math.Ceil(math.Log2(v)*(1<<gapSchema)))] += int64(n)
	}
}

// collect sends the histogram, if there is anything in it.
func (g *gaps) collect(k *key, to chan<- prometheus.Metric) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n == 0 {
		return
	}
	upTo, classic := uint64(0), make(map[float64]uint64, len(paces))
	for i, bound := range paces {
		upTo += g.classic[i]
		classic[bound] = upTo
	}
	sum := g.sum.Seconds()
	to <- both{
		Metric: prometheus.MustNewConstNativeHistogram(itl, g.n, sum, g.native, nil, 0, gapSchema, 0, g.created,
			k.endpoint, k.target, k.model),
		classic: prometheus.MustNewConstHistogram(itl, g.n, sum, classic, k.endpoint, k.target, k.model),
	}
}

// both is a native histogram with classic buckets beside it.
type both struct {
	prometheus.Metric
	classic prometheus.Metric
}

// Write is the prometheus.Metric's.
func (b both) Write(to *dto.Metric) error {
	var classic dto.Metric
	if err := b.classic.Write(&classic); err != nil {
		return err
	}
	if err := b.Metric.Write(to); err != nil {
		return err
	}
	to.Histogram.Bucket = classic.Histogram.Bucket
	return nil
}

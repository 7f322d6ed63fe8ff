package latency_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

// values are what a busy route might show: around 300 ms in 1/1024 s, with a tail.
func values() (v [1024]float64) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range v {
		v[i] = 0.3 * (0.5 + random.ExpFloat64())
	}
	return v
}

func BenchmarkRecord(b *testing.B) {
	h, v, i := latency.New(1.0/1024, start), values(), 0
	h.Record(start, 1)
	b.ReportAllocs()
	for b.Loop() {
		h.Record(start, v[i%len(v)])
		i++
	}
}

// With the clock running 1 ms a record, rotation is part of the cost.
func BenchmarkRecordRotating(b *testing.B) {
	h, v, i := latency.New(1.0/1024, start), values(), 0
	now := start
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		h.Record(now, v[i%len(v)])
		i++
	}
}

func BenchmarkRecordParallel(b *testing.B) {
	h, v := latency.New(1.0/1024, start), values()
	h.Record(start, 1)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			h.Record(start, v[i%len(v)])
		}
	})
}

func BenchmarkFold(b *testing.B) {
	full := latency.New(1, start)
	fill(full, time.Hour, bounds(1)[1:]...)
	usual := latency.New(1.0/1024, start)
	v := values()
	for i := range 3600 {
		usual.Record(at(time.Duration(i)*time.Second), v[i%len(v)])
	}
	idle := latency.New(1, start)
	for _, c := range []struct {
		name string
		h    *latency.Histogram
	}{{"full", full}, {"usual", usual}, {"idle", idle}} {
		b.Run(c.name, func(b *testing.B) {
			var fast, slow latency.Counts
			now := at(time.Hour)
			b.ReportAllocs()
			for b.Loop() {
				fast.Reset()
				slow.Reset()
				c.h.Fold(now, &fast, &slow)
			}
		})
	}
}

func dist() latency.Dist {
	c := latency.NewCounts(1.0 / 1024)
	for _, v := range values() {
		c.Record(v, 1)
	}
	return c.Dist()
}

func BenchmarkDist(b *testing.B) {
	c := latency.NewCounts(1.0 / 1024)
	for _, v := range values() {
		c.Record(v, 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		d := c.Dist()
		sink += d.N()
	}
}

func BenchmarkSurvival(b *testing.B) {
	d, v, i := dist(), values(), 0
	b.ReportAllocs()
	for b.Loop() {
		sink += d.Survival(v[i%len(v)])
		i++
	}
}

func BenchmarkQuantile(b *testing.B) {
	d, i := dist(), 0
	quantiles := [4]float64{0.5, 0.95, 0.99, 0.2}
	b.ReportAllocs()
	for b.Loop() {
		sink += d.Quantile(quantiles[i%len(quantiles)])
		i++
	}
}

var sink float64

func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(heapKiB(func(*latency.Histogram) {}), "KiB/idle")
		b.ReportMetric(heapKiB(func(h *latency.Histogram) { fill(h, time.Hour, 1) }), "KiB/full")
		b.ReportMetric(heapKiB(func(h *latency.Histogram) {
			fill(h, time.Hour, 1)
			fast, slow := new(latency.Counts), new(latency.Counts)
			h.Fold(at(2*time.Hour), fast, slow)
		}), "KiB/quiet")
	}
}

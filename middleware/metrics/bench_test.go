package metrics_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/metrics"
)

// A call that has been seen before takes no allocation, whatever came of it.
func TestObservingAllocatesNothing(t *testing.T) {
	m, _ := observed(t, metrics.State(routed(t)))
	c := hedged()
	c.Attempts[2].ITL = gapsOf(t, 20*ms, 30*ms)
	if n := testing.AllocsPerRun(100, func() { m.ObserveCall(c) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// BenchmarkObserveCall is what metrics add to a call: plain is one of one attempt that is
// not streamed, hedged has three attempts, and streamed has 31 gaps.
func BenchmarkObserveCall(b *testing.B) {
	whole := hedged()
	whole.TTFT, whole.TTFA, whole.TPOT, whole.Waited = 0, 0, 0, 0
	whole.Attempts = whole.Attempts[2:]
	streamed := hedged()
	streamed.Attempts = []middleware.Attempt{streamed.Attempts[2]}
	streamed.Attempts[0].ITL = streamWith(b, slices.Repeat([]time.Duration{20 * time.Microsecond}, 31)).ITL
	traced := streamed
	traced.TraceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, bench := range []struct {
		name string
		call middleware.Call
	}{{"whole", whole}, {"streamed", streamed}, {"hedged", hedged()}, {"traced", traced}} {
		b.Run(bench.name, func(b *testing.B) {
			m, _ := observed(b, metrics.State(routed(b)))
			b.ReportAllocs()
			for b.Loop() {
				m.ObserveCall(bench.call)
			}
		})
	}
}

// BenchmarkScrape is what a scrape costs with two routes.
func BenchmarkScrape(b *testing.B) {
	m, reg := observed(b, metrics.State(routed(b)))
	m.ObserveCall(hedged())
	for b.Loop() {
		if _, err := reg.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}

// Calls may end while others do, and while there is a scrape.
func TestConcurrentUse(t *testing.T) {
	m, reg := observed(t, metrics.State(routed(t)))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				m.ObserveCall(hedged())
			}
		})
		all.Go(func() {
			for range 5 {
				_, _ = reg.Gather()
			}
		})
	}
	all.Wait()
	want := "400" // 8 * 50
	if got := scraped(t, reg).values("ontime_calls_total")["endpoint=chat model=m outcome=completed target=three"]; got != want {
		t.Errorf("%s calls, want %s", got, want)
	}
}

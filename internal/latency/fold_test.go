package latency_test

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
	"pgregory.net/rapid"
)

// A batch is n observations made at one time, in a bucket that no other uses. With
// at most 20 of them one that is lost, or counted twice, changes the weight by 5%
// or more, while the age of an epoch is known to 2.3% in slow.
type batch struct {
	n        int
	recorded time.Duration
}

// check compares the weights that are left of a batch with its age.
func (b batch) check(t interface{ Errorf(string, ...any) }, name string, now time.Duration, fast, slow float64) {
	age := now - b.recorded
	within := 30 * time.Second // half a minute's epoch
	if age < 55*time.Second {
		within = 2500 * time.Millisecond
	}
	weight := func(age, halfLife time.Duration) float64 {
		return float64(b.n) * math.Exp2(-max(0, age.Seconds())/halfLife.Seconds())
	}
	low, high := weight(age+within, 15*time.Minute), weight(age-within, 15*time.Minute)
	if slow < low*(1-1e-9) || slow > high*(1+1e-9) {
		t.Errorf("%s: %d of age %v weigh %v in slow, want %v to %v", name, b.n, age, slow, low, high)
	}
	low, high = weight(age+within, 30*time.Second), weight(age-within, 30*time.Second)
	if age > 14*time.Minute { // may be in the history, which fast leaves out
		low = 0
	}
	if fast < low*(1-1e-9) || fast > high*(1+1e-9) {
		t.Errorf("%s: %d of age %v weigh %v in fast, want %v to %v", name, b.n, age, fast, low, high)
	}
}

// Whatever the rhythm of records and folds, none gets lost on the way from ring to
// ring, and all weigh what their age says.
func TestCascadeConserves(t *testing.T) {
	bounds := bounds(1)
	pause := rapid.Custom(func(t *rapid.T) time.Duration {
		most := rapid.SampledFrom([]time.Duration{
			time.Second, 20 * time.Second, 2 * time.Minute, 20 * time.Minute, 5 * time.Hour,
		}).Draw(t, "pause up to")
		return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, "pause"))
	})
	rapid.Check(t, func(t *rapid.T) {
		h := latency.New(1, start)
		var ended, censored [latency.Buckets]batch
		var now time.Duration
		for i := range rapid.IntRange(1, 150).Draw(t, "batches") {
			now += pause.Draw(t, "pause")
			b := batch{rapid.IntRange(1, 20).Draw(t, "n"), now}
			for range b.n {
				h.Record(at(now), bounds[i+1])
				h.Censor(at(now), bounds[i+1])
			}
			ended[i], censored[i] = b, b
			if rapid.Bool().Draw(t, "fold") {
				folded(h, at(now))
			}
		}
		now += pause.Draw(t, "pause")
		fast, slow := folded(h, at(now))
		for i := range ended {
			ended[i].check(t, "ended", now, fast.Ended[i], slow.Ended[i])
			censored[i].check(t, "censored", now, fast.Censored[i], slow.Censored[i])
		}
	})
}

// All goroutines find the epoch outdated at once, while another folds: none of
// their records may go astray.
func TestConcurrentRotation(t *testing.T) {
	const goroutines, rounds = 8, 200
	bounds := bounds(1)
	for _, period := range []time.Duration{time.Second, 5 * time.Second, 61 * time.Second, 17 * time.Minute} {
		t.Run(period.String(), func(t *testing.T) {
			h := latency.New(1, start)
			var clock atomic.Int64
			var folding sync.WaitGroup
			done := make(chan struct{})
			folding.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						folded(h, at(time.Duration(clock.Load())))
					}
				}
			})
			var batches [rounds]batch
			for i := range batches {
				now := time.Duration(i) * period
				clock.Store(int64(now))
				batches[i] = batch{2 * goroutines, now}
				var recording sync.WaitGroup
				gate := make(chan struct{})
				for range goroutines {
					recording.Go(func() {
						<-gate
						h.Record(at(now), bounds[i+1])
						h.Record(at(now), bounds[i+1])
					})
				}
				close(gate)
				recording.Wait()
			}
			close(done)
			folding.Wait()
			now := time.Duration(rounds) * period
			fast, slow := folded(h, at(now))
			for i, b := range batches {
				b.check(t, "ended", now, fast.Ended[i], slow.Ended[i])
			}
		})
	}
}

// Two goroutines rotate the same histogram at the same instant, many times over.
func TestRotationRace(t *testing.T) {
	const rounds = 500
	var histograms [rounds]*latency.Histogram
	for i := range histograms {
		histograms[i] = latency.New(1, start)
		histograms[i].Record(start, 2)
	}
	var round, arrived atomic.Int64
	round.Store(-1)
	record := func() {
		for i, h := range histograms {
			for round.Load() < int64(i) {
				runtime.Gosched()
			}
			h.Record(at(5*time.Second), 4)
			arrived.Add(1)
		}
	}
	var recording sync.WaitGroup
	recording.Go(record)
	recording.Go(record)
	for i := range histograms {
		for arrived.Load() < int64(2*i) {
			runtime.Gosched()
		}
		round.Store(int64(i))
	}
	recording.Wait()
	for i, h := range histograms {
		fast, _ := folded(h, at(5*time.Second))
		if old, fresh := fast.Ended[15], fast.Ended[31]; fresh != 2 || old != math.Exp2(-2.5/30) {
			t.Fatalf("round %d: %v before and %v after rotation, want 0.94 and 2", i, old, fresh)
		}
	}
}

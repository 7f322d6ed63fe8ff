package latency_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ontime-llm/ontime/internal/latency"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at returns a time since start.
func at(d time.Duration) time.Time { return start.Add(d) }

func folded(h *latency.Histogram, now time.Time) (fast, slow *latency.Counts) {
	fast, slow = new(latency.Counts), new(latency.Counts)
	h.Fold(now, fast, slow)
	return fast, slow
}

func sum(counts [latency.Buckets]float64) (total float64) {
	for _, n := range counts {
		total += n
	}
	return total
}

func TestEachKindIsCountedApart(t *testing.T) {
	h := latency.New(1, start)
	h.Record(start, 2)
	h.Record(start, 2)
	h.Record(start, math.Inf(1))
	h.Record(start, math.NaN())
	h.Censor(start, 4)
	h.Censor(start, math.NaN())
	fast, slow := folded(h, start)

	want := latency.NewCounts(1)
	want.Ended[15], want.Ended[319] = 2, 1
	want.Censored[31] = 1
	for name, got := range map[string]*latency.Counts{"fast": fast, "slow": slow} {
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(latency.Counts{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A single observation, recorded and folded when the case says.
func TestWeightByAge(t *testing.T) {
	// An epoch's age is that of its middle: 2.5 s after it began, or 30 s for one of
	// a minute, or of the part that has passed.
	for _, c := range []struct {
		name             string
		recorded, folded time.Duration
		fast, slow       time.Duration // age, by which 2^(-age/half-life)
	}{
		{"at once", 0, 0, 0, 0},
		{"epoch half over", 0, 2500 * time.Millisecond, 1250 * time.Millisecond, 1250 * time.Millisecond},
		{"epoch over", 0, 5 * time.Second, 2500 * time.Millisecond, 2500 * time.Millisecond},
		{"fast half-life", 0, 32500 * time.Millisecond, 30 * time.Second, 30 * time.Second},
		{"late in its epoch", 4 * time.Second, 32500 * time.Millisecond, 30 * time.Second, 30 * time.Second},
		// A lone epoch is the latest and stays what it is.
		{"nothing since", 0, 15*time.Minute + 2500*time.Millisecond, 15 * time.Minute, 15 * time.Minute},
		{"an hour of nothing", 0, time.Hour + 2500*time.Millisecond, time.Hour, time.Hour},
		{"clock went back", 10 * time.Second, 9 * time.Second, 0, 0},
		{"before the start", -2 * time.Hour, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := latency.New(1, start)
			h.Record(at(c.recorded), 2)
			fast, slow := folded(h, at(c.folded))
			want := [2]float64{math.Exp2(-c.fast.Seconds() / 30), math.Exp2(-c.slow.Seconds() / 900)}
			if diff := cmp.Diff(want, [2]float64{fast.Ended[15], slow.Ended[15]}, approx); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

var approx = cmpopts.EquateApprox(1e-9, 0)

// A clock that goes far astray spoils ages, but nothing else.
func TestStrayClockLosesNothing(t *testing.T) {
	h := latency.New(1, start)
	for _, d := range []time.Duration{
		-2 * time.Hour,        // counts as of the start
		time.Hour, -time.Hour, // both as of 1 h
		3 * time.Hour, 0, // both as of 3 h
		3*time.Hour + 5*time.Second, //
		3*time.Hour + 10*time.Second,
	} {
		h.Record(at(d), 2)
		folded(h, at(d))
	}
	_, slow := folded(h, start)
	// All are from the future, and so new: 4 of 3 h and later; 2 of 1 h, into whose
	// layer that of the start came with four half-lives less.
	if got, want := slow.Ended[15], 4+2+1.0/16; got != want {
		t.Errorf("weight %v, want %v", got, want)
	}
}

// After a quiet time, old epochs are as old as they are, whichever ring they were
// left in, and what is new is young.
func TestQuietTimeAges(t *testing.T) {
	h := latency.New(1, start)
	for i := range 6 {
		h.Record(at(time.Duration(i)*10*time.Second), 2) // ages the first minute
	}
	h.Record(at(time.Hour), 4)
	fast, slow := folded(h, at(time.Hour))

	if got := fast.Ended[31]; got != 1 {
		t.Errorf("the new one weighs %v in fast, want 1", got)
	}
	if got := fast.Ended[15]; got > 1e-30 { // 2^(-59*60/30)
		t.Errorf("those of an hour ago weigh %v in fast, want nothing", got)
	}
	// Five were in epochs of their own until now, so that their ages are exact to
	// 2.5 s; all are between 59 and 60 minutes old.
	low, high := 6*math.Exp2(-60.0/15), 6*math.Exp2(-59.0/15)
	if got := slow.Ended[15]; got < low || got > high {
		t.Errorf("those of an hour ago weigh %v in slow, want %v to %v", got, low, high)
	}
}

func TestSlightlyLateClockCountsAsCurrent(t *testing.T) {
	h := latency.New(1, start)
	h.Record(at(5*time.Second), 2)
	h.Record(at(5*time.Second-time.Millisecond), 2) // read before the other rotated
	h.Record(at(10*time.Second), 2)
	fast, _ := folded(h, at(10*time.Second))
	want := 1 + 2*math.Exp2(-2.5/30)
	if got := fast.Ended[15]; math.Abs(got-want) > 1e-12 {
		t.Errorf("weight %v, want %v", got, want)
	}
}

// fill records and censors all values once in every epoch, up to and with until.
func fill(h *latency.Histogram, until time.Duration, values ...float64) {
	for d := time.Duration(0); d <= until; d += 5 * time.Second {
		for _, v := range values {
			h.Record(at(d), v)
			h.Censor(at(d), v)
		}
	}
}

func TestMemory(t *testing.T) {
	fast, slow := new(latency.Counts), new(latency.Counts)
	for _, c := range []struct {
		name string
		use  func(*latency.Histogram)
		most float64 // KiB
	}{
		{"never used", func(h *latency.Histogram) { h.Fold(start, fast, slow) }, 0.5},
		{"one record", func(h *latency.Histogram) { h.Record(start, 1) }, 3.5},
		{"busy for an hour", func(h *latency.Histogram) { fill(h, time.Hour, 1) }, 90},
		{"quiet for an hour", func(h *latency.Histogram) {
			fill(h, time.Hour, 1)
			h.Fold(at(2*time.Hour), fast, slow)
		}, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := heapKiB(c.use); got > c.most {
				t.Errorf("a histogram takes %.1f KiB, want at most %.1f", got, c.most)
			}
		})
	}
}

// heapKiB measures what one histogram keeps alive after use.
func heapKiB(use func(*latency.Histogram)) float64 {
	const many = 16
	kept := make([]*latency.Histogram, many)
	before := liveBytes()
	for i := range kept {
		kept[i] = latency.New(1, start)
		use(kept[i])
	}
	after := liveBytes()
	runtime.KeepAlive(kept)
	return (after - before) / many / 1024
}

func liveBytes() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

func TestRecordDoesNotAllocate(t *testing.T) {
	h := latency.New(1, start)
	h.Record(start, 1)
	allocs := testing.AllocsPerRun(100, func() {
		h.Record(start, 3)
		h.Censor(start, 3)
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

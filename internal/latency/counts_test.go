package latency_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ontime-llm/ontime/internal/latency"
	"pgregory.net/rapid"
)

func TestCountsSkipWhatIsNoNumber(t *testing.T) {
	c := latency.NewCounts(1)
	nan := math.NaN()
	c.Record(nan, 1)
	c.Censor(nan, 1)
	if ended, censored := sum(c.Ended), sum(c.Censored); ended != 0 || censored != 0 {
		t.Errorf("%v ended and %v censored, want none", ended, censored)
	}
}

// Three replicas' histograms, added up, hold what one of all their observations
// would.
func TestMergingEqualsRecordingInOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := latency.New(1, start)
		parts := [3]*latency.Histogram{latency.New(1, start), latency.New(1, start), latency.New(1, start)}
		now := start
		for _, o := range raw(t, true) {
			now = now.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "seconds")) * time.Second)
			part := parts[rapid.IntRange(0, 2).Draw(t, "part")]
			for _, h := range []*latency.Histogram{all, part} {
				if o.censored {
					h.Censor(now, o.v)
				} else {
					h.Record(now, o.v)
				}
			}
		}
		// All have seen the same latest time, so that none still holds apart what
		// another has summed into a minute.
		for range 2 {
			now = now.Add(5 * time.Second)
			for _, h := range append(parts[:], all) {
				h.Record(now, 1)
			}
			all.Record(now, 1)
			all.Record(now, 1)
		}
		fast, slow := folded(all, now)
		var mergedFast, mergedSlow latency.Counts
		for _, h := range parts {
			f, s := folded(h, now)
			mergedFast.Add(f, 1)
			mergedSlow.Add(s, 1)
		}
		if diff := cmp.Diff(fast, &mergedFast, sameCounts...); diff != "" {
			t.Fatalf("fast (-one +merged):\n%s", diff)
		}
		if diff := cmp.Diff(slow, &mergedSlow, sameCounts...); diff != "" {
			t.Fatalf("slow (-one +merged):\n%s", diff)
		}
	})
}

var sameCounts = []cmp.Option{cmpopts.IgnoreUnexported(latency.Counts{}), cmpopts.EquateApprox(1e-9, 1e-12)}

package latency_test

import (
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/ontime-llm/ontime/internal/latency"
	"pgregory.net/rapid"
)

// exact is the Kaplan-Meier curve of the observations themselves, each at its own time,
// as P(X > t) at each time at which some ended. Of what came at the same time those
// that ended go first.
func exact(observations []observation) (times, survival []float64) {
	sorted := slices.Clone(observations)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].v < sorted[j].v })
	s := 1.0
	for i := 0; i < len(sorted); {
		ended, j := 0, i
		for ; j < len(sorted) && sorted[j].v == sorted[i].v; j++ {
			if !sorted[j].censored {
				ended++
			}
		}
		if ended > 0 {
			s *= 1 - float64(ended)/float64(len(sorted)-i)
			times, survival = append(times, sorted[i].v), append(survival, s)
		}
		i = j
	}
	return times, survival
}

// Buckets cost no more than their width. At a bucket's upper bound survival is the exact
// one, or a little more where something was censored inside a bucket in which others
// ended; quantiles are never more than a bucket too early, nor, where no bucket has
// both, too late.
func TestDistIsTheExactKaplanMeierWithinABucket(t *testing.T) {
	bounds := bounds(1)
	const width = 1.0442737824274138
	rapid.Check(t, func(t *rapid.T) {
		observations := raw(t, true)
		separate := rapid.Bool().Draw(t, "no bucket has both")
		if separate {
			kind := make(map[int]bool)
			observations = slices.DeleteFunc(observations, func(o observation) bool {
				i := bucket(bounds, o.v)
				if _, ok := kind[i]; !ok {
					kind[i] = o.censored
				}
				return kind[i] != o.censored
			})
		}
		times, survival := exact(observations)
		at := func(v float64) float64 { // P(X > v), exactly
			s := 1.0
			for i := 0; i < len(times) && times[i] <= v; i++ {
				s = survival[i]
			}
			return s
		}
		d := counts(observations...).Dist()
		for i := range latency.Buckets - 1 {
			got, least := d.Survival(bounds[i+1]), at(bounds[i+1])
			if got < least-1e-9 || separate && got > least+1e-9 {
				t.Fatalf("P(X > %v) = %v, exactly %v", bounds[i+1], got, least)
			}
		}
		q := rapid.Float64Range(0.001, 0.999).Draw(t, "q")
		want := math.Inf(1)
		for i, s := range survival {
			if s <= 1-q {
				want = times[i]
				break
			}
		}
		got := d.Quantile(q)
		if want <= bounds[1] || want > bounds[latency.Buckets-1] {
			return // all that is known there is on which side
		}
		if got < want/width*(1-1e-9) || separate && got > want*width*(1+1e-9) {
			t.Fatalf("quantile %v of %v, exactly %v: not within a bucket", q, got, want)
		}
	})
}

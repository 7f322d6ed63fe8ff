package load

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Change is one figure in two reports.
type Change struct {
	Subject string
	Load    Load
	Figure  string  // such as "TTFT p95"
	Before  float64 // in ms, or a share; +Inf: never
	After   float64
	P       float64 // of a difference like this by chance, all comparisons considered
	Share   bool    // Before and After are shares of the calls
}

// Significance is the P below which a change is none by chance: in 19 of 20 comparisons of
// a thing with itself not one figure has it.
const Significance = 0.05

// Verdict is "noise", "worse" or "better".
func (c Change) Verdict() string {
	switch {
	case c.P >= Significance || c.Before == c.After:
		return "noise"
	case c.After > c.Before:
		return "worse"
	default:
		return "better"
	}
}

// Comparison is what has changed between two reports.
type Comparison struct {
	Before, After Setup
	// Differences are those of how the tests were made: what changed may be of those.
	Differences []string
	// Changes are all figures that both reports have, the least by chance first.
	Changes []Change
	// Unknown is how many percentiles could not be compared, since a report has too few
	// calls, Unmatched the series that only one of them has.
	Unknown   int
	Unmatched []string

	chances bootstrap
}

// Compare holds two reports against each other: each percentile of each metric under each
// load, and the share of calls that failed.
//
// Whether two percentiles differ by chance is tested by the bootstrap: how often, if both
// samples were drawn again from themselves, would the difference have the other sign
// (twice the smaller tail; Efron, Tibshirani: An Introduction to the Bootstrap, chapters
// 13 and 16). Nothing has to be drawn for that: the chance that a resample's quantile is
// the i-th value is a difference of two incomplete beta functions (Maritz, Jarrett 1978,
// J. Am. Stat. Assoc. 73:194; Efron 1979, Ann. Stat. 7:1, section 3), so that P is exact
// and the same every time. Failures are tested by Fisher's exact test. Since many figures
// are compared, some would differ by chance: P is adjusted for that by Holm's method
// (Holm 1979, Scand. J. Stat. 6:65).
//
// Calls of one moment have it in common, which no test of single calls knows: a second in
// which all streams stood still is many calls, and one event. So P is the largest of those
// with any one round of either report left out, where there are several: what a single
// round has is no change. By simulation a figure of equal distributions then has a P below
// 5% in fewer than 4% of the cases, before Holm.
//
// A change that is no noise is one between the two tests: whether it is the subject's, the
// hour's or the network's no test of two samples can tell.
func Compare(before, after *Report) *Comparison {
	c := &Comparison{
		Before: before.Setup, After: after.Setup, Differences: differences(&before.Setup, &after.Setup),
		chances: make(bootstrap),
	}
	for i := range after.Series {
		now := &after.Series[i]
		if old := before.find(now); old != nil {
			c.compare(old, now)
		} else {
			c.Unmatched = append(c.Unmatched, fmt.Sprintf("%s at %v", now.Title(), now.Load))
		}
	}
	for i := range before.Series {
		if old := &before.Series[i]; after.find(old) == nil {
			c.Unmatched = append(c.Unmatched, fmt.Sprintf("%s at %v (before)", old.Title(), old.Load))
		}
	}
	holm(c.Changes)
	slices.SortStableFunc(c.Changes, func(a, b Change) int { return cmp.Compare(a.P, b.P) })
	return c
}

// find is the series of the same subject under the same load.
func (r *Report) find(s *Series) *Series {
	i := slices.IndexFunc(r.Series, func(o Series) bool {
		return o.Subject == s.Subject && o.Routed == s.Routed && o.Load == s.Load
	})
	if i < 0 {
		return nil
	}
	return &r.Series[i]
}

// compared are the metrics that are compared. TTFA is not where it is TTFT, and the ITL is
// the mean of each answer: gaps of one answer are no independent values.
func compared(old, now *Series) []metric {
	all := append(metrics[:len(metrics):len(metrics)], metric{"mean ITL", func(s *Sample) Span { return s.ITL }})
	if withoutThought(old.Samples) && withoutThought(now.Samples) {
		all = slices.DeleteFunc(all, func(m metric) bool { return m.name == "TTFA" })
	}
	return all
}

func (c *Comparison) compare(old, now *Series) {
	for _, m := range compared(old, now) {
		a, b := m.sorted(old.Samples), m.sorted(now.Samples)
		if len(a) == 0 && len(b) == 0 {
			continue
		}
		for _, percentile := range Percentiles {
			q := percentile / 100
			if !enough(len(a), q) || !enough(len(b), q) {
				c.Unknown++
				continue
			}
			c.Changes = append(c.Changes, Change{
				Subject: now.Title(), Load: now.Load, Figure: fmt.Sprintf("%s p%v", m.name, percentile),
				Before: milliseconds(a[rank(len(a), q)-1]), After: milliseconds(b[rank(len(b), q)-1]),
				P: steady(old.Samples, now.Samples, func(old, now []Sample) float64 {
					return c.chances.byChance(m.sorted(old), m.sorted(now), q)
				}),
			})
		}
	}
	if a, b := len(old.Samples), len(now.Samples); a > 0 && b > 0 {
		c.Changes = append(c.Changes, Change{
			Subject: now.Title(), Load: now.Load, Figure: "failed", Share: true,
			Before: float64(failures(old.Samples)) / float64(a), After: float64(failures(now.Samples)) / float64(b),
			P: steady(old.Samples, now.Samples, func(old, now []Sample) float64 {
				return fisher(failures(old), len(old), failures(now), len(now))
			}),
		})
	}
}

// failures counts the calls without an answer.
func failures(samples []Sample) int {
	n := 0
	for i := range samples {
		if !samples[i].answered() {
			n++
		}
	}
	return n
}

func enough(n int, q float64) bool {
	_, _, ok := ranks(n, q)
	return ok
}

func milliseconds(s Span) float64 {
	if s == Never {
		return math.Inf(1)
	}
	return s.ms()
}

// Regressions is how many figures are worse, beyond noise.
func (c *Comparison) Regressions() int {
	n := 0
	for _, change := range c.Changes {
		if change.Verdict() == "worse" {
			n++
		}
	}
	return n
}

// differences are those of the setups that make times differ.
func differences(a, b *Setup) []string {
	var all []string
	for _, d := range []struct {
		what     string
		was, now any
	}{
		{"library", a.Library, b.Library}, {"machine", a.Machine, b.Machine}, {"model", a.Model, b.Model},
		{"prompts", a.Prompts, b.Prompts}, {"output", a.Output, b.Output}, {"stream", a.Stream, b.Stream},
		{"cache-busting", a.Bust, b.Bust}, {"warm-up", a.Warmup, b.Warmup}, {"calls", a.Calls, b.Calls},
		{"rounds", a.Rounds, b.Rounds}, {"timeout", a.Timeout, b.Timeout}, {"seed", a.Seed, b.Seed},
	} {
		if d.was != d.now {
			all = append(all, fmt.Sprintf("%s: %v, was %v", d.what, d.now, d.was))
		}
	}
	return all
}

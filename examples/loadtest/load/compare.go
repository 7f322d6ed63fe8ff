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
// A change that is no noise is one between the two tests: whether it is the subject's, the
// hour's or the network's no test of two samples can tell.
func Compare(before, after *Report) *Comparison {
	c := &Comparison{Before: before.Setup, After: after.Setup, Differences: differences(&before.Setup, &after.Setup)}
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
		a, b := m.values(old.Samples), m.values(now.Samples)
		if len(a) == 0 && len(b) == 0 {
			continue
		}
		slices.Sort(a)
		slices.Sort(b)
		for _, percentile := range Percentiles {
			q := percentile / 100
			if !enough(len(a), q) || !enough(len(b), q) {
				c.Unknown++
				continue
			}
			c.Changes = append(c.Changes, Change{
				Subject: now.Title(), Load: now.Load, Figure: fmt.Sprintf("%s p%v", m.name, percentile),
				Before: milliseconds(a[rank(len(a), q)-1]), After: milliseconds(b[rank(len(b), q)-1]),
				P: byChance(a, b, q),
			})
		}
	}
	if a, b := &old.Totals, &now.Totals; a.Calls > 0 && b.Calls > 0 {
		failed := [2]int{a.Calls - a.Answered, b.Calls - b.Answered}
		c.Changes = append(c.Changes, Change{
			Subject: now.Title(), Load: now.Load, Figure: "failed", Share: true,
			Before: float64(failed[0]) / float64(a.Calls), After: float64(failed[1]) / float64(b.Calls),
			P: fisher(failed[0], a.Calls, failed[1], b.Calls),
		})
	}
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

package load

import (
	"math/rand/v2"
	"slices"
)

const resamples = 1000 // of a bootstrap

// gapFigure is the ITL: percentiles of all gaps of all answers. Gaps of one answer are
// alike, so that they are no independent values, and an interval that took them for that
// would be far too narrow. It is from a bootstrap in which answers are drawn, each with
// all of its gaps (Efron, Tibshirani: An Introduction to the Bootstrap, sections 8.4 and
// 13.3; the percentile interval). A percentile is known where the number of answers
// would do for one of theirs. Values are as exact as [middleware.Gaps]: a quarter too
// long at most.
func gapFigure(all []observation) Figure {
	var answers [][]gap
	for _, o := range all {
		if len(o.gaps) > 0 {
			answers = append(answers, o.gaps)
		}
	}
	f := Figure{Metric: "ITL", Calls: len(answers), Quantiles: make([]Quantile, len(Percentiles))}
	pool := newGapPool(answers)
	chosen := make([]int, len(answers))
	for i := range chosen {
		chosen[i] = i
	}
	everyone := pool.quantiles(chosen)
	luck := rand.New(rand.NewPCG(1, 1)) // the same samples give the same intervals
	var drawn [len(Percentiles)][]Span
	for range resamples {
		for i := range chosen {
			chosen[i] = luck.IntN(len(answers))
		}
		for i, v := range pool.quantiles(chosen) {
			drawn[i] = append(drawn[i], v)
		}
	}
	for i, percentile := range Percentiles {
		f.Quantiles[i].Percentile = percentile
		if _, _, ok := ranks(len(answers), percentile/100); ok {
			f.Quantiles[i] = Quantile{percentile, true, everyone[i], at(drawn[i], (1-Confidence)/2), at(drawn[i], (1+Confidence)/2)}
		}
	}
	return f
}

// gapPool counts gaps in the buckets that occur.
type gapPool struct {
	bounds []Span
	counts [][]gapCount // of each answer
	sum    []int        // scratch
}

type gapCount struct{ bucket, n int }

func newGapPool(answers [][]gap) *gapPool {
	p := &gapPool{counts: make([][]gapCount, len(answers))}
	for _, gaps := range answers {
		for _, g := range gaps {
			p.bounds = append(p.bounds, g.upTo)
		}
	}
	slices.Sort(p.bounds)
	p.bounds = slices.Compact(p.bounds)
	for i, gaps := range answers {
		for _, g := range gaps {
			bucket, _ := slices.BinarySearch(p.bounds, g.upTo)
			p.counts[i] = append(p.counts[i], gapCount{bucket, g.n})
		}
	}
	p.sum = make([]int, len(p.bounds))
	return p
}

// quantiles are the percentiles of all gaps of these answers.
func (p *gapPool) quantiles(answers []int) [len(Percentiles)]Span {
	clear(p.sum)
	all := 0
	for _, answer := range answers {
		for _, c := range p.counts[answer] {
			p.sum[c.bucket] += c.n
			all += c.n
		}
	}
	var values [len(Percentiles)]Span
	seen, i := 0, 0
	for bucket, n := range p.sum {
		for seen += n; i < len(values) && all > 0 && seen >= rank(all, Percentiles[i]/100); i++ {
			values[i] = p.bounds[bucket]
		}
	}
	return values
}

package load

import (
	"cmp"
	"math"
	"slices"
)

// bootstrap tests quantiles. It keeps the weights of samples of each size: a comparison
// asks for the same ones again and again.
type bootstrap map[sizeAt][]float64

type sizeAt struct {
	n int
	q float64
}

// byChance is the bootstrap's P of a difference between the quantiles q of two sorted
// samples. Ties count for both tails, so that a sample and itself have 1.
func (bs bootstrap) byChance(a, b []Span, q float64) float64 {
	ofA, ofB := bs.weights(len(a), q), bs.weights(len(b), q)
	var less, more float64 // b's is at most, at least a's
	var below float64      // weight of a below b[i]
	var until float64      // and up to it
	i, k := 0, 0
	for j, v := range b {
		for ; i < len(a) && a[i] < v; i++ {
			below += ofA[i]
		}
		for ; k < len(a) && a[k] <= v; k++ {
			until += ofA[k]
		}
		more += ofB[j] * until
		less += ofB[j] * (1 - below)
	}
	return min(1, 2*min(less, more))
}

// steady is the largest P of a test of all samples, and of those without any one round of
// either side; once it is noise, no larger one is looked for.
func steady(old, now []Sample, test func(old, now []Sample) float64) float64 {
	p := test(old, now)
	if p >= Significance {
		return p
	}
	for _, rest := range withoutEach(old) {
		p = max(p, test(rest, now))
	}
	for _, rest := range withoutEach(now) {
		p = max(p, test(old, rest))
	}
	return p
}

// withoutEach returns the samples without each of their rounds; none if there is only one.
func withoutEach(samples []Sample) [][]Sample {
	var rounds []int
	for i := range samples {
		if !slices.Contains(rounds, samples[i].Round) {
			rounds = append(rounds, samples[i].Round)
		}
	}
	if len(rounds) < 2 {
		return nil
	}
	all := make([][]Sample, len(rounds))
	for i, round := range rounds {
		all[i] = slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return s.Round == round })
	}
	return all
}

// weights are the chances of each of n sorted values to be the quantile q of n draws from
// them: the rank-th of n uniform values lies in its n-th part.
func (bs bootstrap) weights(n int, q float64) []float64 {
	at := sizeAt{n, q}
	if known, ok := bs[at]; ok {
		return known
	}
	k, size := float64(rank(n, q)), float64(n)
	const far = 12 // standard deviations, beyond which there is nothing
	reach := far * math.Sqrt(k*(size-k+1)/(size+2)) / (size + 1)
	weights := make([]float64, n)
	before := 0.0
	for i := range weights {
		until := 1.0
		switch x := float64(i+1) / size; {
		case x < k/size-reach:
			until = 0
		case x < k/size+reach:
			until = beta(k, size-k+1, x)
		}
		weights[i] = until - before
		before = until
	}
	bs[at] = weights
	return weights
}

// fisher is the two-sided P of Fisher's exact test, of a of m and b of n: all tables with
// these sums that are no more likely than this one.
func fisher(a, m, b, n int) float64 {
	chance := func(x int) float64 {
		return math.Exp(logChoose(m, x) + logChoose(n, a+b-x) - logChoose(m+n, a+b))
	}
	here, sum := chance(a), 0.0
	for x := max(0, a+b-n); x <= min(m, a+b); x++ {
		if p := chance(x); p <= here*(1+1e-7) {
			sum += p
		}
	}
	return min(1, sum)
}

func logChoose(n, k int) float64 {
	return -math.Log(float64(n+1)) - logBeta(float64(k+1), float64(n-k+1))
}

// holm adjusts each P for the number of comparisons: the smallest is multiplied by all of
// them, the next by one less, and none comes below one before it.
func holm(changes []Change) {
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(changes[i].P, changes[j].P) })
	least := 0.0
	for done, i := range order {
		least = max(least, min(1, changes[i].P*float64(len(changes)-done)))
		changes[i].P = least
	}
}

package sim

import "math"

const (
	regimeRounds = 200

	// What is to be used of the allowances: some is kept in reserve for bad luck, and
	// most where calls fail.
	regimeUse   = 0.8
	answeredUse = 0.3
	hedgeUse    = 0.95
	// What cannot be kept is worth no more than this; hedges cost whatever it takes.
	missHighest  = 20
	hedgeHighest = 2000
	// Actions whose prices differ by less, in median costs, share the calls.
	regimeBlur = 0.02
)

// prices are what a whole allowance is worth, in median costs of a call: of the layers
// in their order, and of hedges at last.
type prices []float64

func (p prices) of(e *effectOf, median float64) float64 {
	sum := e.cost / median
	for j := range p {
		sum += p[j] * e.used(j)
	}
	return sum
}

// solve finds the prices at which as much of every allowance is used as is to be, or
// less for nothing. A step grows while its price goes on in one direction, and is halved
// when it turns.
func (o *regime) solve() {
	kinds := o.weigh()
	aims := len(o.layers) + 1
	o.prices = make(prices, aims)
	steps, before := make([]float64, aims), make([]float64, aims)
	for j := range steps {
		steps[j] = 0.1
	}
	for range regimeRounds {
		used := make([]float64, aims)
		for i := range kinds {
			k := &kinds[i]
			o.weights(k.table, func(target int) bool { return k.out>>target&1 != 0 })
			for a, weight := range o.scratch {
				for j := range used {
					used[j] += k.share * weight * k.table[a].used(j)
				}
			}
		}
		for j := range o.prices {
			use, highest := o.aim(j)
			side := 1.0
			if used[j] < use {
				side = -1
			}
			if side == before[j] {
				steps[j] *= 1.2
			} else {
				steps[j] /= 2
			}
			before[j] = side
			o.prices[j] = min(max(0, o.prices[j]+side*steps[j]), highest)
		}
	}
}

// aim is how much of an allowance to use, and what it is worth at most.
func (o *regime) aim(j int) (use, highest float64) {
	switch j {
	case len(o.layers):
		return hedgeUse, hedgeHighest
	case len(o.layers) - 1:
		return answeredUse, missHighest
	}
	return regimeUse, missHighest
}

// weights sets scratch to how likely each action is: the cheapest most, and those that
// cost as much as well. None begins at a target that is full, unless all do.
func (o *regime) weights(table []effectOf, full func(int) bool) {
	least := math.Inf(1)
	for i := range table {
		o.scratch[i] = math.Inf(1)
		if !full(o.actions[i].first) {
			o.scratch[i] = o.prices.of(&table[i], o.median)
		}
		least = min(least, o.scratch[i])
	}
	if math.IsInf(least, 1) {
		o.weights(table, func(int) bool { return false })
		return
	}
	sum := 0.0
	for i, price := range o.scratch {
		o.scratch[i] = math.Exp((least - price) / regimeBlur)
		sum += o.scratch[i]
	}
	for i := range o.scratch {
		o.scratch[i] /= sum
	}
}

package sim

import (
	"slices"
	"time"
)

const (
	regimeDraws  = 40 // for each call of the workload, shared among the kinds
	regimeFewest = 800
	regimeMost   = 6000 // for one kind
)

// effectOf is what an action does with a kind of call, on average.
type effectOf struct {
	miss   []float64 // by layer, as shares of the allowance
	cost   float64   // USD
	hedged float64   // as a share of the allowance
}

// used is the share of an allowance that an action takes.
func (e *effectOf) used(j int) float64 {
	if j < len(e.miss) {
		return e.miss[j]
	}
	return e.hedged
}

// weighted is a kind of call as often as there is one in the workload.
type weighted struct {
	table []effectOf
	out   uint64  // targets that a rate limit takes out, as bits
	share float64 // of the calls
}

// weigh returns the kinds of the workload. A call that meets a rate limit counts as one
// that finds the target full as often as the limit says.
func (o *regime) weigh() []weighted {
	type key struct {
		kind
		out uint64
	}
	calls := o.world.Calls()
	for i := range calls {
		k := o.kindOf(&calls[i], wherever)
		o.examples[k] = append(o.examples[k], &calls[i])
	}
	shares := map[key]int{}
	var order []key // the map's own would make the sums differ from run to run
	for i := range calls {
		c := &calls[i]
		k := key{o.kindOf(c, wherever), o.limited(c)}
		if shares[k]++; shares[k] == 1 {
			order = append(order, k)
		}
	}
	o.samples = min(max(regimeDraws*len(calls)/len(order), regimeFewest), regimeMost)
	var kinds []weighted
	var costs []float64
	for _, k := range order {
		table := o.table(k.kind, nil)
		kinds = append(kinds, weighted{table, k.out, float64(shares[k]) / float64(len(calls))})
		for i := range table {
			costs = append(costs, table[i].cost)
		}
	}
	slices.Sort(costs)
	o.median = max(rank(costs, 0.5), 1e-12)
	return kinds
}

// limited draws which targets a call would find full.
func (o *regime) limited(c *Call) uint64 {
	out, l := uint64(0), luckOf(o.seed, uint64(c.Number), 'f')
	for i := range o.world.sites {
		limit := float64(o.world.limit(i, c.At))
		if limit > 0 && l.uniform() > limit/(o.world.rate*limitWindow.Seconds()) {
			out |= 1 << i
		}
	}
	return out
}

// table returns what every action does with a kind of call, of which c is one if the
// workload's plan has none.
func (o *regime) table(k kind, c *Call) []effectOf {
	if t, ok := o.tables[k]; ok {
		return t
	}
	examples := o.examples[kind{k.moments, k.size, k.shared, wherever}]
	if len(examples) == 0 {
		examples = []*Call{c}
	}
	table := make([]effectOf, len(o.actions))
	for i := range table {
		table[i].miss = make([]float64, len(o.layers))
	}
	for n := range o.samples {
		o.sample(table, k, examples[n%len(examples)], uint64(n))
	}
	o.tables[k] = table
	return table
}

// sample adds one draw of every target to what all actions do.
func (o *regime) sample(table []effectOf, k kind, c *Call, n uint64) {
	replies := make([][2]Reply, len(o.world.sites)) // without the prompt's prefix, and with it
	for i := range replies {
		other := uint64(luckOf(o.seed, k.moments, n))
		replies[i] = [2]Reply{o.world.Sample(c, i, c.At, 0, other), o.world.Sample(c, i, c.At, c.Shared, other)}
	}
	allowance := max(o.world.Budget().HedgeShare(), 1e-9)
	for i, a := range o.actions {
		first, second := &replies[a.first][0], &replies[a.second][0]
		if k.holder == wherever || int(k.holder) == a.first {
			first = &replies[a.first][1]
		}
		if int(k.holder) == a.second {
			second = &replies[a.second][1]
		}
		result := o.world.race(c, a, first, second)
		e := &table[i]
		for j, l := range o.layers {
			if missed(l, &result) {
				e.miss[j] += 1 / (float64(o.samples) * l.Allowed())
			}
		}
		e.cost += result.Cost / float64(o.samples)
		if result.Hedged {
			e.hedged += 1 / (float64(o.samples) * allowance)
		}
	}
}

// race is what becomes of a call under an action, given both replies.
func (w *World) race(c *Call, a action, first, second *Reply) Outcome {
	o := Outcome{Requests: 1}
	dead := never // when first has failed without content
	if first.Failed && first.TTFT == 0 {
		dead = first.Total
	}
	slow := first.TTFT == 0 || first.TTFT > a.delay
	o.Hedged = a.delay > 0 && slow && dead > a.delay
	if !o.Hedged && dead == never {
		o.answer(first, 0)
		o.Cost = w.Cost(c, a.first, first, endOf(first, 0))
		return o
	}
	sent := dead
	if o.Hedged {
		sent = a.delay
	}
	o.Requests = 2
	if second.TTFT > 0 && (first.TTFT == 0 || sent+second.TTFT < first.TTFT) {
		o.answer(second, sent)
		o.Cost = w.Cost(c, a.first, first, min(dead, sent+second.TTFT)) + w.Cost(c, a.second, second, endOf(second, sent))
		return o
	}
	o.answer(first, 0)
	lost := first.TTFT - sent // the second's age when it lost, if first has content
	if first.TTFT == 0 {
		lost = endOf(second, sent)
	}
	o.Cost = w.Cost(c, a.first, first, endOf(first, 0)) + w.Cost(c, a.second, second, lost)
	return o
}

// endOf is the age at which a request is over that is not cancelled.
func endOf(r *Reply, sent time.Duration) time.Duration {
	if r.Total == 0 {
		return Deadline - sent
	}
	return min(r.Total, Deadline-sent)
}

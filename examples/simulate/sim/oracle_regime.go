package sim

import (
	"math/bits"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Regime returns the oracle that knows every target's true distribution at this moment,
// and the whole workload, but not the luck of a request. It keeps each layer in
// expectation, with some of the allowance in reserve, at the least cost, and doubles no
// more calls than the budget allows, one other request each.
//
// For every kind of call (the moments of the targets, the size of the prompt, how much of
// it a target may have) it knows what each action does: whom to send it first, to whom
// next (when the first fails, or as a hedge), and when to hedge. What a miss of a layer
// and a hedge are worth are prices, at which the workload as a whole uses no more of each
// allowance than it is to.
func Regime(w *World, seed uint64) (Policy, *Hedge) {
	o := &regime{
		world: w, layers: promises(w.Budget()), seed: seed,
		tables: map[kind][]effectOf{}, examples: map[kind][]*Call{}, chosen: map[int]action{},
		counts: make([]taken, len(w.sites)), holds: map[int]holding{},
	}
	o.actions = o.allActions()
	o.scratch = make([]float64, len(o.actions))
	o.solve()
	return o, &Hedge{
		Delay: func(_ time.Duration, c *Call, _ int) time.Duration { return o.hedgeAfter(c) },
		Second: func(_ time.Duration, c *Call, _ int) int {
			o.hedges++
			return o.chosen[c.Number].second
		},
	}
}

type regime struct {
	patient
	world    *World
	layers   []budget.Layer
	seed     uint64
	actions  []action
	examples map[kind][]*Call // calls of each kind
	tables   map[kind][]effectOf
	samples  int // of each kind
	prices   prices
	median   float64   // cost, the unit of all costs
	scratch  []float64 // one for each action

	chosen map[int]action // of the calls under way
	counts []taken        // requests of the window of a rate limit, by target
	holds  map[int]holding
	hedges int
}

// regimeBurst is how many hedges more than the allowance there may be at any time.
const regimeBurst = 20

// action is what to do with a call.
type action struct {
	first, second int
	delay         time.Duration // 0: second only if first fails
}

// kind is what calls have in common for which an action does the same.
type kind struct {
	moments      uint64 // of all targets
	size, shared uint8  // of the prompt, and of what the conversation had
	holder       int8   // the target that has it; wherever: whoever is asked first
}

const wherever = -1

// holding is who has the prompt of a conversation.
type holding struct {
	target int
	until  time.Duration
}

// allActions are all ordered pairs of targets with no hedge, and with one after some
// shares of each limit of a TTFT layer.
func (o *regime) allActions() []action {
	delays := []time.Duration{0}
	for _, l := range o.layers {
		if l.Metric == budget.TTFT && o.world.Budget().HedgeShare() > 0 {
			delays = append(delays, l.Limit*2/5, l.Limit*7/10)
		}
	}
	var all []action
	for first := range o.world.sites {
		for second := range o.world.sites {
			if first == second {
				continue
			}
			for _, d := range delays {
				all = append(all, action{first, second, d})
			}
		}
	}
	return all
}

func (o *regime) kindOf(c *Call, holder int8) kind {
	var l luck
	for i := range o.world.sites {
		l = luckOf(uint64(l), o.world.Moment(i, c.At))
	}
	k := kind{moments: uint64(l), size: sizeClass(c.Prompt), shared: sizeClass(c.Shared), holder: holder}
	if c.Shared == 0 {
		k.shared, k.holder = 0, wherever
	}
	return k
}

// sizeClass tells octaves of tokens apart, from 1024 on: 60 ms of prefill.
func sizeClass(tokens int) uint8 { return uint8(bits.Len(uint(tokens / 1024))) }

func (o *regime) First(now time.Duration, c *Call) int {
	holder := int8(wherever)
	if h, ok := o.holds[c.Conversation]; ok && now < h.until {
		holder = int8(h.target)
	}
	o.weights(o.table(o.kindOf(c, holder), c), func(target int) bool { return o.full(target, now) })
	l := luckOf(o.seed, uint64(c.Number), 'p')
	a := o.actions[0]
	for i, at := 0, l.uniform(); i < len(o.scratch) && at >= 0; i++ {
		a = o.actions[i]
		at -= o.scratch[i]
	}
	o.chosen[c.Number] = a
	return a.first
}

// hedgeAfter sees to it that what cannot be kept is not hedged beyond the allowance.
func (o *regime) hedgeAfter(c *Call) time.Duration {
	if float64(o.hedges) > o.world.Budget().HedgeShare()*float64(c.Number)+regimeBurst {
		return 0
	}
	return o.chosen[c.Number].delay
}

func (o *regime) Next(_ time.Duration, c *Call, tried []int) int {
	order := []int{o.chosen[c.Number].second}
	for i := range o.world.sites {
		order = append(order, i)
	}
	return nextInOrder(order, tried)
}

// full reports whether a target would refuse a request because of its rate limit.
func (o *regime) full(target int, now time.Duration) bool {
	limit := o.world.limit(target, now)
	n := &o.counts[target]
	return limit > 0 && n.from == now.Truncate(limitWindow) && n.n >= limit
}

func (o *regime) Sent(now time.Duration, c *Call, target int) {
	n := &o.counts[target]
	if from := now.Truncate(limitWindow); from != n.from {
		*n = taken{from: from}
	}
	n.n++
	if c.Conversation != 0 {
		o.holds[c.Conversation] = holding{target, now + cacheTime}
	}
}

func (*regime) Heard(time.Duration, *Call, Seen) {}

func (o *regime) Ended(_ time.Duration, c *Call, s Seen) {
	if !s.Failed && !s.Gone {
		delete(o.chosen, c.Number)
	}
}

// taken is how many requests were sent in a window of a rate limit.
type taken struct {
	from time.Duration
	n    int
}

package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Setting is what a rival has to work with: what its user knows and would have
// configured.
type Setting struct {
	Targets []Target      // in order of preference
	Budget  budget.Budget // thresholds and timeouts follow from its layers
	Seed    uint64
}

// lastLimit returns the limit of the tightest promise about TTFT, that of the
// highest percentile: a call without content by then has broken it. With no
// promise it is the 3 s of TensorZero's own example.
func (s Setting) lastLimit() time.Duration {
	limit, top := 3*time.Second, 0.0
	for percentile, l := range s.Budget.TTFT {
		if percentile > top {
			limit, top = l, percentile
		}
	}
	return limit
}

func (s Setting) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, stream)) }

// Rival is one way to send calls, to be compared with ours.
type Rival struct {
	Name   string
	Hedges bool
	// Make returns a policy that has seen nothing yet, and how calls are doubled;
	// nil: not at all.
	Make func(Setting) (Policy, *Hedge)
}

var peers = []struct {
	name string
	make func(Setting) Policy
}{
	{"single", func(Setting) Policy { return single{} }},
	{"failover", func(s Setting) Policy { return failover{targets: len(s.Targets)} }},
	{"round robin", func(s Setting) Policy { return &roundRobin{targets: len(s.Targets)} }},
	{"litellm", newLiteLLM},
	{"helicone", newHelicone},
	{"kong tpot", func(s Setting) Policy { return newKong(s, perToken) }},
	{"kong e2e", func(s Setting) Policy { return newKong(s, endToEnd) }},
	{"openrouter", newOpenRouter},
	{"tensorzero", newTensorZero},
	{"bifrost", newBifrost},
}

// Rivals returns every peer three times: without hedges, with a hedge at the p95 that
// ends at headers, and with one that ends at content.
func Rivals() []Rival {
	var all []Rival
	for _, p := range peers {
		all = append(all,
			Rival{Name: p.name, Make: func(s Setting) (Policy, *Hedge) { return p.make(s), nil }},
			Rival{Name: p.name + " +hedge@headers", Hedges: true, Make: func(s Setting) (Policy, *Hedge) { return hedged(p.make(s), true) }},
			Rival{Name: p.name + " +hedge@content", Hedges: true, Make: func(s Setting) (Policy, *Hedge) { return hedged(p.make(s), false) }},
		)
	}
	return all
}

// patient is the part of a policy that gives nothing up.
type patient struct{}

func (patient) Patience(*Call, int) time.Duration { return 0 }

// deaf is the part of a policy that learns nothing.
type deaf struct{}

func (deaf) Sent(time.Duration, *Call, int)   {}
func (deaf) Heard(time.Duration, *Call, Seen) {}
func (deaf) Ended(time.Duration, *Call, Seen) {}

// leastOf returns the target from 0 to n-1 with the least score, a random one of
// those that share it. A score of +Inf takes a target out; -1: all are out.
func leastOf(n int, rng *rand.Rand, score func(target int) float64) int {
	best, least, equal := -1, math.Inf(1), 0
	for i := range n {
		s := score(i)
		switch {
		case s < least:
			best, least, equal = i, s, 1
		case s == least && best >= 0:
			equal++
			if rng.IntN(equal) == 0 {
				best = i
			}
		}
	}
	return best
}

// without is score for the targets that a call has not been sent to.
func without(tried []int, score func(int) float64) func(int) float64 {
	return func(i int) float64 {
		if slices.Contains(tried, i) {
			return math.Inf(1)
		}
		return score(i)
	}
}

// drawOf returns a random target from 0 to n-1 in proportion to its weight; -1: none
// has any.
func drawOf(n int, rng *rand.Rand, weight func(target int) float64) int {
	sum := 0.0
	for i := range n {
		sum += weight(i)
	}
	last := -1
	for i, at := 0, rng.Float64()*sum; i < n; i++ {
		w := weight(i)
		if w == 0 {
			continue
		}
		if last = i; at < w {
			break
		}
		at -= w
	}
	return last
}

// nextInOrder returns the first target of an order that has not been tried, -1 if
// there is none.
func nextInOrder(order, tried []int) int {
	for _, i := range order {
		if !slices.Contains(tried, i) {
			return i
		}
	}
	return -1
}

// ended is one request in a sliding window.
type ended struct {
	at     time.Duration // since the start of the run
	failed bool
	ttft   time.Duration
	tpot   time.Duration
}

// recent keeps the requests of the last while, oldest first.
type recent struct {
	span time.Duration
	all  []ended
}

func (r *recent) add(e ended) { r.all = append(r.all, e) }

// since returns those that ended in the last span, and forgets those that ended
// before the window's own.
func (r *recent) since(now, span time.Duration) []ended {
	drop := 0
	for drop < len(r.all) && r.all[drop].at <= now-r.span {
		drop++
	}
	r.all = slices.Delete(r.all, 0, drop)
	from := 0
	for from < len(r.all) && r.all[from].at <= now-span {
		from++
	}
	return r.all[from:]
}

// failures returns the share of those that failed, 0 of none.
func failures(of []ended) float64 {
	n := 0
	for _, e := range of {
		if e.failed {
			n++
		}
	}
	return float64(n) / float64(max(len(of), 1))
}

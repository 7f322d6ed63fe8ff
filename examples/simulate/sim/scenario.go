package sim

import (
	"fmt"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Scenario is what happens in a run: who is in trouble from when to when, what is
// asked, and what was promised. It is plain data.
type Scenario struct {
	Name  string // as -scenario has it
	Words string // what happens, in one line

	Troubles []Trouble
	Load     Load
	Budget   budget.Budget // layers alone; the zero value: Usual
}

// Trouble is an effect on some targets for a while. Troubles of one target do not
// overlap.
type Trouble struct {
	Who         Who
	From, Until float64 // as shares of the run
	// Every makes it come and go: on for so long, off for as long, as a share of the
	// run. 0: it stays.
	Every float64
	// Drift makes Effect.Slow grow evenly from 1 to its value until the middle of the
	// time, and fall back after it.
	Drift bool
	Effect
}

// Who is struck, by the places of the targets in their list.
type Who int

// The first target is the cheapest, the third the one with the shortest tail.
const (
	Cheapest  Who = 0
	Steadiest Who = 2
	Provider  Who = -1 // all targets of the cheapest one's provider
	Everyone  Who = -2
)

// Effect is what a trouble does to a request that is sent while it lasts. The zero
// value does nothing.
type Effect struct {
	Share  float64       // of the requests that it strikes; 0: all
	Slow   float64       // times as long to the first token; 0: 1
	Pace   float64       // times as long for each token after it; 0: 1
	Status int           // is answered with this error, at once
	Hang   bool          // no content ever comes
	Cut    bool          // the stream ends in the middle
	Stall  time.Duration // the stream pauses in the middle
	// Limit refuses with 429 whatever is above this share of the calls of the whole
	// workload, counted in windows of ten seconds. 0: nothing. Share does not concern it.
	Limit float64
}

// Load changes what is asked.
type Load struct {
	Even bool // arrivals are Poisson; else they come in bursts

	// A share of the calls of a part of the run has prompts of so many tokens.
	LongFrom, LongUntil, LongShare float64
	Long                           int

	// Conversations is the share of the calls that go on with an earlier one, so that
	// their prompt begins with what that call has had.
	Conversations float64
}

const ms = time.Millisecond

// Usual is what is promised where a scenario does not say. In calm one of the built-in
// targets keeps all of it, and the cheapest two miss p95 or p99 when left alone.
var Usual = budget.Budget{TTFT: budget.Layers{50: 700 * ms, 95: 1200 * ms, 99: 2500 * ms}}

func (t *Trouble) strikes(sites []site, target int) bool {
	switch t.Who {
	case Everyone:
		return true
	case Provider:
		return sites[target].Provider == sites[Cheapest].Provider
	}
	return target == min(int(t.Who), len(sites)-1)
}

// Promise returns the budget of the scenario.
func (s *Scenario) Promise() budget.Budget {
	if len(s.Budget.Layers()) == 0 {
		return Usual
	}
	return s.Budget
}

// Find returns the scenario of that name.
func Find(name string) (Scenario, error) {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, nil
		}
	}
	return Scenario{}, fmt.Errorf("there is no scenario %q", name)
}

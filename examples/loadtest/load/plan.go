package load

import (
	"errors"
	"fmt"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Plan is a load test: all that it is made of.
type Plan struct {
	// Subjects are put under load, one at a time. At least one; the names of direct ones
	// differ, and those of routed ones.
	Subjects []*Subject
	// Loads are the steps of the sweep, at least one.
	Loads []Load
	// Calls of each subject under each load in each of Rounds. Both at least 1.
	Calls, Rounds int
	// Warmup is how many calls are made before each series, and not counted, so that
	// connections are there. Negative: as many as there are streams, 4 at a rate.
	Warmup int
	// Prompts are what is asked, and Output how many tokens an answer may have.
	Prompts *Prompts
	Output  int
	// Stream asks for streams. Without them there is no TTFT, TTFA, TPOT and ITL.
	Stream bool
	// Bust makes every prompt begin with something of its own, so that no provider has
	// it in its cache.
	Bust bool
	// Extra are members of each request besides, such as "ignore_eos": true.
	Extra map[string]any
	// Timeout is after how long a call is given up: it then has never come. 0: two
	// minutes.
	Timeout time.Duration
	// Budget is what the figures are held against. With no layers there is no goodput.
	Budget budget.Budget
	// Seed decides when calls arrive.
	Seed uint64
}

const defaultTimeout = 2 * time.Minute

func (p *Plan) check() error {
	var found []error
	wrong := func(bad bool, text string) {
		if bad {
			found = append(found, errors.New(text))
		}
	}
	wrong(len(p.Subjects) == 0, "there is nothing to test: name a target or an endpoint")
	wrong(len(p.Loads) == 0, "there is no load: name a concurrency or a rate")
	wrong(p.Calls < 1 || p.Rounds < 1, "calls and rounds are at least 1")
	wrong(p.Output < 1, "the answer has to have at least one token")
	wrong(p.Prompts == nil, "there is no prompt")
	wrong(p.Timeout < 0, "the timeout is below 0")
	for _, l := range p.Loads {
		wrong((l.Concurrency > 0) == (l.Rate > 0), "a load is a concurrency or a rate, above 0")
	}
	names := make(map[string]bool)
	for _, s := range p.Subjects {
		wrong(names[s.String()], fmt.Sprintf("%v is there twice", s))
		names[s.String()] = true
	}
	return errors.Join(found...)
}

// Volume is what a plan sends.
type Volume struct {
	Calls         int // warm-up included; hedges and retries are not
	Input, Output int // tokens: about, and at most
}

// Volume says what the plan will send.
func (p *Plan) Volume() Volume {
	var v Volume
	for _, l := range p.Loads {
		v.Calls += len(p.Subjects) * p.Rounds * (p.Calls + p.warmup(l))
	}
	v.Input, v.Output = v.Calls*p.Prompts.tokens, v.Calls*p.Output
	return v
}

func (p *Plan) warmup(l Load) int {
	switch {
	case p.Warmup >= 0:
		return p.Warmup
	case l.Open():
		return 4
	default:
		return l.Concurrency
	}
}

func (p *Plan) timeout() time.Duration {
	if p.Timeout == 0 {
		return defaultTimeout
	}
	return p.Timeout
}

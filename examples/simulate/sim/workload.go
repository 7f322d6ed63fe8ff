package sim

import (
	"math"
	"time"
)

// Tokens of prompts and answers: lognormal, fitted to the chat traces of
// Azure/AzurePublicDataset (2023) and kvcache-ai/Mooncake.
const (
	promptMu, promptSigma = 6.63, 0.99
	outputMu, outputSigma = 5.02, 0.86
	maxPrompt, maxOutput  = 32000, 1024
	minPrompt, minOutput  = 16, 4
	// Arrivals of hosted services have a coefficient of variation of 1.2 to 2.0 in the
	// median hour; 1 would be Poisson.
	arrivalCV = 1.5
	// A conversation goes on after about so long, and has so many calls on average.
	thinking = 30 * time.Second
	turns    = 6
	minOpen  = 4
)

// workload makes the calls of a run.
func (w *World) workload(t *Trace) []Call {
	n := int(math.Round(w.rate * w.length.Seconds()))
	calls := make([]Call, n)
	next := w.asking(t)
	open := conversations{
		share: w.scenario.Load.Conversations, luck: luckOf(w.seed, 't', 'a', 'l'),
		most: max(minOpen, int(w.rate*thinking.Seconds())),
	}
	at, long := 0.0, luckOf(w.seed, 'l', 'o', 'n')
	for i := range calls {
		a := next()
		at += a.gap / w.rate
		c := &calls[i]
		c.Number, c.At = i, time.Duration(at*float64(time.Second))
		c.Prompt = min(max(a.prompt, minPrompt), maxPrompt)
		c.Output = min(max(a.output, minOutput), maxOutput)
		w.lengthen(c, &long)
		open.join(c)
	}
	return calls
}

// asking returns what gives the calls, one after the other.
func (w *World) asking(t *Trace) func() ask {
	l := luckOf(w.seed, 'a', 's', 'k')
	if t == nil || len(t.asked) == 0 {
		return func() ask { return w.ask(&l) }
	}
	i := l.next() % uint64(len(t.asked)) // each seed begins elsewhere
	return func() ask {
		i = (i + 1) % uint64(len(t.asked))
		return t.asked[i]
	}
}

func (w *World) ask(l *luck) ask {
	var a ask
	if w.scenario.Load.Even {
		a.gap = l.exponential()
	} else {
		a.gap = l.gamma(1 / (arrivalCV * arrivalCV))
	}
	p, o := l.normals()
	a.prompt = int(math.Exp(promptMu + promptSigma*p))
	a.output = int(math.Exp(outputMu + outputSigma*o))
	return a
}

func (w *World) lengthen(c *Call, l *luck) {
	load := &w.scenario.Load
	when := c.At.Seconds() / w.length.Seconds()
	if load.LongFrom <= when && when < load.LongUntil && l.uniform() < load.LongShare {
		c.Prompt = load.Long
	}
}

// conversations are those that calls may go on with.
type conversations struct {
	share float64
	luck  luck
	most  int    // at once
	open  []Call // the last call of each
	last  int    // number of the latest
}

// join makes a call go on with a conversation, or begin one.
func (s *conversations) join(c *Call) {
	if s.share == 0 {
		return
	}
	if len(s.open) < s.most/2 || s.luck.uniform() >= s.share {
		s.last++
		c.Conversation = s.last
		s.open = append(s.open, *c)
		if len(s.open) > s.most {
			s.open = s.open[1:]
		}
		return
	}
	i := int(s.luck.next() % uint64(len(s.open)))
	before := &s.open[i]
	c.Conversation, c.Shared = before.Conversation, before.Prompt
	c.Prompt = min(maxPrompt, before.Prompt+before.Output+c.Prompt/4)
	c.Shared = min(c.Shared, c.Prompt)
	*before = *c
	if s.luck.uniform() < 1.0/turns {
		s.open = append(s.open[:i], s.open[i+1:]...)
	}
}

package upstream

import (
	"math"
	"time"
)

// never is an age that no request reaches.
const never = time.Duration(math.MaxInt64)

// answer is one good answer, or what there was to be of it before a fault. All ages are counted from the request's arrival.
type answer struct {
	call
	behaviour *Behaviour
	name, id  string
	created   int64
	cached    int // tokens of the prompt

	reasoning, output int    // tokens, per choice
	finish            string // "stop" or "length"

	headers time.Duration // age
	token   time.Duration // age of the first generated token, hidden reasoning included
	pace    time.Duration

	fault  Fault
	events int // content events before a fault midway; until planned as in Step

	sequence int // of a responses stream: the next event's number
}

// plan fixes the answer's times and lengths.
func (a *answer) plan(l luck, slow Slow, load float64) {
	b := a.behaviour
	ttft, pace := slow.factors(l.slow)
	a.token = scale(b.TTFT.sample(b.Prefill*time.Duration(a.prompt.tokens-a.cached), l.ttft, l.straggler), ttft*load)
	a.pace = scale(b.Pace.sample(0, l.pace, l.slowPace), pace*load)
	a.reasoning, a.output, a.finish = b.Reasoning, b.Output.sample(l.output), "stop"
	if over := a.reasoning + a.output - a.cap; a.cap > 0 && over > 0 && !b.IgnoreCap {
		a.finish = "length"
		a.output = max(0, a.output-over)
		a.reasoning = min(a.reasoning, a.cap)
	}
	if _, ok := a.format.(streamFormat); !ok {
		a.reasoning, a.output = 0, 0
	}
	switch late := l.early >= b.EarlyHeaders; {
	case late && a.fault == Hang:
		a.headers = never
	case late && a.streams():
		a.headers = a.due(0)
	case late:
		a.headers = a.end()
	}
	if a.events == 0 {
		a.events = 1 + int(l.where*float64(a.count()-1))
	}
	a.events = min(max(0, a.events), a.count())
}

// streams tells whether the answer is an event stream.
func (a *answer) streams() bool {
	_, ok := a.format.(streamFormat)
	return ok && a.stream && !a.behaviour.NoStream
}

// shown is how many reasoning tokens are streamed.
func (a *answer) shown() int {
	if a.behaviour.ShowReasoning {
		return a.reasoning
	}
	return 0
}

func (a *answer) perEvent() int { return orElse(a.behaviour.TokensPerEvent, 1) }

// count is the number of content events. No event holds both reasoning and answer.
func (a *answer) count() int {
	n := a.perEvent()
	return (a.shown()+n-1)/n + (a.output+n-1)/n
}

// delta is the content of an event: some tokens of the reasoning or of the answer.
type delta struct {
	reasoning bool
	from, to  int // half open, counted from the start of the reasoning or of the answer
}

// delta returns the content of event i.
func (a *answer) delta(i int) delta {
	n, shown := a.perEvent(), a.shown()
	if from := i * n; from < shown {
		return delta{true, from, min(from+n, shown)}
	}
	from := (i - (shown+n-1)/n) * n
	return delta{false, from, min(from+n, a.output)}
}

// streamed is the number of tokens in the content events up to and with event i.
func (a *answer) streamed(i int) int {
	d := a.delta(i)
	if d.reasoning {
		return d.to
	}
	return a.shown() + d.to
}

// due is the age at which content event i can be read: a burst comes when its last token has been generated, but the first event
// alone and at once, whatever it holds.
func (a *answer) due(i int) time.Duration {
	first := a.token + a.pace*time.Duration(a.reasoning-a.shown())
	if i == 0 || a.count() == 0 {
		return first
	}
	burst := orElse(a.behaviour.EventsPerBurst, 1)
	last := min((i-1)/burst*burst+burst, a.count()-1)
	return first + a.pace*time.Duration(a.streamed(last)-a.streamed(0))
}

// end is the age at which the answer is complete.
func (a *answer) end() time.Duration { return a.due(max(0, a.count()-1)) }

// generated is the number of tokens that the model has made at an age. No fault stops the model.
func (a *answer) generated(age time.Duration) int {
	all := a.reasoning + a.output
	switch {
	case age < a.token:
		return 0
	case age < a.end():
		all = min(all, a.perEvent()+int((age-a.token)/a.pace))
	}
	return all * a.choices
}

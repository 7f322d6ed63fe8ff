package router

import (
	"fmt"
	"math"

	"github.com/ontime-llm/ontime/budget"
)

// between formats the interval of a time.
func (e estimate) between() string {
	return fmt.Sprintf("(95%%: %s to %s)", inWords(e.low), inWords(e.high))
}

// percent formats a share with its interval.
func (e estimate) percent() string {
	return fmt.Sprintf("%.3g%% (95%%: %s to %s)", 100*e.value, inPercent(e.low), inPercent(e.high))
}

// inPercent formats a share to two digits, such as "0.71%", and what is nearly all as
// "100%".
func inPercent(share float64) string {
	switch p := 100 * share; {
	case p >= 99.5:
		return "100%"
	case p < 0.0001: // %g would write it with an exponent, as it would 100
		return "0%"
	default:
		return fmt.Sprintf("%.2g%%", p)
	}
}

// cuts are how many answers a token cap has ended, how many of them before they had
// begun, and of how many calls.
type cuts struct{ cut, starved, calls uint64 }

func (e *endpoint) cuts() (n cuts) {
	n.cut, n.starved = e.ledger.Truncated()
	n.calls = e.ledger.Status()[e.answered()].Calls
	return n
}

// adviseCuts looks at answers that their cap has ended. One that was cut is reckoned as
// a call for nothing, to be made again.
func (c *counsel) adviseCuts() {
	e := c.endpoint
	n := e.cuts()
	cut, starved, calls := n.cut-e.former.cut, n.starved-e.former.starved, n.calls-e.former.calls
	total := middleOf(c.calls, func(h *habit) float64 { return float64(h.total) }).value
	add := func(share estimate, text string) {
		c.advice = append(c.advice, weighedAdvice{
			Advice{Kind: AdviceCap, Text: text, Calls: int(calls)}, share.value * total,
		})
	}
	if calls < leastCalls || cut > calls {
		return
	}
	share := shareOf(float64(starved), float64(calls))
	if starved >= leastCut && share.low > e.answeredAllowed {
		add(share, fmt.Sprintf("Of %d calls %s got no answer since reasoning had used up the token cap: raise it, or have less reasoning.",
			calls, share.percent()))
	}
	share = shareOf(float64(cut-starved), float64(calls))
	if cut-starved >= leastCut && share.low > leastCutShare {
		add(share, fmt.Sprintf("Of %d calls %s got an answer that the token cap cut off: raise it, or ask for shorter answers.",
			calls, share.percent()))
	}
}

// adviseStream looks at what callers of whole answers would wait for the first token.
// If the endpoint promises the end alone nobody looks at the beginning.
func (c *counsel) adviseStream(whole []habit) {
	e := c.endpoint
	if len(e.totals) > 0 && e.limit(budget.TTFT) == 0 {
		return
	}
	takes := middleOf(whole, func(h *habit) float64 { return float64(h.total) })
	rest := writing(whole)
	saves, n := medianFor(whole, rest)
	first := takes.value - saves.value
	c.add(AdviceStream, fmt.Sprintf(
		"%d of the latest %d calls were not streamed and took %s at the median; streamed, they would show their first words about %s %s sooner, after %s.",
		len(whole), len(c.calls), inWords(takes.value), inWords(saves.value), saves.between(), inWords(max(first, 0)),
	), saves, n, budget.TTFT, takes.value)
}

// writing returns how long each of some whole answers took after its first token, as
// far as can be told from how their time goes with their length. Of a model that reasons
// it cannot: how many of the tokens were shown is not known.
func writing(whole []habit) func(*habit) (estimate, bool) {
	var points []sample
	for _, h := range whole {
		if !h.thinks {
			points = append(points, sample{tokens: h.output, seconds: h.total})
		}
	}
	pace := slopeOf(points)
	return func(h *habit) (estimate, bool) { return pace.scaled(float64(h.output) - 1), !h.thinks }
}

// advisePrompt looks at what half the prompt would save those calls of whose routes it is
// known what a token adds.
func (c *counsel) advisePrompt() {
	var known []habit
	var slopes []estimate
	for i := range c.kind {
		if slope, ok := c.slope(&c.kind[i], math.Inf(1)); ok {
			known, slopes = append(known, c.kind[i]), append(slopes, slope)
		}
	}
	tokens := middleOf(known, (*habit).uncached).value
	saves, n := medianFor(known, func(h *habit) (estimate, bool) {
		slope, ok := c.slope(h, tokens/2)
		return slope.scaled(h.uncached() / 2), ok
	})
	takes := middleOf(known, c.time)
	c.add(AdvicePrompt, fmt.Sprintf(
		"Prompts have %.0f uncached tokens at the median, and each 1000 of them add %s to the time to the first token: half as many would save %s %s of %s.",
		tokens, inWords(1000*medianOf(slopes).value), inWords(saves.value), saves.between(), inWords(takes.value),
	), saves, n, c.metric(), takes.value)
}

// slope returns what each uncached token adds on the route of a call, if that is known
// to be something, and known of prompts down to so many tokens: what a shorter one takes
// is not told by longer ones.
func (c *counsel) slope(h *habit, tokens float64) (estimate, bool) {
	o := c.routes[h.route]
	if o == nil || h.prompt == 0 {
		return estimate{}, false
	}
	r := o.reads()
	return r.perToken, r.perToken.sure() && tokens >= r.shortest
}

// again returns how many tokens were read that should have been cached.
func (h *habit) again() float64 { return float64(h.due - h.cached) }

// adviseCache looks at prompts that begin as one did that the same route had read
// within 5 minutes, of which half or more was read again. How prompts are put together
// is not at fault: their beginnings are known to be the same.
func (c *counsel) adviseCache() {
	due := 0
	var missed []habit
	for _, h := range c.kind {
		if h.due > 0 {
			due++
			if h.again() >= float64(h.due)/2 {
				missed = append(missed, h)
			}
		}
	}
	rest := middleOf(missed, func(h *habit) float64 { return h.uncached() - h.again() }).value
	saves, n := medianFor(missed, func(h *habit) (estimate, bool) {
		slope, ok := c.slope(h, rest)
		return slope.scaled(h.again()), ok
	})
	takes := middleOf(missed, c.time)
	c.add(AdviceCache, fmt.Sprintf(
		"Of %d prompts that began like one of the 5 minutes before %s were not found in the provider's cache, and each of them read %.0f tokens again at the median, for %s %s: their beginnings did not change, so see whether it caches this model, and whether it has to be asked to.",
		due, shareOf(float64(len(missed)), float64(due)).percent(), middleOf(missed, (*habit).again).value, inWords(saves.value), saves.between(),
	), saves, n, c.metric(), takes.value)
}

// adviseLength looks at what half the answer would save where the end is what counts.
func (c *counsel) adviseLength() {
	if c.streamed && len(c.endpoint.totals) == 0 {
		return
	}
	rest := func(h *habit) (estimate, bool) { return exactly(float64(h.total - h.ttft)), h.ttft > 0 }
	if !c.streamed {
		rest = writing(c.kind)
	}
	writing, n := medianFor(c.kind, rest)
	takes := middleOf(c.kind, func(h *habit) float64 { return float64(h.total) })
	if writing.value < takes.value/2 {
		return
	}
	tokens := middleOf(c.kind, func(h *habit) float64 { return float64(h.output) })
	saves := writing.scaled(0.5)
	c.add(AdviceCap, fmt.Sprintf(
		"Writing an answer takes %s of %s at the median, for %.0f tokens: half as many, by a lower cap or a request to be brief, would save %s %s.",
		inWords(writing.value), inWords(takes.value), tokens.value, inWords(saves.value), saves.between(),
	), saves, n, budget.Total, takes.value)
}

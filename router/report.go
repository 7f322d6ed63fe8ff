package router

import (
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Report is what an attempt came to. Zero durations and counts are not known.
type Report struct {
	Flight  *Flight
	Outcome Outcome // if 0, Completed
	// Elapsed is the time from the start of the attempt to its end, however it
	// ended. If 0, it is taken to end now.
	Elapsed time.Duration
	// TTFT is the time to the first content, for attempts that were not told of
	// by [Flight.Content]. TPOT is the time per output token after it.
	TTFT, TPOT time.Duration
	// Total is the time to the last content or terminal event. If 0, Elapsed.
	Total time.Duration
	// PromptTokens includes CachedTokens. OutputTokens are all that were
	// generated, ReasoningTokens those of them that are no part of the answer.
	PromptTokens, CachedTokens, OutputTokens, ReasoningTokens int
	// ServedModel is the model that the provider says it answered with. Of one that is
	// longer than 128 bytes the beginning counts; what has other characters than
	// [A-Za-z0-9._:/@-] is left out. May be empty.
	ServedModel string

	// Cause says why an attempt Failed; with other outcomes it has no meaning. What
	// is not the route's own failure is counted as failed, and teaches nothing of
	// its times.
	Cause Cause
	// Reason is a few words on a failure for events and snapshots, such as "401
	// invalid_api_key". It must hold no secret. May be empty.
	Reason string
	// RetryAfter is for how long the provider asks to be left alone, after a 429 or a failure
	// of the route; 0: it did not say.
	RetryAfter time.Duration
	// Requests and Tokens are what is left of the provider's limits for this key,
	// as of the response, whatever its status.
	Requests, Tokens Headroom
}

// fails tells whether the attempt is a failure of the given cause.
func (rep *Report) fails(c Cause) bool { return rep.Outcome == Failed && rep.Cause == c }

// blameless tells whether an attempt says nothing about its route.
func (rep *Report) blameless() bool { return rep.Outcome == Failed && rep.Cause != CauseRoute }

func (rep *Report) why(otherwise string) string {
	if rep.Reason != "" {
		return rep.Reason
	}
	return otherwise
}

// Report tells what an attempt came to. Only the first report of a flight counts.
func (r *Router) Report(rep Report) {
	f := rep.Flight
	if f == nil {
		return
	}
	if rep.Outcome == 0 {
		rep.Outcome = Completed
	}
	if rep.TTFT > 0 {
		f.Content(rep.TTFT)
	}
	now := time.Now()
	if rep.Elapsed <= 0 {
		rep.Elapsed = now.Sub(f.start)
	}
	landed := f.land(now, &rep)
	if !landed.first {
		return
	}
	if !f.hasContent {
		f.pairOff(&rep, now)
	}
	f.teach(now, &rep)
	f.heal(now, &rep, landed)
	r.serve()
	r.events.flush()
}

// teach enters what is kept without the route's lock.
func (f *Flight) teach(now time.Time, rep *Report) {
	f.route.attempts[min(rep.Outcome, outcomes-1)].Add(1)
	if rep.Outcome == Completed && rep.OutputTokens > 0 {
		f.endpoint.outputs.record(now, rep.OutputTokens, f.limit, f.habit(rep))
	}
	if !f.streamed || rep.blameless() {
		return
	}
	if !f.hasContent && rep.Outcome != Completed {
		took := rep.Elapsed.Seconds() / f.route.expect().fit.factor(f.tokens)
		f.route.ttft.Censor(now, took)
		f.route.tellTime(ttft, took, false)
	}
	if rep.Outcome == Completed && rep.TPOT > 0 {
		f.route.tpot.Record(now, rep.TPOT.Seconds())
		f.route.tellTime(tpot, rep.TPOT.Seconds(), true)
	}
}

// heal tells the route's health what an attempt came to.
func (f *Flight) heal(now time.Time, rep *Report, l landing) {
	lane := f.route.lanes[f.key]
	lane.running.Add(-1)
	if q := f.route.account.quota; q != nil {
		q.release(now, float64(rep.PromptTokens+rep.OutputTokens)-f.prompt-f.outputs)
	}
	f.hear(rep, now)
	switch {
	case rep.fails(CauseKey):
		f.refuseKey(rep, now)
	case rep.Outcome == Failed && rep.Cause != CauseCaller && rep.Cause != CauseAbsent:
		f.cool(rep, now)
	}
	if rep.Outcome == Completed && !f.hasContent {
		f.answered(l.late, now)
	} else if !f.outdone(rep, l.late) {
		f.route.breaker.enter(f.ticket, f.verdict(rep), l.late, now)
	}
	f.openSlow(l.slow, now)
}

// verdict returns what the end of an attempt says of its route, besides what its
// first content said. It is past being late if it was given up as hopeless.
func (f *Flight) verdict(rep *Report) verdict {
	switch {
	case rep.fails(CauseRoute):
		return failed
	case rep.Outcome == TimedOut && !f.hasContent && rep.Elapsed >= f.abandon:
		return failed
	}
	return nothing
}

// landing is what comes of entering a report.
type landing struct {
	first bool   // false: the flight was reported before
	late  bool   // a tail layer was missed
	slow  string // why the route should be opened
}

// land enters all that a route keeps under its lock.
func (f *Flight) land(now time.Time, rep *Report) landing {
	rt := f.route
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if f.reported {
		return landing{}
	}
	f.reported = true
	rt.running--
	if !f.hasContent {
		rt.arrived(f)
	}
	if rep.blameless() {
		if rep.Cause == CauseAbsent { // no fault that its breaker could heal, but others come first
			rt.absent.record(now, true)
			rt.tellShare(true)
		}
		return landing{first: true}
	}
	if f.streamed && !f.hasContent && rep.Outcome != Completed {
		rt.ttftCoverage.add(now, rep.Elapsed.Seconds(), false, &f.predicted)
	}
	if rep.Outcome == Completed || rep.Outcome == Failed {
		rt.share.record(now, rep.Outcome == Failed)
		rt.tellShare(rep.Outcome == Failed)
	}
	if rep.Outcome == Completed {
		rt.isThere(f)
		rt.sawModel(rep.ServedModel, now)
	}
	if f.streamed && rep.Outcome == Completed && rep.TPOT > 0 {
		rt.sawTPOT(rep.TPOT.Seconds(), now)
	}
	tokens := f.tokens
	if rep.PromptTokens > 0 {
		rt.ratio.add(f.bytes, rep.PromptTokens)
		rt.tellRatio(f.bytes, rep.PromptTokens)
		rt.hits.add(int(f.known), f.bytes, rep)
		tokens = float64(max(rep.PromptTokens-rep.CachedTokens, 0))
	}
	rt.sizes.saw(tokens)
	rt.tellSize(tokens, f.ttft.Seconds())
	if f.hasContent {
		rt.sizes.add(tokens, f.ttft.Seconds())
	} else {
		f.note(rep.total().Seconds(), !f.streamed && rep.Outcome == Completed, now)
	}
	if !f.streamed {
		f.landWhole(now, rep, tokens)
	}
	return landing{first: true, slow: f.judgeEnd(now, rep, tokens), late: f.late}
}

// isThere forgets that the target did not have the model, since it has answered by it:
// the two are no chances of one coin. Of the route that models share nothing is known, one
// may be there and another not. The caller holds mu.
func (rt *route) isThere(f *Flight) {
	if f.start.After(rt.absent.at) && rt.group.model != otherModel {
		rt.absent = share{}
	}
}

// judgeEnd enters how the attempt did by the tail layers. An error is no matter of
// them. The caller holds the route's mu.
func (f *Flight) judgeEnd(now time.Time, rep *Report, tokens float64) (slow string) {
	rt := f.route
	switch {
	case len(f.endpoint.tails) == 0 || rep.Outcome == Failed:
		return ""
	case rep.Outcome != Completed:
		if f.hasContent {
			return ""
		}
		return rt.judgeWait(f, rep.Elapsed, now)
	}
	if rep.TPOT > 0 {
		slow = rt.judge(f, budget.TPOT, rep.TPOT.Seconds(), 1, true, now)
	}
	outputs := f.outputs
	if rep.OutputTokens > 0 {
		outputs = float64(rep.OutputTokens)
	}
	work := rt.expect().work(tokens, outputs)
	if why := rt.judge(f, budget.Total, rep.total().Seconds(), work, true, now); why != "" {
		slow = why
	}
	return slow
}

// landWhole enters the time of an answer that was not streamed. It is its total
// only: when its first token was made nobody knows.
func (f *Flight) landWhole(now time.Time, rep *Report, tokens float64) {
	rt := f.route
	if rt.total == nil {
		rt.total = newFading(secondUnit, now)
	}
	if rep.Outcome != Completed {
		took := rep.Elapsed.Seconds() / rt.expect().work(f.tokens, f.outputs)
		rt.total.censor(now, took)
		rt.tellTime(total, took, false)
		rt.totalCoverage.add(now, took, false, &f.predicted)
		return
	}
	outputs := f.outputs
	if rep.OutputTokens > 0 {
		outputs = float64(rep.OutputTokens)
	}
	took := rep.total().Seconds() / rt.expect().work(tokens, outputs)
	rt.total.record(now, took)
	rt.tellTime(total, took, true)
	rt.totalCoverage.add(now, took, true, &f.predicted)
}

func (rep *Report) total() time.Duration {
	if rep.Total > 0 {
		return rep.Total
	}
	return rep.Elapsed
}

package router

import (
	"strconv"
	"time"
)

// Outcome is how an attempt ended. The zero value says that it has not.
type Outcome uint8

// The outcomes. The last three say of the time only that it was at least as long:
// no latency, but no failure of the route either.
const (
	Completed Outcome = iota + 1 // a whole answer came
	Failed                       // an error came, or the answer was cut
	TimedOut                     // it was abandoned, or the deadline passed
	Cancelled                    // the caller went away
	Lost                         // another attempt of the same call was first
	outcomes
)

// String returns the outcome's name as metrics and logs have it: "completed",
// "failed", "timed_out", "cancelled" or "lost".
func (o Outcome) String() string {
	switch o {
	case 0:
		return "under way"
	case Completed:
		return "completed"
	case Failed:
		return "failed"
	case TimedOut:
		return "timed_out"
	case Cancelled:
		return "cancelled"
	case Lost:
		return "lost"
	}
	return "outcome(" + strconv.Itoa(int(o)) + ")"
}

// Flight is one attempt under way. It is made by [Router.Start] and ended by
// [Router.Report]. Its methods are safe for concurrent use, and nothing on a nil
// Flight.
type Flight struct {
	route    *route
	endpoint *endpoint
	start    time.Time
	streamed bool
	bytes    int
	limit    int     // cap on output tokens; 0: none
	tokens   float64 // prompt tokens, estimated
	outputs  float64 // output tokens to be expected

	// Guarded by route.mu.
	slot       int // in route.waiting
	hasContent bool
	reported   bool
	ttft       time.Duration
}

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
	// generated.
	PromptTokens, CachedTokens, OutputTokens int
	// Blameless says that the failure is not the route's, such as a request that
	// any would have refused. It is counted as failed, and teaches nothing.
	Blameless bool
}

// Start tells that an attempt is on its way along the route of c, a choice of a
// plan for req. From now on it counts as in flight. The caller must report it
// in the end. Start returns nil for a choice that comes from no plan.
func (r *Router) Start(c Choice, req Request) *Flight {
	rt := c.route
	if rt == nil {
		return nil
	}
	now := time.Now()
	e := r.endpoint(req.Endpoint)
	f := &Flight{
		route:    rt,
		endpoint: e,
		start:    now,
		streamed: req.Streamed,
		bytes:    req.PromptBytes,
		limit:    req.MaxTokens,
		tokens:   rt.expect().tokens(req.PromptBytes),
		outputs:  e.outputs.current(now).mean[gridIndex(req.MaxTokens)],
	}
	rt.mu.Lock()
	rt.running++
	rt.wait(f)
	rt.mu.Unlock()
	return f
}

// Content tells that the first content of a streamed attempt came, ttft after its
// start. It counts from now on, not from the end of the stream. Later calls do
// nothing, and neither do calls for an attempt that is not streamed: its content is
// its end.
func (f *Flight) Content(ttft time.Duration) {
	if f == nil || !f.streamed {
		return
	}
	rt := f.route
	rt.mu.Lock()
	if f.hasContent || f.reported {
		rt.mu.Unlock()
		return
	}
	f.hasContent, f.ttft = true, ttft
	rt.arrived(f)
	rt.mu.Unlock()
	rt.ttft.Record(time.Now(), ttft.Seconds()/rt.expect().fit.factor(f.tokens))
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
	if !f.land(now, &rep) {
		return
	}
	f.route.attempts[min(rep.Outcome, outcomes-1)].Add(1)
	if rep.Outcome == Completed && rep.OutputTokens > 0 {
		f.endpoint.outputs.record(now, rep.OutputTokens, f.limit)
	}
	if !f.streamed || rep.blameless() {
		return
	}
	if !f.hasContent && rep.Outcome != Completed {
		f.route.ttft.Censor(now, rep.Elapsed.Seconds()/f.route.expect().fit.factor(f.tokens))
	}
	if rep.Outcome == Completed && rep.TPOT > 0 {
		f.route.tpot.Record(now, rep.TPOT.Seconds())
	}
}

// blameless tells whether an attempt says nothing about its route.
func (rep *Report) blameless() bool { return rep.Blameless && rep.Outcome == Failed }

// land enters all that a route keeps under its lock. It returns false if the
// flight was reported before.
func (f *Flight) land(now time.Time, rep *Report) bool {
	rt := f.route
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if f.reported {
		return false
	}
	f.reported = true
	rt.running--
	if !f.hasContent {
		rt.arrived(f)
	}
	if rep.blameless() {
		return true
	}
	if rep.Outcome == Completed || rep.Outcome == Failed {
		rt.share.record(now, rep.Outcome == Failed)
	}
	tokens := f.tokens
	if rep.PromptTokens > 0 {
		rt.ratio.add(f.bytes, rep.PromptTokens)
		tokens = float64(max(rep.PromptTokens-rep.CachedTokens, 0))
	}
	rt.sizes.saw(tokens)
	if f.hasContent {
		rt.sizes.add(tokens, f.ttft.Seconds())
	}
	if !f.streamed {
		f.landWhole(now, rep, tokens)
	}
	return true
}

// landWhole enters the time of an answer that was not streamed. It is its total
// only: when its first token was made nobody knows.
func (f *Flight) landWhole(now time.Time, rep *Report, tokens float64) {
	rt := f.route
	if rt.total == nil {
		rt.total = newFading(secondUnit, now)
	}
	if rep.Outcome != Completed {
		rt.total.censor(now, rep.Elapsed.Seconds()/rt.expect().work(f.tokens, f.outputs))
		return
	}
	outputs := f.outputs
	if rep.OutputTokens > 0 {
		outputs = float64(rep.OutputTokens)
	}
	took := rep.Total
	if took <= 0 {
		took = rep.Elapsed
	}
	rt.total.record(now, took.Seconds()/rt.expect().work(tokens, outputs))
}

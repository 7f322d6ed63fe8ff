package middleware

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/router"
)

// errLost is the cause by which a loser is cancelled.
var errLost = errors.New("another attempt was first")

// liveCall is a call under way. Until RoundTrip returns it belongs to the race;
// after that to whoever reads the answer's body.
type liveCall struct {
	t   *Transport
	set *set          // under which it entered
	req *http.Request // the caller's, never changed
	in  *inference

	ctx    context.Context // the caller's, with the endpoint's deadline
	cancel context.CancelCauseFunc

	asks   router.Request
	plan   router.Plan
	budget budget.Budget
	tally  budget.Tally

	news     chan *attempt // each attempt tells once
	attempts []*attempt    // in the order of their start
	room     [2]*attempt   // for them: few calls have more
	failed   *attempt      // the latest that failed
	winner   *attempt      // whose answer the caller has

	rec Call
	out *Call // where the caller reads it

	mu sync.Mutex // commit against seal: a pump may be through before its race is

	sealing sync.Mutex // who comes second waits until the observers are told
	sealed  bool
}

// newCall opens the books of a call that has just come in. What ends it is in place by
// then, since Close may use that from now on. The error is of an unknown endpoint.
func (t *Transport) newCall(s *set, r *http.Request, endpoint string, d dialect.Dialect) (*liveCall, error) {
	c := &liveCall{t: t, set: s, req: r, out: claim(r.Context())}
	c.attempts = c.room[:0]
	c.rec = Call{Endpoint: endpoint, Format: formatOf(d), Start: time.Now()}
	c.ctx, c.cancel = context.WithCancelCause(r.Context())
	if t.traceID != nil {
		c.rec.TraceID = t.traceID(r.Context())
	}
	t.retries.earn(c.rec.Start)
	var ok bool
	if c.budget, ok = s.router.Budget(endpoint); !ok {
		return c, unknownEndpoint(s.router.Endpoints())
	}
	if c.budget.Deadline > 0 {
		c.setDeadline()
	}
	return c, nil
}

// prepare reads and caps: all else that can be wrong with a request is found here,
// before anything is sent.
func (c *liveCall) prepare(d dialect.Dialect, path string) error {
	s := c.set
	err := checkHeader(c.req.Header)
	if err != nil {
		return err
	}
	if c.in, err = readInference(c.req, d, path); err != nil {
		return err
	}
	in := c.in
	c.rec.Model, c.rec.Streamed, c.rec.AskedTokens = in.asks.Model, in.asks.Stream, in.askedCap()
	if err = in.applyCap(c.budget.MaxTokens, s.ceilings[in.asks.Model]); err != nil {
		return err
	}
	c.setCap(in.limit)
	c.asks = router.Request{
		Endpoint: c.rec.Endpoint, Model: in.asks.Model, Format: c.rec.Format, PromptBytes: in.asks.PromptBytes,
		MaxTokens: in.limit, Streamed: in.asks.Stream, Pin: c.t.pin(s, in), Prefixes: in.prefixes(),
		Since: c.rec.Start, Single: in.single(c.budget), Thinking: in.thinking(),
		KeepModel: in.dialect == dialect.Embeddings, // vectors of two models cannot be compared
	}
	c.asks.Deadline, _ = c.ctx.Deadline()
	if s.shadow {
		if planned := s.router.Plan(c.asks); len(planned.Choices) > 0 {
			c.rec.Planned = planned.Choices[0].Target
			c.explain(&planned) // not the one that will be followed
		}
		c.asks.Pin, c.asks.KeepModel = s.home.Name, true
	}
	c.tally = s.router.Ledger(c.rec.Endpoint).Tally(in.asks.Stream)
	return nil
}

// explain notes why the plan is as it is, if somebody wants to know.
func (c *liveCall) explain(p *router.Plan) {
	if c.t.explains != nil && c.t.explains(c.rec.Endpoint) {
		c.rec.Reason = p.Reason()
	}
}

// setCap notes the cap that the call leaves with.
func (c *liveCall) setCap(limit int) {
	c.rec.MaxTokens = limit
	c.rec.Capped = limit > 0 && limit != c.rec.AskedTokens
}

// setDeadline bounds the whole call by the endpoint's own deadline.
func (c *liveCall) setDeadline() {
	outer := c.cancel
	ctx, release := context.WithDeadlineCause(c.ctx, c.rec.Start.Add(c.budget.Deadline), ErrDeadline)
	c.ctx, c.cancel = ctx, func(cause error) {
		outer(cause)
		release()
	}
}

// refuse ends a call for which nothing is sent, or nothing is left to send.
func (c *liveCall) refuse(err error) error {
	fault := c.seal(outcomeOf(err), err)
	c.cancel(err)
	return fault
}

// finish ends a call whose answer is over, as its attempt ended.
func (c *liveCall) finish(a *attempt) error {
	return c.seal(a.record.Outcome, a.record.Err)
}

// seal closes the call's books, fills the Call that the caller reads, and
// tells the observers: once, whoever comes first. It returns the call's error.
func (c *liveCall) seal(outcome Outcome, cause error) error {
	c.sealing.Lock()
	defer c.sealing.Unlock()
	if !c.sealed {
		c.sealed = true
		defer c.t.forget(c) // also if an observer panics
		c.closeBooks(outcome, cause)
		c.t.observers.observe(c.req.Context(), c.rec)
	}
	return c.rec.Err
}

func (c *liveCall) closeBooks(outcome Outcome, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rec := &c.rec
	rec.Outcome, rec.Total = outcome, time.Since(rec.Start)
	rec.Attempts = c.records()
	if last := c.last(); last != nil {
		c.adopt(&last.record)
	}
	for i := range rec.Attempts {
		c.charge(&rec.Attempts[i])
		rec.Cost += rec.Attempts[i].Cost
		rec.Hedged = rec.Hedged || rec.Attempts[i].Hedge
	}
	if cause != nil {
		rec.Err = &Error{Endpoint: rec.Endpoint, Model: rec.Model, Target: rec.Target, Attempts: rec.Attempts, Err: cause}
	}
	c.judge(outcome)
	*c.out = *rec
}

// leave ends the call for an attempt that is through, as soon as the race has
// committed it.
func (c *liveCall) leave(a *attempt) {
	c.mu.Lock()
	a.left = true
	committed := c.winner == a
	c.mu.Unlock()
	if committed {
		_ = c.finish(a)
		c.cancel(nil)
	}
}

// win binds the call to the attempt whose answer the caller gets. It reports
// whether that is through already.
func (c *liveCall) win(a *attempt) (left bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.winner = a
	return a.left
}

// last is the attempt that the call stands for: the one that the answer came
// from, or else the last one tried.
func (c *liveCall) last() *attempt {
	switch {
	case c.winner != nil:
		return c.winner
	case c.failed != nil || len(c.attempts) == 0:
		return c.failed
	default:
		return c.attempts[len(c.attempts)-1]
	}
}

// adopt takes over what the attempt that served the call measured, on the
// call's own clock.
func (c *liveCall) adopt(a *Attempt) {
	rec := &c.rec
	rec.Target, rec.Region, rec.Fallback = a.Target, a.Region, a.Fallback
	rec.FinishReason, rec.Starved, rec.Usage = a.FinishReason, a.Starved, a.Usage
	c.setCap(a.MaxTokens)
	rec.TPOT, rec.Stall = a.TPOT, a.Stall
	if a.TTFT > 0 {
		rec.TTFT = a.Start + a.TTFT
	}
	if a.TTFA > 0 {
		rec.TTFA = a.Start + a.TTFA
	}
	if a.Outcome == Completed {
		rec.Total = a.Start + a.Total
	}
}

// charge gives an attempt that was given up the cost of its prompt, as the answer
// counted it: providers charge for what they have read. What it generated before
// it was cancelled nobody tells.
func (c *liveCall) charge(a *Attempt) {
	if a.Outcome == Completed || a.Outcome == Failed || a.Usage.Input > 0 || c.rec.Usage.Input == 0 {
		return
	}
	a.Usage.Input, a.Usage.Estimated = c.rec.Usage.Input, true
	a.Cost = c.set.upstreams[a.Target].price(cmp.Or(a.Fallback, c.rec.Model)).Cost(a.Usage.Input, 0, 0)
}

// judge holds the call against its endpoint's layers.
func (c *liveCall) judge(outcome Outcome) {
	if errors.Is(c.rec.Err, ErrNoTarget) {
		return // a matter of configuration
	}
	switch outcome {
	case Completed:
		if c.rec.FinishReason == "length" {
			c.tally.Truncated(c.rec.Starved)
		}
		c.tally.Completed(c.rec.TPOT, c.rec.Total)
	case Cancelled, Lost:
		c.tally.Cancelled()
	default:
		if blameless(c.rec.Err) || c.callersTimeout() {
			c.tally.Cancelled()
		} else {
			c.tally.Failed()
		}
	}
}

// callersTimeout reports whether it was the caller's own deadline that passed.
func (c *liveCall) callersTimeout() bool { return c.req.Context().Err() != nil }

// records collects the closed books of all attempts.
func (c *liveCall) records() []Attempt {
	records := make([]Attempt, len(c.attempts))
	for i, a := range c.attempts {
		a.books.Lock() // a loser may be closing them by itself
		records[i] = a.record
		a.books.Unlock()
	}
	return records
}

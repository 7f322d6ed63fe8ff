package router

import (
	"sync/atomic"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Flight is one attempt under way. It is safe for concurrent use, as when its content
// and its end are told by different goroutines.
type Flight struct {
	route    *route
	endpoint *endpoint
	start    time.Time
	streamed bool
	thinks   bool // the model reasons before it answers
	bytes    int
	limit    int     // cap on output tokens, fitted; 0: none
	prompt   float64 // tokens, estimated
	tokens   float64 // of them, those that are not expected to be cached
	outputs  float64 // output tokens to be expected
	abandon  time.Duration
	key      int
	keyProbe bool
	ticket   ticket
	lease    int64 // of an exploration
	model    string
	prefixes []Prefix
	known    int32 // bytes of the prompt that should be cached

	predicted prediction

	usual float64 // seconds after which it is late; 0: not known
	hedge bool
	pair  atomic.Pointer[pair] // that it is of; nil if it is of none

	// Guarded by route.mu.
	slot       int // in route.waiting
	hasContent bool
	reported   bool
	late       bool   // it has missed a tail layer
	judged     uint64 // bits of the endpoint's tails
	noted      bool   // in route.recent
	ttft       time.Duration
}

// Start tells that an attempt is on its way along the route of c, a choice of a
// plan for req. From now on it counts as in flight, and the caller must report it in
// the end. A hedge takes one of its endpoint's allowance. If the route cannot be taken
// any more the error is an [*UnavailableError], and the call goes to its next choice;
// when it has none left, back to [Router.Wait].
func (r *Router) Start(c Choice, req Request) (*Flight, error) {
	defer r.events.flush()
	if c.way == nil {
		return nil, &UnavailableError{Target: c.Target, Model: c.Model, Why: WhyUnplanned}
	}
	now := time.Now()
	req.Model = c.Model
	rt := c.way.route
	r = rt.group.router // the plan's, also if there is another by now
	e, x := r.endpoint(req.Endpoint), rt.expect()
	f := &Flight{
		route:    rt,
		endpoint: e,
		start:    now,
		streamed: req.Streamed,
		thinks:   req.Thinking > 0,
		bytes:    req.PromptBytes,
		limit:    rt.fit(e, &req, now),
		prompt:   x.tokens(req.PromptBytes),
		outputs:  e.expected(now, req.MaxTokens),
		abandon:  c.Abandon,
		key:      c.way.key,
		model:    req.Model,
		prefixes: req.Prefixes,
		known:    r.prefixes.knownTo(rt.target, &req, now),
	}
	f.tokens = x.uncached(req.PromptBytes, int(f.known))
	if req.Attempts > 0 && !req.Deadline.IsZero() { // those before have taken some of the time
		q := newQuestion(e, &req, now, nil)
		f.abandon = min(f.abandon, seconds(q.look(rt, rt.group.latest.Load()).abandon))
	}
	f.predict(x)
	f.usual = x.usually(f)
	if why, until := f.board(&c, now); why != "" {
		r.serve() // a place may have been given back
		return nil, &UnavailableError{Target: c.Target, Model: c.Model, Why: why, Until: until}
	}
	if hedge := c.way.hedge; hedge != nil {
		f.join(&hedge.pair)
	} else if req.Attempts == 0 {
		e.allowance.earn(now)
		if req.Pin == "" && !c.way.explore {
			e.unexplored.Add(1)
		}
	}
	rt.mu.Lock()
	rt.running++
	rt.wait(f)
	rt.mu.Unlock()
	return f, nil
}

// MaxTokens returns the cap on output tokens that the attempt is to be sent with:
// that of its request, or less where the endpoint's budget has it fitted to the time
// that is left on this route (see the package comment). 0: none.
func (f *Flight) MaxTokens() int { return f.limit }

// Abandon is the time after which the attempt is hopeless without content: that of its
// Choice or, where attempts before it have taken some of the time until the call's
// deadline, less.
func (f *Flight) Abandon() time.Duration { return f.abandon }

// board passes everything that can still keep an attempt from starting, or leaves
// it all as it was and says why.
func (f *Flight) board(c *Choice, now time.Time) (why string, until time.Time) {
	if c.way.hedge != nil && !f.endpoint.allowance.take(now) {
		return WhyAllowance, time.Time{}
	}
	rt, lane := f.route, f.route.lanes[f.key]
	quota, key := rt.account.quota, rt.account.keys[f.key]
	placed := c.way.hold.use()
	if until = rt.group.router.cooldowns.until(lane.name, now); !until.IsZero() {
		why = WhyCooling
	}
	if why == "" && !c.way.last {
		f.ticket, why, until = rt.breaker.admit(now, 2*c.Abandon)
	}
	if why == "" && quota != nil && !placed {
		why, until = quota.take(now, f.prompt+f.outputs)
		placed = why == ""
	}
	if why == "" && key.out.Load() {
		f.keyProbe = true
		if until, f.keyProbe = key.claim(now); !f.keyProbe {
			why = WhyKeyRefused
		}
	}
	if why == "" && c.way.explore && !f.explore(now) {
		why = WhyExplored
	}
	if why != "" {
		rt.breaker.enter(f.ticket, nothing, false, now)
		if placed {
			quota.release(now, 0)
		}
		if c.way.hedge != nil {
			f.endpoint.allowance.giveBack(now, true)
		}
		return why, until
	}
	lane.running.Add(1)
	if rt.group.router.watched.Load() > now.UnixNano() {
		lane.spend(f.prompt + f.outputs)
	}
	return "", time.Time{}
}

// demand returns how many tokens a call is expected to take at a target's limits.
func (r *Router) demand(rt *route, req *Request, now time.Time) float64 {
	return rt.expect().tokens(req.PromptBytes) + r.endpoint(req.Endpoint).expected(now, req.MaxTokens)
}

// Content tells that the first content of a streamed attempt came, ttft after its
// start. It counts from now on, not from the end of the stream, as the outcome for
// the route's health too. Later calls do nothing, and neither do calls for an attempt
// that is not streamed: its content is its end.
func (f *Flight) Content(ttft time.Duration) {
	if f == nil || !f.streamed {
		return
	}
	now := time.Now()
	rt := f.route
	x := rt.expect()
	rt.mu.Lock()
	if f.hasContent || f.reported {
		rt.mu.Unlock()
		return
	}
	f.hasContent, f.ttft = true, ttft
	rt.arrived(f)
	rt.ttftCoverage.add(now, ttft.Seconds(), true, &f.predicted)
	slow := ""
	if len(f.endpoint.tails) > 0 {
		slow = rt.judge(f, budget.TTFT, ttft.Seconds(), x.fit.factor(f.tokens), true, now)
	}
	f.note(ttft.Seconds(), true, now)
	rt.sawTTFT(ttft.Seconds()/x.fit.factor(f.tokens), x, now)
	late := f.late
	rt.mu.Unlock()
	f.won(ttft.Seconds(), now)
	took := ttft.Seconds() / x.fit.factor(f.tokens)
	rt.ttft.Record(now, took)
	rt.tellContent(took)
	f.answered(late, now)
	f.openSlow(slow, now)
	rt.group.router.serve() // a probe's content opens the route to those who wait
	rt.group.router.events.flush()
}

// answered tells the route's health of content, and that it has read the prompt.
func (f *Flight) answered(late bool, now time.Time) {
	f.route.breaker.enter(f.ticket, well, late, now)
	f.acceptKey(now)
	f.route.group.router.prefixes.remember(f.route.target, f.model, f.prefixes, now)
}

func (f *Flight) openSlow(why string, now time.Time) {
	if why != "" {
		f.route.openSlow(why, now)
	}
}

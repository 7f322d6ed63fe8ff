package router

import (
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
	bytes    int
	limit    int     // cap on output tokens; 0: none
	tokens   float64 // prompt tokens, estimated
	outputs  float64 // output tokens to be expected
	abandon  time.Duration
	key      int
	keyProbe bool
	ticket   ticket

	// Guarded by route.mu.
	slot       int // in route.waiting
	hasContent bool
	reported   bool
	late       bool   // it has missed a tail layer
	judged     uint64 // bits of the endpoint's tails
	ttft       time.Duration
}

// Start tells that an attempt is on its way along the route of c, a choice of a
// plan for req. From now on it counts as in flight, and the caller must report it in
// the end. If the route cannot be taken any more the error is an
// [*UnavailableError], and the call goes to its next choice; when it has none left,
// back to [Router.Wait].
func (r *Router) Start(c Choice, req Request) (*Flight, error) {
	defer r.events.flush()
	if c.way == nil {
		return nil, &UnavailableError{Target: c.Target, Model: c.Model, Why: WhyUnplanned}
	}
	now := time.Now()
	rt := c.way.route
	e := r.endpoint(req.Endpoint)
	f := &Flight{
		route:    rt,
		endpoint: e,
		start:    now,
		streamed: req.Streamed,
		bytes:    req.PromptBytes,
		limit:    req.MaxTokens,
		tokens:   rt.expect().tokens(req.PromptBytes),
		outputs:  e.expected(now, req.MaxTokens),
		abandon:  c.Abandon,
		key:      c.way.key,
	}
	if why, until := f.board(&c, now); why != "" {
		r.serve() // a place may have been given back
		return nil, &UnavailableError{Target: c.Target, Model: c.Model, Why: why, Until: until}
	}
	rt.mu.Lock()
	rt.running++
	rt.wait(f)
	rt.mu.Unlock()
	return f, nil
}

// board passes everything that can still keep an attempt from starting, or leaves
// it all as it was and says why.
func (f *Flight) board(c *Choice, now time.Time) (why string, until time.Time) {
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
		why, until = quota.take(now, f.tokens+f.outputs)
		placed = why == ""
	}
	if why == "" && key.out.Load() {
		f.keyProbe = true
		if until, f.keyProbe = key.claim(now); !f.keyProbe {
			why = WhyKeyRefused
		}
	}
	if why != "" {
		rt.breaker.enter(f.ticket, nothing, false, now)
		if placed {
			quota.release(now, 0)
		}
		return why, until
	}
	lane.running.Add(1)
	if rt.group.router.watched.Load() > now.UnixNano() {
		lane.spend(f.tokens + f.outputs)
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
	slow := ""
	if len(f.endpoint.tails) > 0 {
		slow = rt.judge(f, budget.TTFT, ttft.Seconds(), x.fit.factor(f.tokens), true, now)
	}
	late := f.late
	rt.mu.Unlock()
	rt.ttft.Record(now, ttft.Seconds()/x.fit.factor(f.tokens))
	f.answered(late, now)
	f.openSlow(slow, now)
	rt.group.router.serve() // a probe's content opens the route to those who wait
	rt.group.router.events.flush()
}

// answered tells the route's health of content.
func (f *Flight) answered(late bool, now time.Time) {
	f.route.breaker.enter(f.ticket, well, late, now)
	f.acceptKey(now)
}

func (f *Flight) openSlow(why string, now time.Time) {
	if why != "" {
		f.route.openSlow(why, now)
	}
}

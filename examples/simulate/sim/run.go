package sim

import "time"

// Run plays the calls of a world under a rival's policy, in virtual time, and returns
// what became of each, in their order. A nil hedge doubles nothing.
//
// A call goes to Policy.First. When its request fails, or is given up after
// Policy.Patience, and no other request of it runs, it goes to Policy.Next, which may
// be where it was before: other luck. From the first content on it is bound to that
// answer. Whatever has not ended by [Deadline] fails.
func Run(w *World, p Policy, h *Hedge) []Outcome {
	r := &run{world: w, state: w.NewState(), policy: p, hedge: h}
	r.calls = make([]liveCall, len(w.calls))
	r.play()
	outcomes := make([]Outcome, len(r.calls))
	for i := range r.calls {
		outcomes[i] = r.calls[i].outcome
	}
	return outcomes
}

type run struct {
	world  *World
	state  *State
	policy Policy
	hedge  *Hedge
	events events
	calls  []liveCall
	now    time.Duration
}

// liveCall is a call under way.
type liveCall struct {
	asked    *Call
	requests []request
	tried    []int
	running  int  // requests
	decided  bool // one of the requests is the only one that counts
	over     bool
	outcome  Outcome
}

type request struct {
	target  int
	sent    time.Duration
	reply   Reply
	headers bool // have come
	content bool // has begun
	over    bool
}

// play lets everything happen in order.
func (r *run) play() {
	next := 0
	for next < len(r.calls) || len(r.events.heap) > 0 {
		if len(r.events.heap) == 0 || next < len(r.calls) && r.world.calls[next].At <= r.events.heap[0].at {
			r.arrive(next)
			next++
			continue
		}
		e := r.events.pop()
		r.now = e.at
		r.happen(&e)
	}
}

func (r *run) arrive(n int) {
	c := &r.calls[n]
	c.asked, c.outcome.Target = &r.world.calls[n], -1
	r.now = c.asked.At
	first := r.policy.First(r.now, c.asked)
	if first < 0 {
		r.fail(c)
		return
	}
	c.requests, c.tried = make([]request, 0, 2), make([]int, 0, 2)
	r.events.push(event{at: r.now + Deadline, kind: deadlinePassed, call: int32(n)})
	r.send(c, first)
	if r.hedge == nil {
		return
	}
	if delay := r.hedge.Delay(r.now, c.asked, first); delay > 0 {
		r.events.push(event{at: r.now + delay, kind: hedgeDue, call: int32(n)})
	}
}

// send makes a request. All that can come of it is known at once.
func (r *run) send(c *liveCall, target int) {
	n := int32(c.asked.Number)
	i := int32(len(c.requests))
	c.requests = append(c.requests, request{target: target, sent: r.now})
	q := &c.requests[i]
	q.reply = r.state.Meet(c.asked, target, visits(c.tried, target), r.now)
	c.tried = append(c.tried, target)
	c.running++
	c.outcome.Requests++
	r.policy.Sent(r.now, c.asked, target)
	if q.reply.Headers > 0 {
		r.events.push(event{at: r.now + q.reply.Headers, kind: headersCame, call: n, request: i})
	}
	if q.reply.TTFT > 0 {
		r.events.push(event{at: r.now + q.reply.TTFT, kind: contentCame, call: n, request: i})
	}
	if q.reply.Total > 0 {
		r.events.push(event{at: r.now + q.reply.Total, kind: requestEnded, call: n, request: i})
	}
	if patience := r.policy.Patience(c.asked, target); patience > 0 {
		r.events.push(event{at: r.now + patience, kind: patienceOver, call: n, request: i})
	}
}

func (r *run) happen(e *event) {
	c := &r.calls[e.call]
	if c.over {
		return
	}
	switch e.kind {
	case hedgeDue:
		r.double(c)
		return
	case deadlinePassed:
		r.fail(c)
		return
	}
	q := &c.requests[e.request]
	if q.over {
		return
	}
	switch e.kind {
	case headersCame:
		q.headers = true
		r.policy.Heard(r.now, c.asked, r.seen(q))
		if r.hedge != nil && r.hedge.AtHeaders && !c.decided {
			r.decide(c, q)
		}
	case contentCame:
		q.content = true
		r.policy.Heard(r.now, c.asked, r.seen(q))
		r.decide(c, q)
		c.outcome.TTFT, c.outcome.Target = r.now-c.asked.At, q.target
	case requestEnded:
		r.ended(c, q)
	case patienceOver:
		if !q.content {
			r.end(c, q, true)
			r.goOn(c)
		}
	}
}

// decide binds a call to one of its requests, and cancels the others.
func (r *run) decide(c *liveCall, winner *request) {
	c.decided = true
	for i := range c.requests {
		if q := &c.requests[i]; q != winner && !q.over {
			r.end(c, q, true)
		}
	}
}

// double makes the second request of a call.
func (r *run) double(c *liveCall) {
	if c.decided || c.running != 1 {
		return
	}
	second := r.hedge.Second(r.now, c.asked, c.tried[0])
	if second < 0 {
		return
	}
	c.outcome.Hedged = true
	r.send(c, second)
}

// ended is called when a reply is over by itself.
func (r *run) ended(c *liveCall, q *request) {
	r.end(c, q, false)
	if !q.content {
		r.goOn(c)
		return
	}
	c.over = true
	c.outcome.Failed = q.reply.Failed
	if q.reply.Failed {
		return
	}
	c.outcome.Total = r.now - c.asked.At
	if q.reply.Output > 1 {
		c.outcome.TPOT = (q.reply.Total - q.reply.TTFT) / time.Duration(q.reply.Output-1)
	}
}

// goOn makes the next request of a call that has none left.
func (r *run) goOn(c *liveCall) {
	if c.running > 0 {
		return
	}
	next := r.policy.Next(r.now, c.asked, c.tried)
	if next < 0 {
		r.fail(c)
		return
	}
	c.decided = false
	r.send(c, next)
}

// fail ends a call with an error.
func (r *run) fail(c *liveCall) {
	for i := range c.requests {
		if q := &c.requests[i]; !q.over {
			r.end(c, q, true)
		}
	}
	c.over, c.outcome.Failed = true, true
}

// end ends a request; gone: before it was over by itself.
func (r *run) end(c *liveCall, q *request, gone bool) {
	q.over = true
	c.running--
	c.outcome.Cost += r.world.Cost(c.asked, q.target, &q.reply, r.now-q.sent)
	s := r.seen(q)
	s.Gone = gone
	if !gone {
		s.Failed = q.reply.Failed
		if !s.Failed {
			s.Total = q.reply.Total
		}
	}
	r.policy.Ended(r.now, c.asked, s)
}

// seen is what a policy gets to see of a request now.
func (r *run) seen(q *request) Seen {
	age := r.now - q.sent
	s := Seen{Target: q.target, Sent: q.sent, End: age, Output: q.reply.came(age)}
	if q.headers {
		s.Headers, s.Status = q.reply.Headers, q.reply.Status
	}
	if q.content {
		s.TTFT = q.reply.TTFT
	}
	return s
}

func visits(tried []int, target int) int {
	n := 0
	for _, t := range tried {
		if t == target {
			n++
		}
	}
	return n
}

package metrics

import (
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ontime-llm/ontime/middleware"
)

// child is one series of a vector, looked up when it is first needed: what has not
// happened has no series, and what happens again takes no look-up.
type child[M any] struct{ made atomic.Pointer[M] }

func (c *child[M]) get(find func() M) M {
	if m := c.made.Load(); m != nil {
		return *m
	}
	m := find()
	c.made.Store(&m)
	return m
}

type (
	count = child[prometheus.Counter]
	times = child[prometheus.Observer]
)

// series are those of one endpoint, target and model.
type series struct {
	key
	in *vectors

	calls           [outcomes]count
	total           [outcomes]times
	ttft, ttfa      times
	tpot, wait      times
	finishes        [len(reasons)]count
	capped, starved count
	fallbacks       count

	attempts [kinds][outcomes]count
	cost     [outcomes]count
	tokens   [len(tokenKinds)]count
	phases   [len(phaseNames)]times
	gaps     gaps
}

// call counts a call.
func (s *series) call(c *middleware.Call) {
	e := exemplar(c.TraceID)
	o := outcomeIndex(c.Outcome)
	s.calls[o].get(func() prometheus.Counter {
		return s.in.calls.WithLabelValues(s.endpoint, s.target, s.model, c.Outcome.String())
	}).Inc()
	observe(s.total[o].get(func() prometheus.Observer {
		return s.in.total.WithLabelValues(s.endpoint, s.target, s.model, c.Outcome.String())
	}), c.Total, e)
	if c.TTFT > 0 {
		observe(s.time(&s.ttft, s.in.ttft), c.TTFT, e)
	}
	if c.TTFA > 0 {
		observe(s.time(&s.ttfa, s.in.ttfa), c.TTFA, e)
	}
	if c.TPOT > 0 {
		observe(s.time(&s.tpot, s.in.tpot), c.TPOT, e)
	}
	if c.FinishReason != "" {
		i := reasonIndex(c.FinishReason)
		s.finishes[i].get(func() prometheus.Counter {
			return s.in.finishes.WithLabelValues(s.endpoint, s.target, s.model, reasons[i])
		}).Inc()
	}
	if c.Capped {
		s.capped.get(func() prometheus.Counter { return s.in.capped.WithLabelValues(s.endpoint, s.model) }).Inc()
	}
	if c.Starved {
		s.starved.get(func() prometheus.Counter { return s.in.starved.WithLabelValues(s.endpoint, s.model) }).Inc()
	}
}

// asked counts what became of a call before it was an attempt: under the model that it
// named.
func (s *series) asked(c *middleware.Call) {
	if c.Waited > 0 {
		observe(s.wait.get(func() prometheus.Observer { return s.in.wait.WithLabelValues(s.endpoint, s.model) }), c.Waited, exemplar(c.TraceID))
	}
	if c.Fallback != "" {
		s.fallbacks.get(func() prometheus.Counter { return s.in.fallbacks.WithLabelValues(s.endpoint, s.model) }).Inc()
	}
}

// attempt counts an attempt.
func (s *series) attempt(a *middleware.Attempt, k kind) {
	o := outcomeIndex(a.Outcome)
	s.attempts[k][o].get(func() prometheus.Counter {
		return s.in.attempts.WithLabelValues(s.endpoint, s.target, s.model, k.String(), a.Outcome.String())
	}).Inc()
	if a.Cost > 0 {
		s.cost[o].get(func() prometheus.Counter {
			return s.in.cost.WithLabelValues(s.endpoint, s.target, s.model, a.Outcome.String())
		}).Add(a.Cost)
	}
	if !a.Usage.Estimated {
		s.count(&a.Usage)
	}
	if a.ITL.N() > 0 {
		s.gaps.add(&a.ITL)
	}
	if a.Outcome == middleware.Completed {
		s.split(a.Phases())
	}
}

// count counts tokens, each of them once.
func (s *series) count(u *middleware.Usage) {
	for i, n := range [...]int{u.Input - u.CachedInput, u.CachedInput, u.Output - u.Reasoning, u.Reasoning} {
		if n > 0 {
			s.tokens[i].get(func() prometheus.Counter {
				return s.in.tokens.WithLabelValues(s.endpoint, s.target, s.model, tokenKinds[i])
			}).Add(float64(n))
		}
	}
}

// split enters the phases that are known.
func (s *series) split(p middleware.Phases) {
	for i, d := range [...]time.Duration{p.Connect, p.Send, p.Network, p.Queue, p.Prefill, p.Wait, p.Decode} {
		if d > 0 {
			s.phases[i].get(func() prometheus.Observer {
				return s.in.phase.WithLabelValues(s.target, s.model, phaseNames[i])
			}).Observe(d.Seconds())
		}
	}
}

// time returns the histogram of a vector that has no other labels.
func (s *series) time(t *times, in *prometheus.HistogramVec) prometheus.Observer {
	return t.get(func() prometheus.Observer { return in.WithLabelValues(s.endpoint, s.target, s.model) })
}

// exemplar returns the labels of an exemplar; nil for no trace id, or one that
// Prometheus would not take.
func exemplar(traceID string) prometheus.Labels {
	const most = 64
	if traceID == "" || len(traceID) > most || !utf8.ValidString(traceID) {
		return nil
	}
	return prometheus.Labels{"trace_id": traceID}
}

func observe(to prometheus.Observer, d time.Duration, e prometheus.Labels) {
	if with, ok := to.(prometheus.ExemplarObserver); ok && e != nil {
		with.ObserveWithExemplar(d.Seconds(), e)
		return
	}
	to.Observe(d.Seconds())
}

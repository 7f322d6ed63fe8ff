package router

import (
	"fmt"
	"strings"
	"time"
)

// Reason says in one line why the first choice is the first, and when and where it
// would be hedged. It is worked out when asked for, with the debts as they are then.
func (p Plan) Reason() string {
	if len(p.Choices) == 0 {
		return p.whyNone()
	}
	return p.whyModel() + p.whyFirst() + p.whyHedge(time.Now())
}

func (p Plan) whyModel() string {
	if p.asked == "" || p.asked == p.request.Model {
		return ""
	}
	return fmt.Sprintf("%s in place of %s, which has no healthy route: ", p.request.Model, p.asked)
}

// whyNext names the model that a call goes to if the only target of this one fails.
func (p Plan) whyNext() string {
	if next := behind(p.endpoint.budget.Models, p.request.Model); len(next) > 0 && !p.request.KeepModel {
		return "; the next model is " + next[0]
	}
	return ""
}

// whyHedge says what a call would be advised that takes the first choice now.
func (p Plan) whyHedge(now time.Time) string {
	if p.HedgeFrom == 0 {
		return ""
	}
	rt := p.Choices[0].way.route
	f := p.outlook.routes[rt.target]
	h := p.advise(&pending{
		route: rt, forecast: f, tokens: f.tokens(p.request.PromptBytes), start: now, probe: p.Choices[0].Probe(),
	}, 1, p.outlook, now)
	switch {
	case h.Again == 0 || h.At == Unbounded:
		return ""
	case h.At == 0:
		return fmt.Sprintf("; hedge to %s at once", h.Choice.Target)
	}
	return fmt.Sprintf("; hedge to %s at %v", h.Choice.Target, h.At.Round(1e6))
}

func (p Plan) whyFirst() string {
	first := p.Choices[0]
	switch {
	case p.request.Pin != "":
		return first.Target + ": pinned"
	case first.Probe():
		return first.Target + ": a probe, to find out whether it is well again"
	case first.Explore():
		return fmt.Sprintf("%s: explored, since it may have become better; then %s", first.Target, p.Choices[1].Target)
	case first.LastResort():
		return first.Target + ": the last resort; " + listRefused(p.Refused)
	case len(p.Choices) == 1 && len(p.Refused) > 0:
		return first.Target + ": the only one available; " + listRefused(p.Refused)
	case len(p.Choices) == 1:
		return first.Target + ": the only target for this model" + p.whyNext()
	}
	q := newQuestion(p.endpoint, &p.request, p.outlook.at, nil)
	x := q.look(first.way.route, p.outlook)
	switch {
	case q.byTime():
		return q.whyQuickest(first, &x) + x.whyCached()
	case len(q.layers) == 0:
		return fmt.Sprintf("%s: the cheapest that answers; then %s", first.Target, p.Choices[1].Target) + x.whyCached()
	}
	return q.whyLeastScore(p, &x) + x.whyCached()
}

func (p Plan) whyNone() string {
	if len(p.Refused) > 0 {
		return "none: " + listRefused(p.Refused)
	}
	if p.onlyOtherFormats() {
		return fmt.Sprintf("none: no target of endpoint %q serves the model in the format %q", p.endpoint.name, p.request.Format)
	}
	if p.request.Pin != "" {
		return fmt.Sprintf("none: target %q may not serve endpoint %q, or does not serve the model", p.request.Pin, p.endpoint.name)
	}
	return fmt.Sprintf("none: no target of endpoint %q%s serves the model", p.endpoint.name, otherThan(p.request.Avoid))
}

func (q *question) whyQuickest(first Choice, x *ranked) string {
	what := "total"
	if q.req.Streamed {
		what = "TTFT"
	}
	return fmt.Sprintf("%s: shortest expected %s, %v", first.Target, what, seconds(x.score).Round(1e6))
}

// whyLeastScore names the chance of each miss beside the share that is allowed.
func (q *question) whyLeastScore(p Plan, x *ranked) string {
	layers := p.endpoint.ledger.Layers()
	kept, misses := true, make([]string, 0, len(q.layers))
	for _, l := range q.layers {
		miss := q.miss(x, l.layer)
		kept = kept && miss <= l.allowed
		misses = append(misses, fmt.Sprintf("%v (misses %s of %s)", layers[l.index], inPercent(miss), inPercent(l.allowed)))
	}
	verdict := "comes nearest to"
	switch {
	case kept && q.endpoint.cost > 0:
		verdict = "best at its cost, keeps"
	case kept:
		verdict = "keeps best"
	}
	return fmt.Sprintf("%s: %s %s; then %s", p.Choices[0].Target, verdict, strings.Join(misses, ", "), p.Choices[1].Target)
}

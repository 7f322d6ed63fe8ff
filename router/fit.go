package router

import (
	"math"
	"time"
)

const (
	// leastTokens is what no cap is lowered below to fit, thinking apart: an answer
	// of a sentence or two.
	leastTokens = 64

	// deadlineShare is the share of answers that are to be through by the deadline,
	// by TTFT and TPOT each. That few of them exceed both at once.
	deadlineShare = 0.95
)

// fit returns the cap of an attempt on the route: the request's or, if the budget
// says so and it is less, what can be written in the time that is left. 0: none.
func (rt *route) fit(e *endpoint, req *Request, now time.Time) int {
	if !e.budget.MaxTokens.Fit {
		return req.MaxTokens
	}
	f, age := rt.expect(), 0.0
	if !req.Since.IsZero() {
		age = now.Sub(req.Since).Seconds()
	}
	most := math.Inf(1)
	for i := range e.totals {
		// A layer that not even the first token is likely to keep is not kept by a
		// short answer either.
		if n := f.writes(req, e.totals[i].limit-age, 1-e.totals[i].allowed); n >= 1 {
			most = min(most, n)
		}
	}
	if !req.Deadline.IsZero() {
		most = min(most, f.writes(req, req.Deadline.Sub(now).Seconds(), deadlineShare))
	}
	most = max(most, float64(leastTokens+req.Thinking))
	if req.MaxTokens > 0 {
		most = min(most, float64(req.MaxTokens))
	}
	if math.IsInf(most, 1) {
		return 0
	}
	return int(most)
}

// writes returns the most tokens that an answer to req can have if a share q of
// such answers is to take no longer than the given seconds; below 1 if there is no
// such answer.
func (f *forecast) writes(req *Request, left, q float64) float64 {
	tokens := f.tokens(req.PromptBytes)
	if !req.Streamed {
		reference := f.fit.at(refPrompt) + (refOutput-1)*f.pace
		left *= reference / bounded(f.dist[total].Quantile(q), longest)
		return 1 + (left-f.fit.at(tokens))/f.pace // where work(tokens, n) * total is left
	}
	if req.Thinking == 0 { // else the first token comes after most of what the cap counts
		left -= bounded(f.dist[ttft].Quantile(q), longest) * f.fit.factor(tokens)
	}
	return 1 + left/bounded(f.dist[tpot].Quantile(q), longestPace)
}

package middleware

import "github.com/ontime-llm/ontime/router"

// inFor is the call as a model of its endpoint is asked: the one that it names, or
// another, which has caps of its own. The caller's own bytes stay as they are.
func (c *liveCall) inFor(model string) *inference {
	if model == c.in.asks.Model {
		return c.in
	}
	in := *c.in
	in.asks.Model = model
	caps := c.budget.MaxTokens
	caps.Strict = false // what the call asked for was looked at when it came in
	_ = in.applyCap(caps, c.set.ceilings[model])
	return &in
}

// asksFor is what the router is asked about such a model.
func (c *liveCall) asksFor(model string) router.Request {
	asks := c.asks
	if in := c.inFor(model); in != c.in {
		asks.Model, asks.MaxTokens, asks.Thinking = model, in.limit, in.thinking()
	}
	return asks
}

// fallback is the model of in, unless it is that of the call itself.
func (in *inference) fallback(call *inference) string {
	if in == call {
		return ""
	}
	return in.asks.Model
}

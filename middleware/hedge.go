package middleware

import (
	"slices"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/router"
)

// leastPatience is how soon the router is asked again after a hedge could not be
// made, lest a call spin.
const leastPatience = 50 * time.Millisecond

// single reports whether a call is never sent twice at once: because it leaves
// something behind, or because it costs as much as several calls.
func (in *inference) single(b budget.Budget) bool {
	return in.asks.SideEffects || !b.HedgeAll && (in.asks.N > 1 || in.dialect == dialect.Embeddings)
}

// mayHedge reports whether a hedge may yet be made.
func (r *race) mayHedge() bool {
	return r.alone() && r.hedgeAt > 0 && !r.hedged && r.next < len(r.plan.Choices) && len(r.attempts) < r.most
}

// hedge asks the router about a second attempt, and starts it if it is due. What
// pays changes with what other calls see, so the answer is good for a while only.
func (r *race) hedge() {
	lead := r.running[0]
	advice := r.plan.Hedge(lead.flight, r.next)
	age := time.Since(lead.start) // not before: what pays now is due, and the answer took a moment
	switch {
	case advice.Again == 0:
		r.hedgeAt = 0
		return
	case advice.At > age:
		r.hedgeAt = advice.Again
		return
	}
	if r.unwanted(advice.Choice) {
		r.take(advice.Choice)
		return // and asks again at once
	}
	flight, err := r.set.router.Start(advice.Choice, r.asksFor(advice.Choice.Model))
	if err != nil {
		r.hedgeAt = age + max(age/4, leastPatience)
		return
	}
	r.take(advice.Choice)
	r.hedged = true
	r.launch(advice.Choice, flight, true)
}

// take moves the next choice past one that was taken out of turn.
func (r *race) take(choice router.Choice) {
	left := r.plan.Choices[r.next:]
	i := slices.IndexFunc(left, func(c router.Choice) bool { return c.Target == choice.Target })
	copy(left[1:i+1], left[:i])
	left[0] = choice
	r.next++
}

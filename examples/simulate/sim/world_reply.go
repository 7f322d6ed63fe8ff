package sim

import (
	"net/http"
	"time"
)

// pace is the time per token after the first, pauses apart.
func (r *Reply) pace() time.Duration {
	if r.Output < 2 {
		return 0
	}
	return (r.Total - r.Stall - r.TTFT) / time.Duration(r.Output-1)
}

// token is when the nth token comes; the first is 1.
func (r *Reply) token(n int) time.Duration {
	if n >= r.Output {
		return r.Total
	}
	at := r.TTFT + time.Duration(n-1)*r.pace()
	if r.Stall > 0 && n >= r.StallAt {
		at += r.Stall
	}
	return at
}

// came is how many tokens have come by an age.
func (r *Reply) came(age time.Duration) int {
	switch {
	case r.TTFT == 0 || age < r.TTFT:
		return 0
	case age >= r.Total:
		return r.Output
	case r.Stall > 0 && age >= r.token(r.StallAt-1):
		if age < r.token(r.StallAt) {
			return r.StallAt - 1
		}
		age -= r.Stall
	}
	if r.pace() == 0 {
		return r.Output
	}
	return min(r.Output, 1+int((age-r.TTFT)/r.pace()))
}

// Cost is what a request costs that is ended at an age, in USD: its prompt always,
// unless it was refused, and what was written by then.
func (w *World) Cost(c *Call, target int, r *Reply, age time.Duration) float64 {
	if r.Status != http.StatusOK {
		return 0
	}
	t := &w.sites[target].Target
	const million = 1e6
	return (float64(c.Prompt-r.Cached)*t.Input + float64(r.Cached)*t.Cached + float64(r.came(age))*t.Output) / million
}

package status

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

const reasonEvery = time.Second

// books are those of all endpoints, by name.
type books struct {
	mu  sync.RWMutex // guards all
	all map[string]*book
}

// of returns the book of an endpoint, opened when it is first met.
func (bs *books) of(endpoint string) *book {
	bs.mu.RLock()
	b := bs.all[endpoint]
	bs.mu.RUnlock()
	if b != nil {
		return b
	}
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if b = bs.all[endpoint]; b == nil {
		b = new(book)
		bs.all[endpoint] = b
	}
	return b
}

// keep throws away the books of endpoints that are gone.
func (bs *books) keep(known []router.EndpointStatus) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	for name := range bs.all {
		if !slices.ContainsFunc(known, func(e router.EndpointStatus) bool { return e.Name == name }) {
			delete(bs.all, name)
		}
	}
}

// isStray tells whether a call belongs to no endpoint that there is.
func isStray(c *middleware.Call) bool {
	return errors.Is(c.Err, middleware.ErrUnknownEndpoint)
}

// book is what the calls of one endpoint came to.
type book struct {
	mu                sync.Mutex // guards all below; held for a few instructions
	ttft, tpot, total times
	outcomes          [middleware.Lost + 1]uint64
	usage             middleware.Usage
	cost, lost        float64 // USD; lost is that of attempts which lost their race
	choice            *Choice // the latest that was explained
	explained         time.Time
}

// wantsReason tells, to one call a second, that its reason is wanted.
func (b *book) wantsReason(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.explained) < reasonEvery {
		return false
	}
	b.explained = now
	return true
}

func (b *book) enter(c *middleware.Call, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.Streamed {
		b.ttft.add(now, c.TTFT, c.Total)
	}
	if c.TPOT > 0 {
		b.tpot.add(now, c.TPOT, 0)
	}
	whole := c.Total
	if c.Outcome != middleware.Completed {
		whole = 0
	}
	b.total.add(now, whole, c.Total)
	if int(c.Outcome) < len(b.outcomes) {
		b.outcomes[c.Outcome]++
	}
	b.cost += c.Cost
	for i := range c.Attempts {
		if a := &c.Attempts[i]; a.Outcome == middleware.Lost {
			b.lost += a.Cost
		}
	}
	b.usage.Input += c.Usage.Input
	b.usage.CachedInput += c.Usage.CachedInput
	b.usage.Reasoning += c.Usage.Reasoning
	b.usage.Output += c.Usage.Output
	if c.Reason != "" {
		b.choice = &Choice{At: c.Start, Model: clip(c.Model, mostName), Reason: clip(c.Reason, mostReason)}
	}
}

// of returns the times of a metric; nil if it has none.
func (b *book) of(m budget.Metric) *times {
	switch m {
	case budget.TTFT:
		return &b.ttft
	case budget.TPOT:
		return &b.tpot
	case budget.Total:
		return &b.total
	}
	return nil
}

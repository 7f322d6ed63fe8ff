package otel

import (
	"sync"
	"unicode/utf8"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

const maxNames = 64 // of a kind

// labels are the names that metrics are told apart by.
type labels struct{ endpoint, target, address, model, served string }

// names are those that were met first: there are no more, whatever callers and providers
// send.
type names struct {
	mu                                          sync.Mutex // guards all below
	endpoints, targets, addresses, models, made set
}

type set map[string]struct{}

// label returns the labels of a call that the attempt a answered. A call for which nothing
// was sent makes no name known: it may be one that only the caller knows.
func (n *names) label(c *middleware.Call, a *middleware.Attempt) labels {
	l := labels{endpoint: c.Endpoint, target: c.Target, model: c.Model}
	if l.endpoint == "" {
		l.endpoint = router.DefaultEndpoint
	}
	if a != nil {
		l.address, l.served = a.Address, a.ServedModel
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return labels{
		endpoint: n.endpoints.bound(l.endpoint, a != nil), target: n.targets.bound(l.target, a != nil),
		address: n.addresses.bound(l.address, true), model: n.models.bound(l.model, a != nil),
		served: n.made.bound(l.served, true),
	}
}

func (s *set) bound(name string, known bool) string {
	if _, ok := (*s)[name]; ok || name == "" {
		return name
	}
	if !known || len(*s) >= maxNames || len(name) > maxText || !utf8.ValidString(name) {
		return other
	}
	if *s == nil {
		*s = make(set)
	}
	(*s)[name] = struct{}{}
	return name
}

package metrics

import (
	"strings"
	"sync"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

const (
	other    = "other" // stands for all names that there is no room for
	maxNames = 64      // of a kind, where there is no router to bound them
)

// key is what most series are told apart by.
type key struct{ endpoint, target, model string }

// label returns the labels of a call. Names that callers choose freely are bounded: to
// what the router knows, or else in number.
func (m *Metrics) label(c *middleware.Call) key {
	k := key{endpoint: c.Endpoint, target: c.Target, model: c.Model}
	if k.endpoint == "" {
		k.endpoint = router.DefaultEndpoint
	}
	if m.current == nil {
		return m.names.bound(k)
	}
	r := m.current()
	if _, ok := r.Budget(k.endpoint); !ok {
		k.endpoint = other
	}
	k.model = m.model(k.model)
	return k
}

// target returns the label of a target: a router's are those of a configuration.
func (m *Metrics) target(name string) string {
	if m.current == nil {
		return m.names.target(name)
	}
	return name
}

// model returns the label of a model that a router knows. Without one there are no other
// models than the calls'.
func (m *Metrics) model(name string) string {
	if m.current == nil {
		return other
	}
	return valid(m.current().Label(name))
}

// valid keeps a name that a configuration has from being one that Prometheus refuses.
func valid(name string) string { return strings.ToValidUTF8(name, "\ufffd") }

// names are those that were met first.
type names struct {
	mu                         sync.Mutex
	endpoints, targets, models set
}

type set map[string]struct{}

func (n *names) bound(k key) key {
	n.mu.Lock()
	defer n.mu.Unlock()
	return key{n.endpoints.bound(k.endpoint), n.targets.bound(k.target), n.models.bound(k.model)}
}

func (n *names) target(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.targets.bound(name)
}

func (s *set) bound(name string) string {
	if _, ok := (*s)[name]; ok {
		return name
	}
	if len(*s) >= maxNames || name != strings.ToValidUTF8(name, "") {
		return other
	}
	if *s == nil {
		*s = make(set)
	}
	(*s)[name] = struct{}{}
	return name
}

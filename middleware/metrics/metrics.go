package metrics

import (
	"fmt"
	"maps"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// Registerer is what metrics are registered with, such as a *prometheus.Registry. It
// has a name here so that a package can take one without importing Prometheus.
type Registerer = prometheus.Registerer

// Option configures [New].
type Option func(*Metrics)

// State adds the metrics of routes, layers and keys, and has calls counted under the
// endpoints and models that the router knows. The func returns the router that calls
// are planned with now. It is called at every scrape and every call, concurrently.
func State(current func() *router.Router) Option {
	return func(m *Metrics) { m.current = current }
}

// Metrics counts and measures calls. It is a middleware.Observer, for a client as for a
// middleware.Meter, and a prometheus.Collector. It is made by [New], and safe for
// concurrent use.
type Metrics struct {
	reg     Registerer
	vectors vectors
	current func() *router.Router // nil: there is none
	names   names                 // used if there is none

	mu     sync.RWMutex // guards series
	series map[key]*series
}

// New returns Metrics that are registered with reg. It is an error if reg has metrics of
// these names: where there are two clients, give each prometheus.WrapRegistererWith and a
// label of its own.
func New(reg Registerer, opts ...Option) (*Metrics, error) {
	m := &Metrics{reg: reg, vectors: newVectors(), series: make(map[key]*series)}
	for _, opt := range opts {
		opt(m)
	}
	if err := reg.Register(m); err != nil {
		return nil, fmt.Errorf("metrics: another client's are registered: close it first, or set each apart "+
			"by prometheus.WrapRegistererWith and a label of its own: %w", err)
	}
	return m, nil
}

// Unregister takes the metrics out again. Calls that end later are counted for nobody.
func (m *Metrics) Unregister() { m.reg.Unregister(m) }

// ObserveAttempt does nothing: a call carries its attempts.
func (m *Metrics) ObserveAttempt(middleware.Attempt) {}

// ObserveCall counts a call that has ended, and its attempts.
func (m *Metrics) ObserveCall(c middleware.Call) {
	k := m.label(&c)
	m.of(k).asked(&c)
	named := k.model
	if c.Fallback != "" {
		k.model = m.model(c.Fallback)
	}
	m.of(k).call(&c)
	for i := range c.Attempts {
		a := &c.Attempts[i]
		k.target, k.model = m.target(a.Target), named
		if a.Fallback != "" {
			k.model = m.model(a.Fallback)
		}
		m.of(k).attempt(a, kindOf(a, i))
	}
}

// Describe is the prometheus.Collector's.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, v := range m.vectors.all() {
		v.Describe(to)
	}
	to <- itl
	if m.current != nil {
		describeState(to)
	}
}

// Collect is the prometheus.Collector's.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, v := range m.vectors.all() {
		v.Collect(to)
	}
	for k, s := range m.all() {
		s.gaps.collect(&k, to)
	}
	if m.current != nil {
		collectState(m.current().Snapshot(), to)
	}
}

// all are the series that there are now.
func (m *Metrics) all() map[key]*series {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return maps.Clone(m.series)
}

// of returns the series of a key, made when it is first met.
func (m *Metrics) of(k key) *series {
	m.mu.RLock()
	s, ok := m.series[k]
	m.mu.RUnlock()
	if ok {
		return s
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok = m.series[k]; !ok {
		s = &series{key: k, in: &m.vectors}
		m.series[k] = s
	}
	return s
}

var (
	_ middleware.Observer  = (*Metrics)(nil)
	_ prometheus.Collector = (*Metrics)(nil)
)

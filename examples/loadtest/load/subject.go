package load

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// Subject is what is put under load: a target directly, or an endpoint through the
// router. Close it.
type Subject struct {
	name, endpoint, model string
	client                *client.Client
	http                  *http.Client
	allowed               []string        // targets of the endpoint; none: all
	base                  *http.Transport // ours, if the configuration has none
	targets               []TargetRecord
}

// TargetRecord is a target as a report has it.
type TargetRecord struct {
	Name     string `json:"name"`
	Provider string `json:"provider,omitempty"`
	Region   string `json:"region,omitempty"`
	Host     string `json:"host,omitempty"` // where no preset says where it is
	Model    string `json:"model"`          // as it is asked for there
}

// Direct returns a target of cfg as a subject. Nothing of the router is between: there is
// no other target, no hedge, no waiting for a limit, and a refusal is an answer. Only a
// request that met no response is tried again, and counts as failed all the same. Of
// the budget the token caps count.
func Direct(cfg client.Config, target, model string, b budget.Budget) (*Subject, error) {
	i := slices.IndexFunc(cfg.Targets, func(t client.Target) bool { return t.Name == target })
	if i < 0 {
		return nil, fmt.Errorf("there is no target %q", target)
	}
	t := cfg.Targets[i]
	t.Limits = router.Limits{}
	cfg.Targets, cfg.Home, cfg.Shadow = []client.Target{t}, "", false
	cfg.Endpoints = map[string]budget.Budget{
		router.DefaultEndpoint: {MaxTokens: budget.MaxTokens{Default: b.MaxTokens.Default, Limit: b.MaxTokens.Limit}, Hedge: -1},
	}
	s := &Subject{name: target, model: model}
	return s.open(cfg, func(next http.RoundTripper) http.RoundTripper { return plain{next} })
}

// Routed returns an endpoint of cfg as a subject, with all that the router does.
func Routed(cfg client.Config, endpoint, model string) (*Subject, error) {
	b, ok := cfg.Endpoints[endpoint]
	if !ok && endpoint != router.DefaultEndpoint {
		return nil, fmt.Errorf("there is no endpoint %q", endpoint)
	}
	s := &Subject{name: endpoint, endpoint: endpoint, model: model, allowed: b.Targets}
	return s.open(cfg, func(next http.RoundTripper) http.RoundTripper { return next })
}

func (s *Subject) open(cfg client.Config, wrap func(http.RoundTripper) http.RoundTripper) (*Subject, error) {
	if cfg.Transport == nil {
		s.base = newTransport()
		cfg.Transport = s.base
	}
	cfg.Transport = wrap(cfg.Transport)
	cfg.Registerer = nil // two subjects would have the same metrics
	cfg.Grace = -1
	var err error
	if s.client, err = client.New(cfg); err != nil {
		return nil, err
	}
	s.http = s.client.HTTPClient()
	s.record(cfg.Targets)
	return s, nil
}

// record notes the targets that may serve the subject's calls.
func (s *Subject) record(targets []client.Target) {
	for _, t := range targets {
		own, serves := t.Models[s.model]
		switch {
		case len(s.allowed) > 0 && !slices.Contains(s.allowed, t.Name):
			continue
		case len(t.Models) == 0:
			own = s.model
		case !serves:
			continue
		}
		s.targets = append(s.targets, TargetRecord{t.Name, t.Provider, t.Region, host(t.BaseURL), own})
	}
}

// newTransport has a connection for each stream, which is what the client's own has too.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 4096
	return t
}

func host(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Host
}

// Routed reports whether the router is between.
func (s *Subject) Routed() bool { return s.endpoint != "" }

// String is the subject's name in tables.
func (s *Subject) String() string { return title(s.name, s.Routed()) }

func title(name string, routed bool) string {
	if routed {
		return name + " (routed)"
	}
	return name
}

// Close ends the subject's client, with whatever it still has under way.
func (s *Subject) Close() error {
	err := s.client.Close()
	if s.base != nil {
		s.base.CloseIdleConnections()
	}
	return err
}

// call makes one call and reads its answer to the end, without keeping it.
func (s *Subject) call(ctx context.Context, body []byte, timeout time.Duration) *middleware.Call {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if s.Routed() {
		ctx = budget.With(ctx, s.endpoint)
	}
	ctx, call := middleware.WithCall(ctx)
	exchange(ctx, s.http, body)
	if !s.Routed() && call.Outcome != middleware.Completed {
		s.client.Restore(s.name) // else the router would spare it
	}
	return call
}

// models returns the names under which models are known to cfg's targets; none if a
// target takes any.
func models(targets []client.Target) []string {
	all := make(map[string]bool)
	for _, t := range targets {
		if len(t.Models) == 0 {
			return nil
		}
		for name := range t.Models {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// OnlyModel returns the model that cfg's targets serve, if it is one and the same.
func OnlyModel(cfg client.Config) (string, bool) {
	if all := models(cfg.Targets); len(all) == 1 {
		return all[0], true
	}
	return "", false
}

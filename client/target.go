package client

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// identity is the target as the router knows it.
func (t *Target) identity() router.Target {
	id := router.Target{
		Name: t.Name, Provider: t.Provider, Region: t.Region,
		Price: t.Price, Limits: t.Limits, Keys: len(t.keys()),
	}
	if id.Provider == "" {
		id.Provider = compatible
	}
	if len(t.Models) > 0 {
		id.Models = slices.Sorted(maps.Keys(t.Models))
	}
	return id
}

// upstream is the target as the transport sends to it. Its configuration has
// been checked.
func (t *Target) upstream() middleware.Upstream {
	preset, _ := t.preset()
	address := t.BaseURL
	if address == "" {
		address = preset.baseURL
	}
	base, _ := url.Parse(address)
	u := middleware.Upstream{
		Name: t.Name, Region: t.Region, BaseURL: base, Models: maps.Clone(t.Models), Price: t.Price,
		Provider: t.maker(base), CapName: preset.capName, AskUsage: !preset.noUsage,
		Header: make(http.Header, len(t.Headers)),
	}
	for name, value := range t.Headers {
		u.Header.Set(name, value)
	}
	if t.Auth != nil {
		u.Authorize = func(r *http.Request, _ int) error { return t.Auth(r) }
	}
	if keys := t.keys(); len(keys) > 0 {
		u.Authorize = withKeys(preset, keys)
	}
	if t.AdminKey != "" {
		u.AuthorizeAdmin = withKeys(provider{}, []string{t.AdminKey})
	}
	return u
}

// maker tells whose the target is: for a compatible one, the host's.
func (t *Target) maker(base *url.URL) string {
	if t.Provider == "" || t.Provider == compatible {
		return base.Host
	}
	return t.Provider
}

// withKeys puts the key of that index on each request: as a bearer token, or
// plain in a header of the provider's own.
func withKeys(p provider, keys []string) func(*http.Request, int) error {
	return func(r *http.Request, key int) error {
		header := p.header
		if p.native != "" && strings.HasSuffix(r.URL.Path, "/messages") {
			header = p.native
		}
		if header == "" {
			r.Header.Set("Authorization", "Bearer "+keys[key])
		} else {
			r.Header.Set(header, keys[key])
		}
		return nil
	}
}

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
		Name: t.Name, Provider: t.maker(), Region: t.Region,
		Price: t.Price, Limits: t.Limits, Keys: len(t.keys()),
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
	u := middleware.Upstream{
		Name: t.Name, Region: t.Region, BaseURL: t.base(), Models: maps.Clone(t.Models), Price: t.Price,
		Provider: t.maker(), CapName: preset.capName, AskUsage: !preset.noUsage,
		Header: make(http.Header, len(t.Headers)),
	}
	for name, value := range t.Headers {
		u.Header.Set(name, value)
	}
	if auth := t.Auth; auth != nil { // t is the application's, which may change it
		u.Authorize = func(r *http.Request, _ int) error { return auth(r) }
	}
	if keys := t.keys(); len(keys) > 0 {
		u.Authorize = withKeys(preset, keys)
	}
	if t.AdminKey != "" {
		u.AuthorizeAdmin = withKeys(provider{}, []string{t.AdminKey})
	}
	return u
}

// base is the target's base URL, its own or its provider's; empty if it is no URL.
func (t *Target) base() *url.URL {
	address := t.BaseURL
	if preset, _ := t.preset(); address == "" {
		address = preset.baseURL
	}
	base, err := url.Parse(address)
	if err != nil {
		return new(url.URL)
	}
	return base
}

// maker tells whose the target is: for a compatible one, the host's.
func (t *Target) maker() string {
	if t.Provider == "" || t.Provider == compatible {
		return t.base().Host
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

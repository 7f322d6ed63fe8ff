package client

import (
	"maps"
	"net/http"
	"slices"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// identity is the target as the router knows it.
func (t *Target) identity() router.Target {
	id := router.Target{
		Name: t.Name, Provider: t.maker(), Region: t.Region,
		Formats: slices.Clone(t.formats()), Price: t.Price, Prices: maps.Clone(t.Prices), Limits: t.Limits, Keys: len(t.keys()),
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
	base, deployments := t.base()
	capName := preset.capName
	if t.ofDeployments() {
		capName = "" // not all of them take the newer, nor the older
	}
	u := middleware.Upstream{
		Name: t.Name, Region: t.Region, BaseURL: base, Deployments: deployments, Models: maps.Clone(t.Models),
		Price: t.Price, Prices: maps.Clone(t.Prices),
		Provider: t.maker(), CapName: capName, AskUsage: !preset.noUsage,
		Header: make(http.Header, len(t.Headers)), Authorize: t.authorize(),
	}
	for name, value := range t.Headers {
		u.Header.Set(name, value)
	}
	if t.AdminKey != "" {
		u.AuthorizeAdmin = (&Target{APIKey: t.AdminKey}).authorize()
	}
	return u
}

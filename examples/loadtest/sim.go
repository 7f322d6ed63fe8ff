package main

import (
	"net/http/httptest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/router"
)

const ms = time.Millisecond

// region is a simulated provider. Its times are about a thirtieth of real ones, so that
// a test takes seconds.
type region struct {
	name      string
	price     router.Price
	behaviour upstream.Behaviour
}

// The near one is quick until many call it, and has stragglers; the far one is steady.
var regions = []region{
	{"near", router.Price{Input: 0.44, CachedInput: 0.11, Output: 1.76}, upstream.Behaviour{
		TTFT: upstream.Latency{Median: 10 * ms, Sigma: 0.25, StragglerShare: 0.03, StragglerFactor: 6},
		Pace: upstream.Latency{Median: ms / 4, Sigma: 0.15}, Capacity: 12,
		Output: upstream.Length{Median: 80}, TokensPerEvent: 8,
	}},
	{"far", router.Price{Input: 0.50, CachedInput: 0.12, Output: 2.00}, upstream.Behaviour{
		TTFT:   upstream.Latency{Median: 16 * ms, Sigma: 0.2},
		Pace:   upstream.Latency{Median: ms / 4, Sigma: 0.15},
		Output: upstream.Length{Median: 80}, TokensPerEvent: 8,
	}},
}

var simPromise = budget.Budget{TTFT: budget.Layers{50: 20 * ms, 95: 45 * ms, 99: 80 * ms}}

// simulated starts two providers on sockets of this machine, and is their configuration.
func simulated(seed uint64) (client.Config, []*httptest.Server) {
	cfg := client.Config{Endpoints: map[string]budget.Budget{"chat": simPromise}, Seed: seed}
	var servers []*httptest.Server
	for _, r := range regions {
		s := httptest.NewServer(upstream.New(r.name, r.behaviour, seed))
		servers = append(servers, s)
		cfg.Targets = append(cfg.Targets, client.Target{
			Name: r.name, Region: r.name, BaseURL: s.URL + "/v1", APIKey: "simulated",
			Models: map[string]string{"small": "small"}, Price: r.price,
		})
	}
	return cfg, servers
}

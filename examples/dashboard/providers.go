package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/router"
)

const ms = time.Millisecond

var promises = map[string]budget.Budget{
	"chat":    {TTFT: budget.Layers{50: 400 * ms, 95: 900 * ms, 99: 3 * time.Second}, TPOT: budget.Layers{95: 40 * ms}},
	"extract": {Total: budget.Layers{95: 6 * time.Second}},
	"batch":   budget.Batch(),
}

// providers are simulated: nothing leaves the process.
type providers []provider

type provider struct {
	name, maker, region string
	price               router.Price
	server              *upstream.Server
}

func newProviders() providers {
	behaviour := func(ttft, pace time.Duration) upstream.Behaviour {
		return upstream.Behaviour{
			TTFT: upstream.Latency{Median: ttft, Sigma: 0.3, StragglerShare: 0.01, StragglerFactor: 6}, Prefill: upstream.Prefill,
			Pace: upstream.Latency{Median: pace, Sigma: 0.2}, TokensPerEvent: 4,
			Output: upstream.Length{Median: 60, Sigma: 0.6}, EarlyHeaders: 0.4, PromptCache: time.Minute,
			Faults: upstream.Faults{HTTPError: 0.003, Reset: 0.002},
		}
	}
	all := providers{
		{name: "near", maker: "openai", region: "eu", price: router.Price{Input: 0.15, CachedInput: 0.075, Output: 0.60}},
		{name: "azure-eu", maker: "azure", region: "swedencentral", price: router.Price{Input: 0.16, CachedInput: 0.08, Output: 0.66}},
		{name: "azure-us", maker: "azure", region: "eastus2", price: router.Price{Input: 0.16, CachedInput: 0.08, Output: 0.66}},
		{name: "fast", maker: "groq", region: "us", price: router.Price{Input: 0.59, CachedInput: 0.59, Output: 0.79}},
	}
	for i, b := range []upstream.Behaviour{
		behaviour(220*ms, 14*ms), behaviour(290*ms, 17*ms), behaviour(380*ms, 16*ms), behaviour(150*ms, 4*ms),
	} {
		all[i].server = upstream.New(all[i].name, b, uint64(i+1))
	}
	all[3].server.Set(func(b *upstream.Behaviour) { b.RequestsPerMinute = 150 }) // the fast one is soon used up
	return all
}

func (ps providers) targets() []client.Target {
	var targets []client.Target
	for _, p := range ps {
		targets = append(targets, client.Target{
			Name: p.name, Provider: "compatible", Region: p.region, BaseURL: "https://" + p.name + ".test/v1",
			APIKey: "simulated", Price: p.price, Models: map[string]string{"small": p.maker + "-small"},
		})
	}
	return targets
}

func (ps providers) network() upstream.Network {
	network := upstream.Network{}
	for _, p := range ps {
		network[p.name+".test"] = p.server
	}
	return network
}

// spikeEveryMinute makes the nearest provider slow and faulty for a third of each
// minute.
func (ps providers) spikeEveryMinute(ctx context.Context) {
	near := ps[0].server
	wait := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-ctx.Done():
			return false
		}
	}
	for wait(40 * time.Second) {
		fmt.Println(time.Now().Format(time.TimeOnly), "near spikes: 1 in 3 begins 10 times later, 10% fail")
		near.Set(func(b *upstream.Behaviour) {
			b.Slow, b.Faults.HTTPError = upstream.Slow{Share: 0.35, TTFT: 10}, 0.1
		})
		if !wait(20 * time.Second) {
			return
		}
		near.Set(func(b *upstream.Behaviour) { b.Slow, b.Faults.HTTPError = upstream.Slow{}, 0.003 })
		fmt.Println(time.Now().Format(time.TimeOnly), "near is well again")
	}
}

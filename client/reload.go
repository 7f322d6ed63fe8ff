package client

import (
	"maps"
	"slices"

	"github.com/ontime-llm/ontime/router"
)

// Reload makes cfg the configuration of all calls that enter from now on. Calls
// under way go to their end by the one before. An invalid cfg is an error that lists
// every problem, as in [New], and changes nothing. After Close it is
// [middleware.ErrClosed]. It is safe for concurrent use, and also where calls are made
// meanwhile.
//
// A target stays what it was if its name, provider and base URL are the same: what was
// seen of its routes stays, with breakers, cooldowns and refused keys, whatever its price,
// limits, headers or region. Only for models that it answers with another model now,
// and for keys that are new, does it begin anew; what Target.Auth puts on a request
// counts as a new key. The debt of a layer stays if the endpoint has one with the same
// metric, percentile and limit. What clients of [Client.Endpoint] do follows the
// names: calls of one that is gone fail with [middleware.ErrUnknownEndpoint] until it
// comes back.
//
// Transport, Logger, Observers, Registerer, Shared and TraceID stay those that New was given:
// what cfg has of them is not looked at, so that what [Load] returns can be passed on
// as it is.
func (c *Client) Reload(cfg Config) error {
	c.reloading.Lock()
	defer c.reloading.Unlock()
	if _, err := cfg.newRouter(); err != nil {
		return err // all problems, not only the router's
	}
	r, err := c.router.Load().Reload(cfg.routing(), c.keep(&cfg))
	if err != nil {
		return err
	}
	if err := c.transport.Reload(cfg.transport(r, nil)); err != nil {
		return err
	}
	c.router.Store(r)
	c.keep = keepFrom(&cfg)
	c.addEndpoints(&cfg)
	return nil
}

// upstreamID is what makes a target the one that it is.
type upstreamID struct {
	maker, base string
	deployments bool // below base
	models      map[string]string
	keys        []string
	auth        bool
}

func (c *Config) ids() map[string]upstreamID {
	all := make(map[string]upstreamID, len(c.Targets))
	for i := range c.Targets {
		t := &c.Targets[i]
		base, deployments := t.base()
		all[t.Name] = upstreamID{
			maker: t.maker(), base: base.String(), deployments: deployments,
			models: maps.Clone(t.Models), keys: t.keys(), auth: t.Auth != nil,
		}
	}
	return all
}

// keepFrom tells, given the next configuration, what of this one stays. It notes
// what it needs now: keys may be the environment's.
func keepFrom(c *Config) func(*Config) router.Keep {
	before := c.ids()
	return func(next *Config) router.Keep {
		now := next.ids()
		return router.Keep{
			Target: func(name string) bool {
				was, ok := before[name]
				is := now[name]
				return ok && was.maker == is.maker && was.base == is.base && was.deployments == is.deployments
			},
			Model: func(target, model string) bool {
				return before[target].model(model) == now[target].model(model)
			},
			Key: func(target string, key int) int {
				return before[target].key(now[target], key)
			},
		}
	}
}

// model is the target's own name for a model.
func (id upstreamID) model(name string) string {
	if own, ok := id.models[name]; ok {
		return own
	}
	return name
}

// key is the index that a key of the target as it is now had, or -1.
func (id upstreamID) key(now upstreamID, key int) int {
	switch {
	case now.auth || id.auth:
		return -1 // a func may be another, or have another token
	case len(now.keys) == 0 && len(id.keys) == 0:
		return 0 // it needs none
	case key >= len(now.keys):
		return -1
	}
	return slices.Index(id.keys, now.keys[key])
}

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/examples/loadtest/load"
	"github.com/ontime-llm/ontime/router"
)

// test is a plan with what has to be closed after it.
type test struct {
	plan   load.Plan
	price  float64 // USD, at most; 0: not known
	free   bool    // it goes no further than this machine
	closes []func() error
}

func (t *test) close() {
	for _, c := range slices.Backward(t.closes) {
		c()
	}
}

// prepare makes the plan that the options ask for. Nothing is sent.
func (o *options) prepare() (*test, error) {
	t := new(test)
	if err := t.build(o); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *test) build(o *options) error {
	cfg, err := o.configuration(t)
	if err != nil {
		return err
	}
	model := o.model
	if model == "" {
		var ok bool
		if model, ok = load.OnlyModel(cfg); !ok {
			return errors.New("the targets serve several models, or any: choose one with -model")
		}
	}
	var b budget.Budget
	if len(o.endpoints) > 0 {
		b = cfg.Endpoints[o.endpoints[0]]
	}
	if t.plan, err = o.plan(b); err != nil {
		return err
	}
	for _, name := range o.direct(cfg, b) {
		if err := t.add(load.Direct(cfg, name, model, b)); err != nil {
			return err
		}
	}
	for _, name := range o.endpoints {
		if err := t.add(load.Routed(cfg, name, model)); err != nil {
			return err
		}
	}
	t.free = !slices.ContainsFunc(cfg.Targets, func(c client.Target) bool { return !isLoopback(c.BaseURL) })
	v := t.plan.Volume()
	t.price = dearest(cfg.Targets).Cost(v.Input, 0, v.Output)
	return nil
}

func (t *test) add(s *load.Subject, err error) error {
	if err != nil {
		return err
	}
	t.closes = append(t.closes, s.Close)
	t.plan.Subjects = append(t.plan.Subjects, s)
	return nil
}

// configuration is what was asked for, or a simulated one.
func (o *options) configuration(t *test) (client.Config, error) {
	switch {
	case o.config != "":
		return client.Load(o.config)
	case o.url != "":
		only := client.Target{Name: "target", BaseURL: o.url}
		if u, err := url.Parse(o.url); err == nil {
			only.Name = targetName(u.Hostname())
		}
		if o.keyVariable != "" {
			if only.APIKey = os.Getenv(o.keyVariable); only.APIKey == "" {
				return client.Config{}, fmt.Errorf("%s is not set", o.keyVariable)
			}
		}
		return client.Config{Targets: []client.Target{only}}, nil
	case o.provider != "":
		return client.Config{Targets: []client.Target{{Name: o.provider, Provider: o.provider}}}, nil
	}
	cfg, servers := simulated(o.seed)
	for _, s := range servers {
		t.closes = append(t.closes, func() error { s.Close(); return nil })
	}
	if o.endpoints == nil {
		o.endpoints = []string{"chat"}
	}
	return cfg, nil
}

// targetName makes a host a name that a target may have.
func targetName(host string) string {
	if host == "" || strings.Contains(host, ":") { // an address of IPv6
		return "target"
	}
	return strings.ToLower(host)
}

// direct are the names of the targets that are called directly.
func (o *options) direct(cfg client.Config, b budget.Budget) []string {
	switch {
	case slices.Equal(o.targets, []string{"-"}):
		return nil
	case o.targets != nil:
		return o.targets
	case len(b.Targets) > 0:
		return b.Targets
	}
	var names []string
	for _, t := range cfg.Targets {
		names = append(names, t.Name)
	}
	return names
}

func (o *options) plan(b budget.Budget) (load.Plan, error) {
	p := load.Plan{
		Loads: o.loads, Calls: o.calls, Rounds: o.rounds, Warmup: o.warmup,
		Prompts: load.Synthetic(o.prompt), Output: o.output, Stream: o.stream, Bust: o.bust,
		Timeout: o.timeout, Budget: b, Seed: o.seed,
	}
	if o.ignoreEOS {
		p.Extra = map[string]any{"ignore_eos": true}
	}
	if o.promptFile == "" {
		return p, nil
	}
	file, err := os.Open(o.promptFile)
	if err != nil {
		return p, err
	}
	defer file.Close()
	p.Prompts, err = load.ReadPrompts(file)
	return p, err
}

// mayRun says what will be sent, and refuses to send it anywhere else than to this machine
// unless it was told to.
func (t *test) mayRun(o *options, out io.Writer) error {
	v := t.plan.Volume()
	cost := ""
	if t.price > 0 {
		cost = fmt.Sprintf(", up to $%.2f at the dearest target's price", t.price)
	}
	said := fmt.Sprintf("%d calls, with about %d tokens of input and up to %d of output%s; the router may add hedges and retries",
		v.Calls, v.Input, v.Output, cost)
	if !t.free && !o.yes {
		return fmt.Errorf("this sends %s. Nothing was sent: add -yes to send it", said)
	}
	_, err := fmt.Fprintf(out, "%s\n", said)
	return err
}

func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// dearest has the highest price of each kind.
func dearest(targets []client.Target) router.Price {
	var p router.Price
	for _, t := range targets {
		p.Input, p.Output = max(p.Input, t.Price.Input), max(p.Output, t.Price.Output)
	}
	return p
}

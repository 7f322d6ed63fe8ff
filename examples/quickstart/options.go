package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// options are what the command line says.
type options struct {
	calls  int
	seed   uint64
	real   bool
	plain  bool
	models map[string]string // by provider
}

func parseOptions() options {
	o := options{models: map[string]string{}}
	flag.IntVar(&o.calls, "calls", 0, "how many calls to make (default 700, with -real 20)")
	flag.Uint64Var(&o.seed, "seed", 3, "of the simulated luck")
	flag.BoolVar(&o.real, "real", false, "call the providers whose API keys are in the environment; this costs money")
	flag.BoolVar(&o.plain, "plain", false, "print the table now and then instead of redrawing it")
	flag.Func("model", "with -real: `provider=model` instead of its default; may be repeated", o.setModel)
	flag.Parse()
	switch {
	case o.calls > 0:
	case o.real:
		o.calls = 20
	default:
		o.calls = 700
	}
	return o
}

func (o *options) setModel(s string) error {
	name, model, ok := strings.Cut(s, "=")
	if !ok || model == "" {
		return fmt.Errorf("write it as provider=model")
	}
	if !slices.ContainsFunc(providers, func(p provider) bool { return p.name == name }) {
		return fmt.Errorf("%q is no provider: use one of %s", name, providerNames())
	}
	o.models[name] = model
	return nil
}

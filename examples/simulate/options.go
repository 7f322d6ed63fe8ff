package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
)

// options are what the command line says.
type options struct {
	scenarios []sim.Scenario
	rates     []float64
	early     []bool
	policies  []string // parts of their names; empty: all
	seeds     int
	first     uint64
	calls     int // of a run; 0: the usual
	full      bool
	json      string
	picture   string
	trace     sim.Trace
}

// errReported has been told to the user, with the usage.
var errReported = errors.New("wrong arguments")

func parseOptions(args []string) (options, error) {
	o := options{scenarios: sim.Scenarios(), rates: []float64{5}, early: []bool{true}}
	flags := flag.NewFlagSet("simulate", flag.ContinueOnError)
	flags.Func("scenario", "play these alone, by `name`, with commas: "+scenarioNames(), o.setScenarios)
	flags.Func("rate", "calls per second, `numbers` with commas (default 5)", o.setRates)
	flags.Func("headers", "when they come: `early`, late (with the first token) or both (default early)", o.setHeaders)
	flags.Func("policy", "only policies with one of these `words` in their name, with commas; \"ontime\" is ours", o.setPolicies)
	flags.IntVar(&o.seeds, "seeds", 3, "`number` of runs of everything, each with other luck")
	flags.Uint64Var(&o.first, "seed", 1, "the first seed")
	flags.IntVar(&o.calls, "calls", 2000, "`number` of calls of a run; 0: 1,800, 6,000 and 12,000 at 0.5, 5 and 50 calls/s")
	flags.BoolVar(&o.full, "full", false, "20 seeds, rates 0.5, 5 and 50, early and late headers, runs of the usual length, all our ways; more than an hour")
	flags.StringVar(&o.json, "json", "", "write all figures to this `file`")
	flags.StringVar(&o.picture, "picture", "", "write a picture of cost against attainment to this `file` (SVG)")
	var traces []string
	flags.Func("trace", "measured times, or calls, from this `file` in place of the built-in ones; may be repeated. It is "+sim.TraceFormats,
		func(file string) error { traces = append(traces, file); return nil })
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return o, err
	case err != nil:
		return o, errReported
	case flags.NArg() > 0 || o.seeds < 1 || o.calls < 0:
		return o, fmt.Errorf("there is nothing to do: -seeds is at least 1, -calls at least 0, and all else are flags, not %q", flags.Args())
	}
	if o.full {
		o.fill(flags)
	}
	for _, file := range traces {
		if err := o.trace.Read(file); err != nil {
			return o, err
		}
	}
	return o, nil
}

// fill sets everything to its full extent that was not set by hand.
func (o *options) fill(flags *flag.FlagSet) {
	set := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { set[f.Name] = true })
	if !set["rate"] {
		o.rates = []float64{0.5, 5, 50}
	}
	if !set["headers"] {
		o.early = []bool{true, false}
	}
	if !set["seeds"] {
		o.seeds = 20
	}
	if !set["calls"] {
		o.calls = 0
	}
}

func scenarioNames() string {
	var names []string
	for _, s := range sim.Scenarios() {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

func (o *options) setScenarios(list string) error {
	o.scenarios = nil
	for name := range strings.SplitSeq(list, ",") {
		s, err := sim.Find(name)
		if err != nil {
			return err
		}
		o.scenarios = append(o.scenarios, s)
	}
	return nil
}

func (o *options) setRates(list string) error {
	o.rates = nil
	for word := range strings.SplitSeq(list, ",") {
		rate, err := strconv.ParseFloat(word, 64)
		if err != nil || !(rate > 0 && rate <= 1000) {
			return fmt.Errorf("write numbers above 0 and up to 1000")
		}
		o.rates = append(o.rates, rate)
	}
	return nil
}

func (o *options) setHeaders(word string) error {
	early, ok := map[string][]bool{"early": {true}, "late": {false}, "both": {true, false}}[word]
	if !ok {
		return fmt.Errorf("write early, late or both")
	}
	o.early = early
	return nil
}

func (o *options) setPolicies(list string) error {
	o.policies = strings.Split(list, ",")
	return nil
}

// wants reports whether a policy is to be played.
func (o *options) wants(policy string) bool {
	return len(o.policies) == 0 || slices.ContainsFunc(o.policies, func(part string) bool {
		return strings.Contains(policy, part)
	})
}

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ontime-llm/ontime/examples/loadtest/load"
)

// options are what the command line says.
type options struct {
	config             string
	url, provider      string
	keyVariable        string
	model              string
	targets, endpoints []string

	loads          []load.Load
	calls, rounds  int
	warmup         int
	prompt, output int
	promptFile     string
	stream, bust   bool
	ignoreEOS      bool
	timeout        time.Duration
	seed           uint64
	yes            bool

	json, csv, plots string
	compare          string
	failOnRegression bool
}

// errReported has been told to the user, with the usage.
var errReported = errors.New("wrong arguments")

func parseOptions(args []string, usage io.Writer) (*options, error) {
	o := new(options)
	f := flag.NewFlagSet("loadtest", flag.ContinueOnError)
	f.SetOutput(usage)
	o.subjectFlags(f)
	o.loadFlags(f)
	o.callFlags(f)
	o.resultFlags(f)
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, errReported
	case f.NArg() > 0:
		return nil, fmt.Errorf("all arguments are flags, not %q", f.Args())
	}
	if o.loads == nil {
		o.loads = []load.Load{{Concurrency: 4}, {Concurrency: 8}, {Concurrency: 16}}
	}
	return o, o.check()
}

func (o *options) subjectFlags(f *flag.FlagSet) {
	f.StringVar(&o.config, "config", "", "`file` of targets and endpoints, as client.Load reads it; without it and -url and -provider, simulated ones")
	f.StringVar(&o.url, "url", "", "one target: `address` of a server that speaks OpenAI's API, such as http://localhost:8000/v1")
	f.StringVar(&o.provider, "provider", "", "one target: `name` of a provider that package client knows, with its key in its usual variable")
	f.StringVar(&o.keyVariable, "key", "", "`variable` of the environment that has the key for -url")
	f.StringVar(&o.model, "model", "", "`name` of the model, as the configuration has it; may be left out where there is only one")
	f.Func("target", "`names` of targets to call directly, with commas (default: all, of the endpoint if there is one; - for none)", list(&o.targets))
	f.Func("endpoint", "`names` of endpoints to call through the router, with commas; the first one's budget is what counts", list(&o.endpoints))
}

func (o *options) loadFlags(f *flag.FlagSet) {
	f.Func("concurrency", "`numbers` of streams, with commas: each calls again when it has its answer (default 4,8,16)", func(s string) error {
		return o.addLoads(s, func(v float64) load.Load { return load.Load{Concurrency: int(v)} })
	})
	f.Func("rate", "calls per second, `numbers` with commas: they arrive by themselves, however slow the answers", func(s string) error {
		return o.addLoads(s, func(v float64) load.Load { return load.Load{Rate: v} })
	})
	f.IntVar(&o.calls, "calls", 110, "`number` of calls to each subject under each load in a round; p99 takes 299 in all rounds")
	f.IntVar(&o.rounds, "rounds", 3, "`number` of rounds")
	f.IntVar(&o.warmup, "warmup", -1, "`number` of calls before each series that do not count (default one for each stream, 4 at a rate)")
	f.DurationVar(&o.timeout, "timeout", 2*time.Minute, "`time` after which a call is given up")
	f.Uint64Var(&o.seed, "seed", 1, "of the arrival times, and of simulated luck")
	f.BoolVar(&o.yes, "yes", false, "send it, whatever it costs")
}

func (o *options) callFlags(f *flag.FlagSet) {
	f.IntVar(&o.prompt, "prompt", 200, "length of the synthetic prompt in `tokens`, about")
	f.StringVar(&o.promptFile, "prompts", "", "`file` of prompts, one a line, instead")
	f.IntVar(&o.output, "output", 64, "length of an answer in `tokens`, at most")
	f.BoolVar(&o.ignoreEOS, "ignore-eos", false, "have answers as long as asked for: vLLM, SGLang and llama.cpp know ignore_eos")
	f.BoolVar(&o.stream, "stream", true, "ask for streams")
	f.BoolVar(&o.bust, "bust", true, "begin each prompt differently, so that no cache knows it")
}

func (o *options) resultFlags(f *flag.FlagSet) {
	f.StringVar(&o.json, "json", "", "write everything to this `file`, for -compare")
	f.StringVar(&o.csv, "csv", "", "write all figures to this `file`")
	f.StringVar(&o.plots, "plots", "", "write ttft.svg and percentiles.svg to this `folder`")
	f.StringVar(&o.compare, "compare", "", "say what has changed since the report in this `file`")
	f.BoolVar(&o.failOnRegression, "fail-on-regression", false, "with -compare: exit with 1 if anything is worse, beyond noise")
}

// check finds what contradicts itself.
func (o *options) check() error {
	sources := 0
	for _, s := range []string{o.config, o.url, o.provider} {
		if s != "" {
			sources++
		}
	}
	switch {
	case o.calls < 1 || o.rounds < 1 || o.prompt < 1 || o.output < 1:
		return errors.New("-calls, -rounds, -prompt and -output are at least 1")
	case sources > 1:
		return errors.New("set one of -config, -url and -provider")
	case o.config == "" && sources > 0 && o.model == "":
		return errors.New("-model is missing")
	case o.config == "" && sources > 0 && o.endpoints != nil:
		return errors.New("-endpoint needs a -config that says what it promises")
	case o.keyVariable != "" && o.url == "":
		return errors.New("-key goes with -url; other keys are in the configuration or in the provider's own variable")
	case o.failOnRegression && o.compare == "":
		return errors.New("-fail-on-regression needs -compare")
	}
	return nil
}

func list(to *[]string) func(string) error {
	return func(s string) error {
		*to = strings.Split(s, ",")
		return nil
	}
}

const mostLoad = 100_000 // streams, or calls per second

// addLoads adds a step of the sweep for each number. Streams are counted, and a sweep is
// of one kind.
func (o *options) addLoads(s string, of func(float64) load.Load) error {
	for word := range strings.SplitSeq(s, ",") {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || !(v > 0 && v <= mostLoad) {
			return fmt.Errorf("write numbers above 0 and up to %d", mostLoad)
		}
		l := of(v)
		switch {
		case l.Level() != v:
			return errors.New("write whole numbers")
		case len(o.loads) > 0 && o.loads[0].Open() != l.Open():
			return errors.New("-concurrency and -rate are two tests: set one of them")
		case slices.Contains(o.loads, l):
			return fmt.Errorf("%s is there twice", word)
		}
		o.loads = append(o.loads, l)
	}
	return nil
}

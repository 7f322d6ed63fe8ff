// Rivals plays transports that hedge, as they are released, against the same calls and
// simulated targets as examples/simulate, in virtual time:
//
//	go run ./tools/rivals -scenario hang -rate 5 -seeds 3
//
// The table has our model of such a transport beside the real one, and the oracle that
// the regret is counted from. It is a module of its own so that no user of the library
// downloads its rivals.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
	"github.com/ontime-llm/ontime/tools/rivals/failsafe"
)

type options struct {
	scenarios []string
	rate      float64
	seeds     int
	early     bool
}

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "rivals:", err)
		os.Exit(2)
	}
	// Virtual time is to be had in tests alone. Testing's own flags stay unset.
	flag.CommandLine.Parse(nil)
	all := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "rivals", F: func(t *testing.T) {
		if err := run(o, t); err != nil {
			fmt.Fprintln(os.Stderr, "rivals:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}}}, nil, nil)
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("rivals", flag.ContinueOnError)
	scenario := flags.String("scenario", "", "names of scenarios, with commas; empty: all")
	flags.Float64Var(&o.rate, "rate", 5, "calls per second")
	flags.IntVar(&o.seeds, "seeds", 3, "runs, each with other luck")
	flags.BoolVar(&o.early, "early", false, "headers come at once, not with the first token")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.rate <= 0 || o.seeds < 1 {
		return o, fmt.Errorf("rate and seeds must be above 0")
	}
	for _, s := range sim.Scenarios() {
		o.scenarios = append(o.scenarios, s.Name)
	}
	if *scenario != "" {
		o.scenarios = strings.Split(*scenario, ",")
	}
	return o, nil
}

func run(o options, t *testing.T) error {
	for _, name := range o.scenarios {
		s, err := sim.Find(name)
		if err != nil {
			return err
		}
		series := contestants()
		for seed := range o.seeds {
			w := sim.NewWorld(s, sim.Conditions{Seed: uint64(seed + 1), Rate: o.rate, Early: o.early})
			for i := range series {
				c := &series[i]
				fmt.Fprintf(os.Stderr, "\r\033[K%s, seed %d: %s", name, seed+1, c.Policy)
				c.Runs = append(c.Runs, sim.Measure(w.Budget(), c.play(w, bubble(t))))
			}
		}
		fmt.Fprint(os.Stderr, "\r\033[K")
		place := sim.Place{Scenario: name, Rate: o.rate, Early: o.early}
		if err := sim.Report(os.Stdout, sim.Compare(place, s.Promise(), bare(series))); err != nil {
			return err
		}
	}
	return nil
}

// bubble runs functions in virtual time.
func bubble(t *testing.T) func(func()) {
	return func(f func()) { t.Run("", func(t *testing.T) { synctest.Test(t, func(*testing.T) { f() }) }) }
}

// contestant is one row of the table.
type contestant struct {
	sim.Series
	play func(w *sim.World, bubble func(func())) []sim.Outcome
}

func bare(all []contestant) []sim.Series {
	series := make([]sim.Series, len(all))
	for i := range all {
		series[i] = all[i].Series
	}
	return series
}

// contestants are the real transports, our models of them, and the oracle.
func contestants() []contestant {
	var all []contestant
	for _, r := range failsafe.Transports() {
		all = append(all, contestant{
			sim.Series{Policy: r.Name, Kind: sim.KindPeer, Hedges: true},
			func(w *sim.World, bubble func(func())) []sim.Outcome {
				over := func(network http.RoundTripper) http.RoundTripper { return r.Make(network, w.Targets()) }
				return sim.RunTransport(w, over, bubble)
			},
		})
	}
	for _, r := range sim.Rivals() {
		if r.Name != "single +hedge@headers" && r.Name != "failover +hedge@headers" {
			continue
		}
		all = append(all, contestant{
			sim.Series{Policy: "model: " + r.Name, Kind: sim.KindPeer, Hedges: true},
			func(w *sim.World, _ func(func())) []sim.Outcome {
				policy, hedge := r.Make(sim.Setting{Targets: w.Targets(), Budget: w.Budget(), Seed: 1})
				return sim.Run(w, policy, hedge)
			},
		})
	}
	return append(all, contestant{
		sim.Series{Policy: sim.OracleRegime, Kind: sim.KindOracle, Hedges: true},
		func(w *sim.World, _ func(func())) []sim.Outcome {
			policy, hedge := sim.Regime(w, 1)
			return sim.Run(w, policy, hedge)
		},
	})
}

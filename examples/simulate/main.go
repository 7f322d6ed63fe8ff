// Simulate holds the client against other ways to send LLM calls, in virtual time: the
// same calls meet the same simulated providers with the same luck, whoever sends them.
//
//	go run ./examples/simulate                      every scenario at 5 calls/s, about a minute
//	go run ./examples/simulate -scenario hang       one of them
//	go run ./examples/simulate -full                20 seeds, all rates, more than an hour
//
// Ours is the real client over a simulated network. The others are the rules of public
// projects, written down again, which hear of each request what a client would. The
// simulation itself is package sim.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"testing"
	"testing/synctest"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
	"github.com/ontime-llm/ontime/internal/progress"
)

func main() {
	o, err := parseOptions(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case errors.Is(err, errReported):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(2)
	}
	debug.SetGCPercent(400)
	withTest(func(t *testing.T) {
		if err := simulate(o, bubbles(t)); err != nil {
			fmt.Fprintln(os.Stderr, "simulate:", err)
			os.Exit(1)
		}
		os.Exit(0)
	})
}

// withTest runs f as a test, since virtual time is to be had in tests alone. f has to
// exit the program; else testing has its say.
func withTest(f func(*testing.T)) {
	flag.CommandLine.Parse(nil) // the flags of the program are not those of go test
	all := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(all, []testing.InternalTest{{Name: "simulate", F: f}}, nil, nil)
}

// bubbles runs functions in virtual time, several at once if need be.
func bubbles(t *testing.T) func(func()) {
	return func(f func()) {
		t.Run("", func(t *testing.T) { synctest.Test(t, func(*testing.T) { f() }) })
	}
}

// simulate plays everything and tells what came of it.
func simulate(o options, bubble func(func())) error {
	results, err := play(o, bubble, progress.New(os.Stderr, "runs"))
	if err != nil {
		return err
	}
	if err := sim.Report(os.Stdout, results); err != nil {
		return err
	}
	if err := sim.WriteVerdicts(os.Stdout, sim.Summarise(results)); err != nil {
		return err
	}
	return errors.Join(
		write(o.json, results, sim.WriteJSON),
		write(o.picture, results, sim.WritePicture),
	)
}

// write writes a file, if it has a name.
func write(name string, results []sim.Result, to func(io.Writer, []sim.Result) error) error {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(to(file, results), file.Close())
}

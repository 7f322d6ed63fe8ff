// Loadtest measures targets and endpoints under load so that others can repeat it: the
// same calls, several rounds, a sweep of concurrency or of arrival rates, percentiles
// with their intervals.
//
//	go run ./examples/loadtest                                simulated providers, some 15 s
//	go run ./examples/loadtest -url http://localhost:8000/v1 -model llama -rate 1,2,4
//	go run ./examples/loadtest -config ontime.yaml -endpoint chat -model gpt-4o -yes -json new.json
//	go run ./examples/loadtest ... -compare old.json          what changed, and whether that is noise
//
// README.md explains every number. The test itself is package load.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/ontime-llm/ontime/examples/loadtest/load"
	"github.com/ontime-llm/ontime/internal/progress"
)

func main() {
	o, err := parseOptions(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case errors.Is(err, errReported):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "loadtest:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err = run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "loadtest:", err)
		os.Exit(1)
	}
}

// run makes the test and writes all that was asked for. A test that was stopped is
// reported as far as it came.
func run(ctx context.Context, o *options, out io.Writer) error {
	old, err := readOld(o.compare) // before an hour of calls, not after
	if err != nil {
		return err
	}
	if err := o.findFolders(); err != nil {
		return err
	}
	t, err := o.prepare()
	if err != nil {
		return err
	}
	defer t.close()
	if err := t.mayRun(o, out); err != nil {
		return err
	}
	bar := progress.New(os.Stderr, "calls")
	bar.Begin(t.plan.Volume().Calls)
	report, stopped := load.Run(ctx, t.plan, bar.Step)
	bar.End()
	switch {
	case report == nil:
		return stopped
	case len(report.Series) == 0: // an older file is worth more than one of nothing
		return fmt.Errorf("stopped before a round was complete: nothing is reported (%w)", stopped)
	}
	if err := errors.Join(report.WriteTable(out), o.writeFiles(report)); err != nil {
		return err
	}
	if stopped != nil {
		return fmt.Errorf("stopped early: only complete rounds are reported (%w)", stopped)
	}
	if old == nil {
		return nil
	}
	return o.against(old, report, out)
}

// findFolders looks for those of the files that are to be written in the end.
func (o *options) findFolders() error {
	for _, name := range []string{o.json, o.csv} {
		if _, err := os.Stat(filepath.Dir(name)); err != nil { // "." of no name
			return err
		}
	}
	return nil
}

func readOld(name string) (*load.Report, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return load.ReadReport(file)
}

// against says what differs from an old report.
func (o *options) against(old, report *load.Report, out io.Writer) error {
	c := load.Compare(old, report)
	if err := c.WriteTable(out); err != nil {
		return err
	}
	switch worse := c.Regressions(); {
	case !o.failOnRegression:
		return nil
	case len(c.Changes) == 0: // a gate that lets pass what it has not looked at is none
		return fmt.Errorf("nothing could be compared with %s", o.compare)
	case worse > 0:
		return fmt.Errorf("%d figures are worse than in %s", worse, o.compare)
	}
	return nil
}

// writeFiles writes the report in each form that has a name.
func (o *options) writeFiles(r *load.Report) error {
	var plots []error
	if o.plots != "" {
		plots = append(plots, os.MkdirAll(o.plots, 0o755),
			write(filepath.Join(o.plots, "ttft.svg"), r.WriteDistribution),
			write(filepath.Join(o.plots, "percentiles.svg"), r.WritePercentiles))
	}
	return errors.Join(append(plots, write(o.json, r.WriteJSON), write(o.csv, r.WriteCSV))...)
}

// write writes a file, if it has a name.
func write(name string, to func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(to(file), file.Close())
}

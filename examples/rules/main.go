// Rules prints Prometheus rules for a configuration of ontime: how fast each
// endpoint uses up what its layers allow, whom to wake for that, and what else is
// worth a look. With -dashboard it prints a dashboard for Grafana instead.
//
//	go run ./examples/rules -config ontime.yaml > ontime.rules.yaml
//	go run ./examples/rules -dashboard > ontime.dashboard.json
//
// The README beside it says when each alert fires, and why then.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/ontime-llm/ontime/client"
)

func main() {
	config := flag.String("config", filepath.Join("examples", "config", "ontime.yaml"), "the configuration, as client.Load reads it")
	job := flag.String("job", "", "the job label under which Prometheus scrapes the application; empty: any, each for itself")
	dashboard := flag.Bool("dashboard", false, "print Grafana's dashboard, which is the same for every configuration")
	flag.Parse()
	if err := run(os.Stdout, *config, *job, *dashboard); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer, config, job string, dashboard bool) error {
	if dashboard {
		return writeDashboard(out)
	}
	cfg, err := load(config)
	if err != nil {
		return err
	}
	return writeRules(out, rules(cfg, job))
}

// reference is a variable that has to be set: ${NAME}, without a default.
var reference = regexp.MustCompile(`\$\{(\w+)\}`)

// load reads a configuration. Rules need no credentials, so variables that are not set,
// as where they are made in CI, have a stand-in.
func load(path string) (client.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return client.Config{}, err
	}
	for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
		if os.Getenv(m[1]) == "" {
			os.Setenv(m[1], "stand-in")
		}
	}
	return client.Load(path)
}

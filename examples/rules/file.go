package main

import (
	"io"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/ontime-llm/ontime/client"
)

// file is a file of rules, as Prometheus 2.42 and later read it.
type file struct {
	Groups []group `yaml:"groups"`
}

type group struct {
	Name  string `yaml:"name"`
	Rules []rule `yaml:"rules"`
}

// rule records a series, or alerts.
type rule struct {
	Record        string       `yaml:"record,omitempty"`
	Alert         string       `yaml:"alert,omitempty"`
	Expr          string       `yaml:"expr"`
	For           string       `yaml:"for,omitempty"`
	KeepFiringFor string       `yaml:"keep_firing_for,omitempty"`
	Labels        labels       `yaml:"labels,omitempty"`
	Annotations   *annotations `yaml:"annotations,omitempty"`
}

// labels say how urgent an alert is and, where the same one exists of each layer, of which
// it is.
type labels struct {
	Severity string `yaml:"severity,omitempty"`
	Endpoint string `yaml:"endpoint,omitempty"`
	Layer    string `yaml:"layer,omitempty"`
}

// The severities: somebody has to look now, or within days.
const (
	page   = "page"
	ticket = "ticket"
)

// annotations are for whoever is woken.
type annotations struct {
	Summary     string `yaml:"summary"`     // what is wrong, in a line
	Description string `yaml:"description"` // when the alert fires, and what follows
	Runbook     string `yaml:"runbook"`     // what to look at, and what to do
}

// rules are those for a configuration, scraped under the given job; any if it is empty.
func rules(cfg client.Config, job string) file {
	m := maker{job}
	f := file{[]group{{"ontime windows", m.windows()}}}
	all := promises(cfg)
	for len(all) > 0 {
		name := all[0].endpoint
		n := slices.IndexFunc(all, func(p promise) bool { return p.endpoint != name })
		if n < 0 {
			n = len(all)
		}
		f.Groups = append(f.Groups, group{"ontime endpoint " + name, m.endpoint(all[:n])})
		all = all[n:]
	}
	f.Groups = append(f.Groups, group{"ontime routes", m.routes()}, group{"ontime answers", m.answers()})
	return f
}

// header says where a file comes from.
const header = "# Made by examples/rules of github.com/ontime-llm/ontime: change the configuration, and make it anew.\n"

func writeRules(out io.Writer, f file) error {
	text, err := yaml.MarshalWithOptions(f, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, header+string(text))
	return err
}

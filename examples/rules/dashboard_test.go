package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// dashboardOf is what the program prints, read back.
func dashboardOf(t *testing.T) dashboard {
	t.Helper()
	var out bytes.Buffer
	if err := run(&out, "", "", true); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(&out)
	dec.DisallowUnknownFields()
	var d dashboard
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

// titles are those of all panels, a line for each.
func (d dashboard) titles() string {
	all := "\n"
	for _, p := range d.Panels {
		all += p.Title + "\n"
	}
	return all
}

// shown puts a value for each variable, as Grafana does.
var shown = strings.NewReplacer("$__rate_interval", "5m", "$__range", "6h", "$job", ".*", "$endpoint", ".*", "$target", ".*", "$model", ".*")

// asRules are the dashboard's queries as recording rules, which promtool can check.
func (d dashboard) asRules(t *testing.T) []byte {
	t.Helper()
	g := group{Name: "dashboard"}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			g.Rules = append(g.Rules, rule{Record: "panel" + strings.Repeat(":next", len(g.Rules)), Expr: shown.Replace(q.Expr)})
		}
	}
	text, err := yaml.Marshal(file{[]group{g}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The file in the tree, for whoever imports it, is what the program prints.
func TestDashboardIsUpToDate(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, "", "", true); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, out.Bytes()) {
		t.Error("go run ./examples/rules -dashboard > examples/rules/dashboard.json")
	}
}

func TestPanelsHaveTheirPlaces(t *testing.T) {
	d := dashboardOf(t)
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || strings.Count(d.titles(), "\n"+p.Title+"\n") != 1 {
			t.Errorf("%q: its id or its title is there twice", p.Title)
		}
		ids[p.ID] = true
		if (p.Type == "row") != (len(p.Targets) == 0) {
			t.Errorf("%q has %d queries", p.Title, len(p.Targets))
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok || x >= 24 {
					t.Fatalf("%q lies over %q, or beside the page", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// Every variable is there for some panel, and every panel goes by those that its series
// have labels for.
func TestPanelsGoByTheVariables(t *testing.T) {
	d := dashboardOf(t)
	used := map[string]bool{}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			for _, u := range selected(q.Expr) {
				for label, v := range u.matchers {
					used[label] = used[label] || v == "$"+label
				}
				if u.matchers["job"] != "$job" || (u.matchers["endpoint"] != "$endpoint" && u.matchers["target"] != "$target") {
					t.Errorf("%q: %s goes by %v", p.Title, u.metric, u.matchers)
				}
			}
			if rest := shown.Replace(q.Expr); strings.Contains(rest, "$") {
				t.Errorf("%q: no variable of that name in %s", p.Title, rest)
			}
		}
	}
	for _, v := range d.Templating.List[1:] {
		if !used[v.Name] {
			t.Errorf("nothing goes by the variable %s", v.Name)
		}
	}
}

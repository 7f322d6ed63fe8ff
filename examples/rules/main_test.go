package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The configurations that the tests know, from this folder.
const (
	small   = "testdata/ontime.yaml"
	example = "../config/ontime.yaml"
)

// printed are the rules for a configuration.
func printed(t *testing.T, config, job string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := run(&out, config, job, false); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// parsed are the same, read back.
func parsed(t *testing.T, config, job string) file {
	t.Helper()
	var f file
	if err := yaml.UnmarshalWithOptions(printed(t, config, job), &f, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return f
}

// each calls do with every rule of a file.
func (f file) each(do func(rule)) {
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			do(r)
		}
	}
}

func TestEveryAlertSaysWhatToDo(t *testing.T) {
	dashboard := dashboardOf(t)
	parsed(t, example, "").each(func(r rule) {
		if r.Alert == "" {
			return
		}
		a := r.Annotations
		if a == nil || a.Summary == "" || a.Description == "" || a.Runbook == "" || (r.Labels.Severity != page && r.Labels.Severity != ticket) {
			t.Errorf("%s is not explained, or of no severity", r.Alert)
			return
		}
		for _, quoted := range strings.Split(a.Runbook, `row "`)[1:] {
			name, _, _ := strings.Cut(quoted, `"`)
			if !strings.Contains(dashboard.titles(), "\n"+name+": ") {
				t.Errorf("%s points to the row %q, which the dashboard has not", r.Alert, name)
			}
		}
	})
}

// The page beside the program has every alert in one of its tables.
func TestReadmeHasEveryAlert(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^\| (Ontime\w+)(?:, (Ontime\w+))? \| (page|ticket) \|`)
	severities := map[string]string{}
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		severities[m[1]] = m[3]
		if m[2] != "" {
			severities[m[2]] = m[3]
		}
	}
	there := map[string]string{}
	parsed(t, example, "").each(func(r rule) {
		if r.Alert != "" {
			there[r.Alert] = r.Labels.Severity
		}
	})
	if diff := cmp.Diff(there, severities); diff != "" {
		t.Errorf("-alerts +README\n%s", diff)
	}
}

func TestRunFails(t *testing.T) {
	err := run(&bytes.Buffer{}, "testdata/none.yaml", "", false)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("endpoints: {chat: {ttft: {p95: soon}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(&bytes.Buffer{}, bad, "", false); err == nil || !strings.Contains(err.Error(), "bad.yaml:1") {
		t.Errorf("a configuration that is wrong: %v, want its place", err)
	}
}

// Prometheus' own tool finds nothing wrong with the rules, and has them fire when they
// should: testdata has the cases. It is in Debian's package prometheus.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not on the PATH, so that nobody has judged the rules: apt-get install prometheus")
	}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ontime.rules.yaml", printed(t, small, ""))
	write("example.rules.yaml", printed(t, example, `an "odd" job`))
	write("dashboard.rules.yaml", dashboardOf(t).asRules(t))
	for _, args := range [][]string{
		{"check", "rules", "ontime.rules.yaml", "example.rules.yaml", "dashboard.rules.yaml"},
		{"test", "rules", "budgets.yaml"},
		{"test", "rules", "slowly.yaml", "others.yaml"},
	} {
		for _, name := range args[2:] {
			if text, err := os.ReadFile(filepath.Join("testdata", name)); err == nil {
				write(name, text)
			}
		}
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), promtool, args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

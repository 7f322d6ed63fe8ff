package deps_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// allowed are the modules that a user of the core compiles, with what brings them.
var allowed = map[string]string{
	"github.com/openai/openai-go/v3": "the SDK that client wraps",
	"github.com/coder/websocket":     "openai-go",
	"github.com/tidwall/gjson":       "openai-go; reading JSON",
	"github.com/tidwall/sjson":       "openai-go; editing JSON",
	"github.com/tidwall/match":       "gjson",
	"github.com/tidwall/pretty":      "gjson",

	"github.com/patrickmn/go-cache": "cooldowns and pins that expire",
	"github.com/sony/gobreaker/v2":  "the breaker of a route",
	"golang.org/x/time":             "rate limits",
	"github.com/goccy/go-yaml":      "config files",

	"github.com/prometheus/client_golang": "middleware/metrics",
	"github.com/prometheus/client_model":  "client_golang",
	"github.com/prometheus/common":        "client_golang",
	"github.com/prometheus/procfs":        "client_golang",
	"github.com/beorn7/perks":             "client_golang",
	"github.com/cespare/xxhash/v2":        "client_golang",
	"github.com/munnerz/goautoneg":        "client_golang",
	"golang.org/x/sys":                    "client_golang",
	"google.golang.org/protobuf":          "client_golang",
}

// allowedInTests are the modules that tests may import besides.
var allowedInTests = []string{
	"github.com/google/go-cmp",
	"go.uber.org/goleak",
	"pgregory.net/rapid",
}

func TestCoreBuildsWithFewModules(t *testing.T) {
	all := packages(t)
	var unknown []string
	for _, p := range all {
		if m := p.module(); m != "" && !isOurs(m) && allowed[m] == "" && !slices.Contains(unknown, m) {
			unknown = append(unknown, m)
		}
	}
	slices.Sort(unknown)
	for _, m := range unknown {
		t.Errorf("the core now builds with %s, which every user will compile; imported by %s.\n"+
			"Do without it, move what needs it to a nested module, or add it to allowed and say why in the commit.",
			m, strings.Join(importers(all, m), ", "))
	}
}

func TestTestsImportFewModules(t *testing.T) {
	known := append(slices.Collect(maps.Keys(allowed)), allowedInTests...)
	for _, p := range ours(t) {
		for _, imp := range p.testImports() {
			if isStandard(imp) || isOurs(imp) {
				continue
			}
			if !slices.ContainsFunc(known, func(m string) bool { return under(imp, m) }) {
				t.Errorf("a test of %s imports %s: do without it, or add its module to allowedInTests", p.ImportPath, imp)
			}
		}
	}
}

// isStandard goes by the path, since go list says nothing of packages that only tests import.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// importers are the packages outside the module that import a package of it.
func importers(all map[string]listed, module string) []string {
	var found []string
	for _, p := range all {
		uses := func(imp string) bool { return all[imp].module() == module }
		if p.module() != module && slices.ContainsFunc(p.Imports, uses) {
			found = append(found, p.ImportPath)
		}
	}
	slices.Sort(found)
	return found
}

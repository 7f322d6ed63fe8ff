package deps_test

import (
	"slices"
	"strings"
	"testing"
)

// levels: a package imports only what stands below it.
var levels = map[string]int{"budget": 1, "router": 2, "middleware": 3, "client": 4, "examples": 5}

// area is the part of the tree that an import path of ours belongs to: "client" for client and all below it, and one
// area for each folder of internal. The module's root is "".
func area(path string) string {
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(path, core), "/"), "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return "internal/" + parts[1]
	}
	return parts[0]
}

// refusal says why package from may not import package to, both ours; "" if it may.
func refusal(from, to string, inTest bool) string {
	a, b := area(from), area(to)
	switch {
	case a == b:
		return ""
	case b == "examples":
		return "examples are programs, nothing imports them"
	case b == "internal/upstream":
		if inTest || a == "examples" {
			return ""
		}
		return "internal/upstream simulates providers: only tests and examples use it"
	case b == "internal/transporttest" && !inTest:
		return "internal/transporttest holds checks: only tests use it"
	case a == "internal/upstream":
		return ""
	case strings.HasPrefix(a, "internal/") && levels[b] > 0:
		return "internal packages have no opinion: they import none of client, middleware, router, budget"
	case a == "budget" && !inTest:
		return "budget imports nothing of ours"
	case levels[a] > 0 && levels[b] >= levels[a]:
		return "imports run one way only: client -> middleware -> router -> budget"
	}
	return ""
}

func TestRefusal(t *testing.T) {
	tests := []struct {
		from, to string
		inTest   bool
		ok       bool
	}{
		{from: "client", to: "middleware", ok: true},
		{from: "client", to: "budget", ok: true},
		{from: "client", to: "middleware/metrics", ok: true},
		{from: "client", to: "client/internal/status", ok: true},
		{from: "client/internal/status", to: "router", ok: true},
		{from: "middleware/metrics", to: "middleware", ok: true},
		{from: "middleware", to: "internal/sse", ok: true},
		{from: "router", to: "internal/latency", ok: true},
		{from: "internal/dialect", to: "internal/sse", ok: true},
		{from: "examples/quickstart", to: "client", ok: true},
		{from: "examples/quickstart", to: "internal/upstream", ok: true},
		{from: "client", to: "internal/upstream", inTest: true, ok: true},
		{from: "internal/upstream", to: "router", ok: true},
		{from: "client", to: "internal/transporttest", inTest: true, ok: true},

		{from: "middleware", to: "client"},
		{from: "middleware", to: "client", inTest: true},
		{from: "middleware/metrics", to: "client/internal/status"},
		{from: "router", to: "middleware"},
		{from: "budget", to: "router"},
		{from: "budget", to: "router", inTest: true},
		{from: "budget", to: "internal/latency"},
		{from: "internal/latency", to: "budget"},
		{from: "internal/latency", to: "budget", inTest: true},
		{from: "client", to: "internal/upstream"},
		{from: "client", to: "internal/transporttest"},
		{from: "internal/sse", to: "internal/upstream"},
		{from: "client", to: "examples/quickstart"},
	}
	for _, tt := range tests {
		if why := refusal(core+"/"+tt.from, core+"/"+tt.to, tt.inTest); (why == "") != tt.ok {
			t.Errorf("%s -> %s (in a test: %t): refusal %q, want allowed = %t", tt.from, tt.to, tt.inTest, why, tt.ok)
		}
	}
}

func TestImportsRunOneWay(t *testing.T) {
	for _, p := range ours(t) {
		for _, imp := range p.Imports {
			if why := refusal(p.ImportPath, imp, false); isOurs(imp) && why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, imp, why)
			}
		}
		for _, imp := range p.testImports() {
			if why := refusal(p.ImportPath, imp, true); isOurs(imp) && why != "" {
				t.Errorf("a test of %s imports %s: %s", p.ImportPath, imp, why)
			}
		}
	}
}

func TestLayout(t *testing.T) {
	for _, p := range ours(t) {
		a := area(p.ImportPath)
		if levels[a] == 0 && !strings.HasPrefix(a, "internal/") {
			t.Errorf("%s: the top level is client, middleware, router, budget, examples and internal", p.ImportPath)
		}
	}
}

// A user who leaves the optional parts out pays nothing for them.
func TestCoreImportsNoNestedModule(t *testing.T) {
	var nested []string
	walk(t, func(_, path string) {
		if dir, ok := strings.CutSuffix(path, "/go.mod"); ok {
			nested = append(nested, core+"/"+dir)
		}
	})
	for _, p := range ours(t) {
		for _, imp := range append(p.testImports(), p.Imports...) {
			if i := slices.IndexFunc(nested, func(m string) bool { return under(imp, m) }); i >= 0 {
				t.Errorf("%s imports %s, which is in the nested module %s", p.ImportPath, imp, nested[i])
			}
		}
	}
}

func TestBudgetAndRouterKnowNoHTTP(t *testing.T) {
	all := packages(t)
	for _, p := range ours(t) {
		if a := area(p.ImportPath); a != "budget" && a != "router" || !slices.Contains(p.Deps, "net/http") {
			continue
		}
		for _, imp := range p.Imports {
			if imp == "net/http" || slices.Contains(all[imp].Deps, "net/http") {
				t.Errorf("%s knows no HTTP, but its import of %s brings net/http", p.ImportPath, imp)
			}
		}
	}
}

func TestOnlyMetricsImportsPrometheus(t *testing.T) {
	for _, p := range ours(t) {
		if p.ImportPath == core+"/middleware/metrics" || area(p.ImportPath) == "examples" {
			continue
		}
		for _, imp := range p.Imports {
			if under(imp, "github.com/prometheus") {
				t.Errorf("%s imports %s: only middleware/metrics does (others use the names that it gives)", p.ImportPath, imp)
			}
		}
	}
}

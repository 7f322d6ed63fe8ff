package client

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/internal/yamlfile"
)

// pieces are what configuration files are made of, good ones and bad.
var pieces = []string{
	"targets:\n", "  - name: a\n", "    base_url: https://a.test/v1\n", "    provider: openai\n", "    api_key: ${HUNTER}\n",
	"  - &b {name: b, base_url: \"http://localhost/v1\", price: {input: 1.5}}\n", "  - {<<: *b, name: '${HUNTER}'}\n",
	"    models: {m: n, \"${HUNTER}\": x}\n", "    headers:\n      A: ${HUNTER}\n", "    limits: {concurrent: ${HUNTER}}\n",
	"endpoints:\n", "  chat:\n", "    ttft: {p50: 1s, p99.9: \"${TIME}\"}\n", "    ttft:\n      p95: ${HUNTER}\n", "    total: {p95: -1s, 95: 2s}\n",
	"    hedge: 5%\n", "    hedge: ${NUMBER}\n", "    hegde: 0\n", "    cost_weight: 0\n", "    max_tokens: {default: ${NUMBER}, limit: 3}\n",
	"    targets: [a, b, ${HUNTER}]\n", "    deadline: ${TIME}\n", "    abandon: 0\n", "  batch: {}\n", "  x:\n", "home: b\n", "home: ${HUNTER}\n",
	"shadow: true\n", "seed: ${NUMBER}\n", "grace: 0\n", "- 1\n", "? x\n", "---\n", "{", "}", "[", "\"", "'", ": ", "# ${HUNTER}\n", "\t",
}

// Whatever a file is made of: it is taken, and New takes it too, or its problems have a
// place in it and tell nothing of the environment.
func TestReadConfigOfAnything(t *testing.T) {
	for name, value := range map[string]string{"HUNTER": "hunter2: [*b]", "NUMBER": "7317", "TIME": "-7317ms"} {
		t.Setenv(name, value)
	}
	secrets := []string{"hunter2", "7317", "7.317"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), "")
		c, err := readConfig("c.yaml", []byte(text))
		if err == nil {
			if _, err := withCredentials(c).newRouter(); err != nil {
				t.Fatalf("it was taken, and New says %v", err)
			}
			return
		}
		for _, secret := range secrets {
			if strings.Contains(err.Error(), secret) {
				t.Fatalf("the error tells %q: %v", secret, err)
			}
		}
		for _, one := range unjoin(err.(interface{ Unwrap() error }).Unwrap()) {
			p, ok := one.(FileProblem)
			if !ok || p.Message == "" || p.Line < 0 || p.Line > strings.Count(text, "\n")+1 || (p.Line == 0) != (p.Column == 0) {
				t.Fatalf("a problem %#v", one)
			}
		}
	})
}

// BenchmarkLoad reads a file with a hundred targets.
func BenchmarkLoad(b *testing.B) {
	text, err := os.ReadFile("../examples/config/ontime.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"OPENAI_API_KEY", "AZURE_KEY_1", "AZURE_KEY_2"} {
		b.Setenv(name, "simulated")
	}
	first, rest, _ := strings.Cut(string(text), "targets:\n")
	var more strings.Builder
	for i := range 100 {
		fmt.Fprintf(&more, "  - {name: t%d, base_url: https://t%d.test/v1, price: {input: 1, output: 2}}\n", i, i)
	}
	data := []byte(first + "targets:\n" + more.String() + rest)
	if len(data) > yamlfile.MaxSize {
		b.Fatal("it is too large")
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readConfig("c.yaml", data); err != nil {
			b.Fatal(err)
		}
	}
}

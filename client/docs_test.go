package client_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/client"
)

var environment = regexp.MustCompile(`\$\{([A-Z0-9_]+)\}`)

// The configurations on the pages can be loaded, and make a client.
func TestConfigurationsOnPages(t *testing.T) {
	found, err := filepath.Glob("../docs/*.md")
	if err != nil || len(found) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	for _, key := range []string{"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"} {
		t.Setenv(key, "key")
	}
	for _, page := range append(found, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, rest := range strings.Split(string(text), "```yaml\n")[1:] {
			block, _, _ := strings.Cut(rest, "```")
			if !strings.HasPrefix(block, "targets:\n") {
				continue // another program's, or a part
			}
			t.Run(filepath.Base(page)+"/"+strconv.Itoa(i+1), func(t *testing.T) { loads(t, block) })
		}
	}
}

func loads(t *testing.T, block string) {
	for _, name := range environment.FindAllStringSubmatch(block, -1) {
		t.Setenv(name[1], "key")
	}
	file := filepath.Join(t.TempDir(), "ontime.yaml")
	if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := client.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

package client_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/router"
)

// write makes a configuration file.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const whole = `
targets:
  - name: one
    provider: openai
    region: here
    project: p
    formats: [chat, responses]
    base_url: https://one.test/v1
    api_key: ${KEY_ONE}
    admin_key: "admin-${KEY_ONE}"
    models: {m: own-m, 4.1: "n"}
    headers:
      X-Team: 'a $${literal}'
    price: {input: 1, cached_input: 0.5, output: 2e1}
    limits: {requests_per_minute: 5_000, tokens_per_minute: 100000, concurrent: ${CONCURRENT:-7}}
  - name: two
    base_url: http://localhost:8080/v1
    api_keys:
    - first
    - ${UNSET:-second}
    price: {output: 3}
    prices:
      gpt-4.1: {input: 2, output: 8}
      m: {}
endpoints:
  chat:
    ttft: {p50: 200ms, p95: 1.5s, p99.9: 4s}
    tpot: {p95: 100ms}
    total: {p99: 2m}
    max_tokens: {default: -1, limit: 4096, fit: true, strict: true}
    deadline: 3m
    abandon: ${ABANDON}
    hedge: 2.5%
    hedge_all: true
    cost_weight: 5
    targets: [one, two]
  none: {hedge: 0, cost_weight: 0}
  half: {hedge: 0.5}
max_output: {m: 1000}
home: two
shadow: true
trace: true
seed: 18446744073709551615
grace: 0s
`

// The flow mappings of whole need quotes around references, as YAML has it.
var wholeYAML = strings.ReplaceAll(whole, "${CONCURRENT:-7}", `"${CONCURRENT:-7}"`)

const wholeJSON = `{
	"targets": [
		{"name": "one", "provider": "openai", "region": "here", "project": "p", "formats": ["chat", "responses"], "base_url": "https:\/\/one.test/v1", "api_key": "${KEY_ONE}",
			"admin_key": "admin-${KEY_ONE}", "models": {"m": "own-m", "4.1": "n"}, "headers": {"X-Team": "a $${literal}"},
			"price": {"input": 1, "cached_input": 0.5, "output": 2e1},
			"limits": {"requests_per_minute": 5000, "tokens_per_minute": 100000, "concurrent": 7}},
		{"name": "two", "base_url": "http://localhost:8080/v1", "api_keys": ["first", "${UNSET:-second}"], "price": {"output": 3}, "prices": {"gpt-4.1": {"input": 2, "output": 8}, "m": {}}}
	],
	"endpoints": {
		"chat": {
			"ttft": {"p50": "200ms", "p95": "1.5s", "p99.9": "4s"}, "tpot": {"p95": "100ms"}, "total": {"p99": "2m"},
			"max_tokens": {"default": -1, "limit": 4096, "fit": true, "strict": true}, "deadline": "3m", "abandon": "${ABANDON}",
			"hedge": "2.5%", "hedge_all": true, "cost_weight": 5, "targets": ["one", "two"]
		},
		"none": {"hedge": 0, "cost_weight": 0},
		"half": {"hedge": 0.5}
	},
	"max_output": {"m": 1000}, "home": "two", "shadow": true, "trace": true, "seed": 18446744073709551615, "grace": "0s"
}`

func wholeConfig() client.Config {
	return client.Config{
		Targets: []client.Target{
			{
				Name: "one", Provider: "openai", Region: "here", Project: "p", BaseURL: "https://one.test/v1", Formats: []string{"chat", "responses"},
				APIKey: "key: {of: one}", AdminKey: "admin-key: {of: one}",
				Models: map[string]string{"m": "own-m", "4.1": "n"}, Headers: map[string]string{"X-Team": "a ${literal}"},
				Price:  router.Price{Input: 1, CachedInput: 0.5, Output: 20},
				Limits: router.Limits{RequestsPerMinute: 5000, TokensPerMinute: 100000, Concurrent: 7},
			},
			{
				Name: "two", BaseURL: "http://localhost:8080/v1", APIKeys: []string{"first", "second"}, Price: router.Price{Output: 3},
				Prices: map[string]router.Price{"gpt-4.1": {Input: 2, Output: 8}, "m": {}},
			},
		},
		Endpoints: map[string]budget.Budget{
			"chat": {
				TTFT:      budget.Layers{50: 200 * ms, 95: 1500 * ms, 99.9: 4 * time.Second},
				TPOT:      budget.Layers{95: 100 * ms},
				Total:     budget.Layers{99: 2 * time.Minute},
				MaxTokens: budget.MaxTokens{Default: -1, Limit: 4096, Fit: true, Strict: true},
				Deadline:  3 * time.Minute, Abandon: 1500 * ms,
				Hedge: 0.025, HedgeAll: true, CostWeight: 5, Targets: []string{"one", "two"},
			},
			"none": {Hedge: -1, CostWeight: -1},
			"half": {Hedge: 0.5},
		},
		MaxOutput: map[string]int{"m": 1000},
		Home:      "two", Shadow: true, Trace: true, Seed: 18446744073709551615, Grace: -1,
	}
}

func TestLoad(t *testing.T) {
	t.Setenv("KEY_ONE", "key: {of: one}") // it is text, whatever it looks like
	t.Setenv("ABANDON", "1.5s")
	t.Setenv("UNSET", "")
	for name, text := range map[string]string{
		"ontime.yaml": wholeYAML, "ontime.json": wholeJSON,
		"bom.yml": "\ufeff---" + strings.ReplaceAll(wholeYAML, "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := client.Load(write(t, name, text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wholeConfig(), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			c, err := client.New(got)
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		})
	}
}

// YAML's own means of saying things once.
func TestLoadAnchors(t *testing.T) {
	got, err := client.Load(write(t, "c.yaml", `
targets:
  - &one {name: one, base_url: https://one.test/v1, price: &price {output: 1}, models: &models {m: m}}
  - {<<: *one, name: two}
  - {<<: [{name: three}, *one], price: *price}
endpoints:
  chat: &chat {hedge: 1%, total: {p95: 1s}}
  slow: {<<: *chat, total: {p95: 1m}}
`))
	if err != nil {
		t.Fatal(err)
	}
	var want client.Config
	for _, name := range []string{"one", "two", "three"} {
		want.Targets = append(want.Targets, client.Target{
			Name: name, BaseURL: "https://one.test/v1", Price: router.Price{Output: 1}, Models: map[string]string{"m": "m"},
		})
	}
	want.Endpoints = map[string]budget.Budget{
		"chat": {Hedge: 0.01, Total: budget.Layers{95: time.Second}},
		"slow": {Hedge: 0.01, Total: budget.Layers{95: time.Minute}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadOfNoFile(t *testing.T) {
	_, err := client.Load(filepath.Join(t.TempDir(), "none.yaml"))
	mustBe(t, err, fs.ErrNotExist)
	if _, err = client.Load(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

// What may yet be given a credential is not refused for having none.
func TestLoadLeavesCredentialsToNew(t *testing.T) {
	clearKeys(t)
	cfg, err := client.Load(write(t, "c.yaml", "targets: [{name: one, provider: openai}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Targets[0].Auth != nil {
		t.Error("Auth was set")
	}
	_, err = client.New(cfg)
	wantProblems(t, err, [2]string{"targets[0].api_key", "OPENAI_API_KEY"})
}

// The file in the README says what the program before it says.
func TestReadmeConfiguration(t *testing.T) {
	clearKeys(t)
	t.Setenv("AZURE_OPENAI_API_KEY", "k")
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(readme), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	got, err := client.Load(write(t, "ontime.yaml", text))
	if err != nil {
		t.Fatal(err)
	}
	want := client.Config{
		Targets: []client.Target{
			{Name: "openai", Provider: "openai"},
			{Name: "azure-eu", Provider: "azure", Region: "swedencentral", BaseURL: "https://example.openai.azure.com/openai/v1", APIKey: "k"},
		},
		Endpoints: map[string]budget.Budget{
			"chat":  {TTFT: budget.Layers{50: 400 * ms, 95: 900 * ms, 99: 4 * time.Second}},
			"batch": {MaxTokens: budget.MaxTokens{Limit: 8192}, Targets: []string{"openai"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/router"
)

// settings are what the command line says.
type settings struct {
	file, endpoint, model string
	real                  bool
}

// config is where the answers come from.
func (s settings) config(getenv func(string) string) (client.Config, error) {
	switch {
	case s.file != "":
		return client.Load(s.file)
	case s.real:
		return s.providers(getenv)
	}
	return s.simulation(), nil
}

// pick is the model to ask for.
func (s settings) pick(cfg client.Config) (string, error) {
	if _, ok := cfg.Endpoints[s.endpoint]; !ok && s.endpoint != router.DefaultEndpoint {
		known := slices.Sorted(maps.Keys(cfg.Endpoints))
		return "", fmt.Errorf("the configuration has no endpoint %q: name another with -endpoint, \"default\" or one of %q", s.endpoint, known)
	}
	if s.model != "" {
		return s.model, nil
	}
	for _, t := range cfg.Targets {
		for _, model := range slices.Sorted(maps.Keys(t.Models)) {
			return model, nil
		}
	}
	return "", errors.New("no target names its models: say which one with -model")
}

// small is what this program calls the model, whatever its name at a provider.
const small = "small"

// presets are the providers that have their key in one variable, with a small
// model of each that was offered in November 2026.
var presets = []struct{ name, variable, model string }{
	{"openai", "OPENAI_API_KEY", "gpt-6-luna"},
	{"anthropic", "ANTHROPIC_API_KEY", "claude-haiku-4-5"},
	{"gemini", "GEMINI_API_KEY", "gemini-3.5-flash-lite"},
	{"groq", "GROQ_API_KEY", "openai/gpt-oss-20b"},
	{"mistral", "MISTRAL_API_KEY", "mistral-small-latest"},
}

// providers are those of them whose key is set. The client reads the key itself.
func (s settings) providers(getenv func(string) string) (client.Config, error) {
	cfg := client.Config{Endpoints: s.promise()}
	var variables []string
	for _, p := range presets {
		variables = append(variables, p.variable)
		if getenv(p.variable) != "" {
			cfg.Targets = append(cfg.Targets, client.Target{Name: p.name, Provider: p.name, Models: map[string]string{small: p.model}})
		}
	}
	if len(cfg.Targets) == 0 {
		return cfg, fmt.Errorf("no API key is set: -real looks for %s", strings.Join(variables, ", "))
	}
	return cfg, nil
}

// promise is that of somebody who reads along.
func (s settings) promise() map[string]budget.Budget {
	chat := budget.Chat()
	chat.MaxTokens = budget.MaxTokens{Limit: 2048}
	return map[string]budget.Budget{s.endpoint: chat}
}

// simulation has two regions without sockets. The nearer one is cheaper, keeps the
// beginning of a conversation in its cache, and refuses a call now and then.
func (s settings) simulation() client.Config {
	near := behaviour(120*time.Millisecond, 9*time.Millisecond)
	near.Faults.HTTPError = 0.25
	far := behaviour(260*time.Millisecond, 12*time.Millisecond)
	return client.Config{
		Endpoints: s.promise(),
		Targets: []client.Target{
			simulated("near", router.Price{Input: 0.40, CachedInput: 0.10, Output: 1.60}),
			simulated("far", router.Price{Input: 0.44, CachedInput: 0.11, Output: 1.76}),
		},
		Transport: upstream.Network{
			"near.test": upstream.New("near", near, 3),
			"far.test":  upstream.New("far", far, 2),
		},
	}
}

func simulated(name string, price router.Price) client.Target {
	return client.Target{Name: name, BaseURL: "https://" + name + ".test/v1", Models: map[string]string{small: small}, Price: price}
}

func behaviour(ttft, pace time.Duration) upstream.Behaviour {
	return upstream.Behaviour{
		TTFT: upstream.Latency{Median: ttft, Sigma: 0.2}, Prefill: upstream.Prefill,
		Pace:   upstream.Latency{Median: pace, Sigma: 0.1},
		Output: upstream.Length{Median: 60, Sigma: 0.3}, PromptCache: time.Hour,
	}
}

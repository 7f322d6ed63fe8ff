package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
)

// realPromise is generous: how far away the providers are is not known.
var realPromise = budget.Budget{
	TTFT:      budget.Layers{50: 2 * time.Second, 95: 6 * time.Second},
	MaxTokens: budget.MaxTokens{Limit: 2048},
}

// provider is a preset of the client, the variable that its key is usually in,
// and a small model of it that was offered in November 2026.
type provider struct{ name, variable, model string }

var providers = []provider{
	{"openai", "OPENAI_API_KEY", "gpt-6-luna"},
	{"azure", "AZURE_OPENAI_API_KEY", "gpt-6-luna"},
	{"anthropic", "ANTHROPIC_API_KEY", "claude-haiku-4-5"},
	{"cerebras", "CEREBRAS_API_KEY", "gpt-oss-120b"},
	{"deepseek", "DEEPSEEK_API_KEY", "deepseek-flash"},
	{"fireworks", "FIREWORKS_API_KEY", "accounts/fireworks/models/gpt-oss-120b"},
	{"gemini", "GEMINI_API_KEY", "gemini-3.5-flash-lite"},
	{"groq", "GROQ_API_KEY", "openai/gpt-oss-20b"},
	{"mistral", "MISTRAL_API_KEY", "mistral-small-latest"},
	{"openrouter", "OPENROUTER_API_KEY", "openai/gpt-5.6-luna"},
	{"together", "TOGETHER_API_KEY", "meta-llama/Llama-3.3-70B-Instruct-Turbo"},
	{"xai", "XAI_API_KEY", "grok-4.3"},
}

// azureEndpoint names the resource, since Azure has no address for all.
const azureEndpoint = "AZURE_OPENAI_ENDPOINT"

func providerNames() string {
	var names []string
	for _, p := range providers {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// callProviders makes a few calls to every provider whose key is set.
func callProviders(ctx context.Context, o options, s *screen) error {
	targets := realTargets(o.models, os.Getenv)
	if len(targets) == 0 {
		return noKey()
	}
	c, err := connect(targets, realPromise)
	if err != nil {
		return err
	}
	defer c.Close()
	s.print(fmt.Sprintf("%d calls to:\n", o.calls))
	for _, t := range targets {
		s.print(fmt.Sprintf("  %-12s%s\n", t.Name, t.Models[model]))
	}
	chat := c.Endpoint("chat")
	l := &load{
		calls: o.calls, every: 500 * time.Millisecond, client: c, screen: s,
		apps:    []*app{newApp("with ontime", realPromise, func(int) *openai.Client { return chat })},
		periods: []period{{"all calls", 0, o.calls}},
		options: func(int) []option.RequestOption { return nil },
	}
	return l.run(ctx)
}

// realTargets are the providers whose keys are in the environment. The client
// reads the keys itself.
func realTargets(models map[string]string, getenv func(string) string) []client.Target {
	var targets []client.Target
	for _, p := range providers {
		t := client.Target{Name: p.name, Provider: p.name, Models: map[string]string{model: p.model}}
		if own := models[p.name]; own != "" {
			t.Models[model] = own
		}
		if p.name == "azure" {
			t.BaseURL = strings.TrimSuffix(getenv(azureEndpoint), "/") + "/openai/v1"
		}
		if getenv(p.variable) == "" || p.name == "azure" && getenv(azureEndpoint) == "" {
			continue
		}
		targets = append(targets, t)
	}
	return targets
}

func noKey() error {
	var b strings.Builder
	b.WriteString("no API key is set. -real calls every provider whose variable is set:\n")
	for _, p := range providers {
		variable := p.variable
		if p.name == "azure" {
			variable += " and " + azureEndpoint
		}
		fmt.Fprintf(&b, "  %-46s %s\n", variable, p.model)
	}
	b.WriteString("Another model is -model provider=model; on Azure it is the name of your deployment.")
	return fmt.Errorf("%s", b.String())
}

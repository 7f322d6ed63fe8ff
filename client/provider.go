package client

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// provider is what is known of a provider's OpenAI-compatible API.
type provider struct {
	baseURL string // empty: the target has to name it
	keyEnv  string // environment variable of the credential; empty: none is needed
	header  string // that takes the credential as it is; empty: a bearer token
	native  string // likewise, of the provider's own messages API; empty: as above
	capName string // of the token cap in chat completions; empty: as the caller spells it
	noUsage bool   // stream_options is refused, or usage comes by itself
}

// compatible is any server that speaks OpenAI's API, with or without a key.
const compatible = "compatible"

var providers = map[string]provider{
	compatible:   {},
	"openai":     {baseURL: "https://api.openai.com/v1", keyEnv: "OPENAI_API_KEY", capName: "max_completion_tokens"},
	"azure":      {keyEnv: "AZURE_OPENAI_API_KEY", header: "Api-Key", capName: "max_completion_tokens"},
	"anthropic":  {baseURL: "https://api.anthropic.com/v1", keyEnv: "ANTHROPIC_API_KEY", native: "X-Api-Key"},
	"cerebras":   {baseURL: "https://api.cerebras.ai/v1", keyEnv: "CEREBRAS_API_KEY", capName: "max_completion_tokens"},
	"deepseek":   {baseURL: "https://api.deepseek.com/v1", keyEnv: "DEEPSEEK_API_KEY", capName: "max_tokens"},
	"fireworks":  {baseURL: "https://api.fireworks.ai/inference/v1", keyEnv: "FIREWORKS_API_KEY", capName: "max_tokens"},
	"gemini":     {baseURL: "https://generativelanguage.googleapis.com/v1beta/openai", keyEnv: "GEMINI_API_KEY"},
	"groq":       {baseURL: "https://api.groq.com/openai/v1", keyEnv: "GROQ_API_KEY", capName: "max_completion_tokens"},
	"mistral":    {baseURL: "https://api.mistral.ai/v1", keyEnv: "MISTRAL_API_KEY", capName: "max_tokens", noUsage: true},
	"openrouter": {baseURL: "https://openrouter.ai/api/v1", keyEnv: "OPENROUTER_API_KEY"},
	"together":   {baseURL: "https://api.together.xyz/v1", keyEnv: "TOGETHER_API_KEY", capName: "max_tokens"},
	"xai":        {baseURL: "https://api.x.ai/v1", keyEnv: "XAI_API_KEY", capName: "max_completion_tokens", noUsage: true},
}

func providerNames() string {
	return strings.Join(slices.Sorted(maps.Keys(providers)), ", ")
}

// preset is the target's provider, if it is known.
func (t *Target) preset() (provider, bool) {
	name := t.Provider
	if name == "" {
		name = compatible
	}
	p, ok := providers[name]
	return p, ok
}

// keys are the target's credentials: its own, or the environment's.
func (t *Target) keys() []string {
	switch p, _ := t.preset(); {
	case t.Auth != nil:
		return nil
	case t.APIKey != "":
		return []string{t.APIKey}
	case len(t.APIKeys) > 0:
		return slices.Clone(t.APIKeys)
	case p.keyEnv != "" && os.Getenv(p.keyEnv) != "":
		return []string{os.Getenv(p.keyEnv)}
	default:
		return nil
	}
}

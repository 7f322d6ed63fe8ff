package client

import (
	"maps"
	"slices"
	"strings"
)

// provider is what is known of a provider's API, from its public documentation.
// What it says of its limits needs no word here: package ratelimit reads it in any
// spelling.
type provider struct {
	// baseURL may have {region} and {project} in it. Empty: the target has to name it.
	baseURL string
	// elsewhere takes its place for regions that lie at another address.
	elsewhere map[string]string
	// local is a server that many run: two are no more alike than their hosts.
	local bool

	keyEnv  []string // environment variables of the credential, the first that is set; none: it needs no key
	expires bool     // its credentials are tokens that expire soon: Auth has to fetch them
	header  string   // that takes the credential as it is; empty: a bearer token
	// native is likewise, for all but OpenAI's chat completions, and headers are
	// what those requests need besides, unless the caller sends them.
	native  string
	headers map[string]string

	formats []string // that it speaks; nil: not known, so any
	capName string   // of the token cap in chat completions; empty: as the caller or the model spells it
	noUsage bool     // stream_options is refused, or usage comes by itself
}

// Formats of a request, by the names that [Target.Formats] has for them.
const (
	chat        = "chat"
	completions = "completions"
	responses   = "responses"
	embeddings  = "embeddings"
	messages    = "messages"
)

var allFormats = []string{chat, completions, responses, embeddings, messages}

// compatible is any server that speaks OpenAI's API, with or without a key.
const compatible = "compatible"

// Spellings of the token cap in chat completions. Where both are taken the table
// has the one that no version and no model of the provider's refuses or ignores.
const (
	older = "max_tokens"
	newer = "max_completion_tokens"
)

var providers = map[string]provider{
	// Nothing is known of it. To refuse a call for want of a setting would be the
	// greater surprise: a server that does not speak a format says 404, after which
	// another provider's target is tried.
	compatible: {local: true},

	"openai": {
		baseURL: "https://api.openai.com/v1", keyEnv: []string{"OPENAI_API_KEY"},
		formats: []string{chat, completions, responses, embeddings}, capName: newer,
	},
	// "Azure OpenAI in Microsoft Foundry Models v1 API" and "Azure OpenAI Service REST
	// API reference", learn.microsoft.com/azure/ai-foundry/openai: /openai/v1 without a
	// version, /openai/deployments/NAME with one; api-key, or a bearer token of Entra.
	// No stable version of the latter has max_completion_tokens, 2024-10-21 included
	// (azure-rest-api-specs): there the cap is spelt by the model.
	"azure": {
		keyEnv: []string{"AZURE_OPENAI_API_KEY"}, header: "Api-Key",
		formats: []string{chat, completions, responses, embeddings}, capName: newer,
	},
	// "OpenAI SDK compatibility" and "API overview", platform.claude.com/docs: the
	// former takes a bearer token, the latter x-api-key and a version.
	"anthropic": {
		baseURL: "https://api.anthropic.com/v1", keyEnv: []string{"ANTHROPIC_API_KEY"},
		native: "X-Api-Key", headers: map[string]string{"Anthropic-Version": "2023-06-01"},
		formats: []string{chat, messages},
	},
	// "Using Gemini API keys", ai.google.dev: of the two variables GOOGLE_API_KEY
	// takes precedence. "OpenAI compatibility": chat and embeddings.
	"gemini": {
		baseURL: "https://generativelanguage.googleapis.com/v1beta/openai",
		keyEnv:  []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"},
		formats: []string{chat, embeddings},
	},
	// "Using OpenAI libraries with Vertex AI", cloud.google.com: Google's access tokens,
	// which last an hour. "Deployments and endpoints": global, and the multi-regions us
	// and eu, have hosts of their own.
	"vertex": {
		baseURL: "https://{region}-aiplatform.googleapis.com/v1/projects/{project}/locations/{region}/endpoints/openapi",
		elsewhere: map[string]string{
			"global": "https://aiplatform.googleapis.com/v1/projects/{project}/locations/global/endpoints/openapi",
			"us":     "https://aiplatform.us.rep.googleapis.com/v1/projects/{project}/locations/us/endpoints/openapi",
			"eu":     "https://aiplatform.eu.rep.googleapis.com/v1/projects/{project}/locations/eu/endpoints/openapi",
		},
		expires: true,
		formats: []string{chat},
	},
	// "Responses API" and "Invoke a model with the OpenAI Chat Completions API",
	// docs.aws.amazon.com/bedrock. China and other partitions have hosts of their own.
	"bedrock": {
		baseURL: "https://bedrock-runtime.{region}.amazonaws.com/openai/v1", keyEnv: []string{"AWS_BEARER_TOKEN_BEDROCK"},
		formats: []string{chat, responses}, capName: newer,
	},
	"openrouter": {
		baseURL: "https://openrouter.ai/api/v1", keyEnv: []string{"OPENROUTER_API_KEY"},
		formats: allFormats,
	},
	// "OpenAI Compatibility", console.groq.com/docs/openai: no text completions.
	"groq": {
		baseURL: "https://api.groq.com/openai/v1", keyEnv: []string{"GROQ_API_KEY"},
		formats: []string{chat, responses}, capName: newer,
	},
	// "OpenAI compatibility", docs.together.ai/docs/inference/openai-compatibility.
	"together": {
		baseURL: "https://api.together.ai/v1", keyEnv: []string{"TOGETHER_API_KEY"},
		formats: []string{chat, completions, embeddings}, capName: older,
	},
	// "Anthropic compatibility", docs.fireworks.ai: messages with a bearer token.
	"fireworks": {
		baseURL: "https://api.fireworks.ai/inference/v1", keyEnv: []string{"FIREWORKS_API_KEY"},
		formats: allFormats, capName: older,
	},
	"mistral": {
		baseURL: "https://api.mistral.ai/v1", keyEnv: []string{"MISTRAL_API_KEY"},
		formats: []string{chat, embeddings}, capName: older, noUsage: true,
	},
	// "Your First API Call", api-docs.deepseek.com: messages are below another base
	// URL, https://api.deepseek.com/anthropic/v1.
	"deepseek": {
		baseURL: "https://api.deepseek.com/v1", keyEnv: []string{"DEEPSEEK_API_KEY"},
		formats: []string{chat}, capName: older,
	},
	// "Legacy & Deprecated", docs.x.ai: completions are old, messages "fully deprecated".
	"xai": {
		baseURL: "https://api.x.ai/v1", keyEnv: []string{"XAI_API_KEY"},
		formats: []string{chat, completions, responses}, capName: newer, noUsage: true,
	},
	"cerebras": {
		baseURL: "https://api.cerebras.ai/v1", keyEnv: []string{"CEREBRAS_API_KEY"},
		formats: []string{chat, completions}, capName: newer,
	},
	"nvidia": {
		baseURL: "https://integrate.api.nvidia.com/v1", keyEnv: []string{"NVIDIA_API_KEY"},
		formats: []string{chat, completions, embeddings}, capName: older,
	},

	// Servers that one runs oneself, at the port where each starts. The older ones of
	// them refuse max_completion_tokens, or ignore it.
	// "Online Serving", docs.vllm.ai; "Anthropic-Compatible API", docs.sglang.io;
	// tools/server/README.md, github.com/ggml-org/llama.cpp; "OpenAI compatibility" and
	// "Anthropic compatibility", docs.ollama.com.
	"vllm":      {baseURL: "http://localhost:8000/v1", local: true, formats: allFormats, capName: older},
	"sglang":    {baseURL: "http://localhost:30000/v1", local: true, formats: allFormats, capName: older},
	"llama.cpp": {baseURL: "http://localhost:8080/v1", local: true, formats: allFormats, capName: older},
	"ollama":    {baseURL: "http://localhost:11434/v1", local: true, formats: allFormats, capName: older},
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

// maker tells whose the target is: of a server that anyone may run, its host.
func (t *Target) maker() string {
	if preset, known := t.preset(); known && preset.local {
		base, _ := t.base()
		return base.Host
	}
	return t.Provider
}

// formats are those that the target speaks; nil: any.
func (t *Target) formats() []string {
	preset, _ := t.preset()
	switch {
	case len(t.Formats) > 0:
		return t.Formats
	case t.ofDeployments():
		return []string{chat, completions, embeddings} // the rest lies elsewhere
	default:
		return preset.formats
	}
}

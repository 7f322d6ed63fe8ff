package client

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/metrics"
	"github.com/ontime-llm/ontime/router"
)

// Config is all that a Client is made of. [New] checks it, reports every
// problem at once, and keeps a copy; it never writes into it.
type Config struct {
	// Targets are the upstreams that may serve calls, at least one.
	Targets []Target
	// Endpoints are the application's call sites with what each promises. One
	// named "default" is for calls that name none; without it they get the zero
	// Budget.
	Endpoints map[string]budget.Budget
	// MaxOutput is the most output tokens that a model can write, by the name that
	// the application has for it: no call to it leaves with a higher cap. What is
	// not among them is left to the provider.
	MaxOutput map[string]int
	// Home is the target for requests that are not routed: files, models,
	// stored state that no one else is known to have made. Empty: the first.
	Home string
	// Shadow plans every call, logs what it would have chosen, and sends it to
	// Home, which every endpoint has to allow. Calls are capped and measured all
	// the same.
	Shadow bool
	// Seed makes the router's random choices repeatable.
	Seed uint64
	// Transport sends the attempts. Nil: an http.Transport fit for long streams,
	// which Close closes. It has to look at a request's context, also while the
	// body of its response is read, and must not follow redirects by itself: it
	// would take credentials along.
	Transport http.RoundTripper
	// Logger gets one record per call, never with a prompt, an answer, a
	// credential or a provider's message. Nil: no log.
	Logger *slog.Logger
	// Observers are told of every call and attempt.
	Observers []middleware.Observer
	// Registerer has the metrics of the client registered, until Close; see package
	// metrics for what there is. Metrics of another client in it are an error: where a
	// process has several, give each prometheus.WrapRegistererWith and a label of its
	// own. Nil: no metrics.
	Registerer metrics.Registerer
	// Shared has the replicas of an application learn from each other what each sees of
	// its targets, and keep its promises together; see packages router and router/redis,
	// which has one. Close ends the exchange, and leaves the store to who made it. Nil:
	// the client learns from its own calls alone.
	Shared router.Store
	// TraceID returns the id of the trace that a call is part of, empty if there is
	// none, for [middleware.Call], the log, and as an exemplar of metrics. It is given
	// the context of the call. Nil: no call has one.
	TraceID func(context.Context) string
	// Trace has every attempt's time told apart as far as the transport can
	// ([middleware.Timing]), for some 10 allocations each.
	Trace bool
	// Grace is how long Close lets calls go on. 0: 10 s; negative: not at all.
	Grace time.Duration
}

// home is the name of the home target; empty if there are no targets.
func (c *Config) home() string {
	if c.Home == "" && len(c.Targets) > 0 {
		return c.Targets[0].Name
	}
	return c.Home
}

// Target is one upstream: provider, region, credential and base URL.
type Target struct {
	// Name in logs, metrics and budgets: [a-z0-9._-], at most 63 characters.
	Name string
	// Provider is a preset: "anthropic", "azure", "bedrock", "cerebras", "deepseek",
	// "fireworks", "gemini", "groq", "llama.cpp", "mistral", "nvidia", "ollama",
	// "openai", "openrouter", "sglang", "together", "vertex", "vllm" or "xai", or
	// "compatible" for any other server that speaks OpenAI's API. Empty: compatible.
	Provider string
	// Region is a label: targets of one provider learn from each other. It is part
	// of the address of bedrock and vertex.
	Region string
	// Project is the id of the project that vertex has in its address.
	Project string
	// BaseURL includes the version, such as https://api.example.com/v1, and may
	// have {region} and {project} in it. Of azure it is the resource's,
	// https://NAME.openai.azure.com/openai/v1, or, for its dated API,
	// https://NAME.openai.azure.com/openai/deployments/{model}?api-version=DATE,
	// where calls go to deployments named like the models. Empty: the preset's.
	// With a credential it has to be https, loopback apart.
	BaseURL string
	// Formats are the formats of a call that the target speaks: "chat",
	// "completions", "responses", "embeddings", "messages" (Anthropic's). It gets no
	// others. Empty: what the preset is documented to speak; all for compatible.
	Formats []string
	// APIKey is the credential. Empty: the one in the provider's own environment
	// variable, such as OPENAI_API_KEY.
	APIKey string
	// APIKeys are several, used in turn. Set it or APIKey.
	APIKeys []string
	// AdminKey is for OpenAI's administration API, on the home target alone.
	// Empty: administration calls are refused.
	AdminKey string
	// Auth puts the credential on a request that is otherwise complete, in place
	// of a key: for tokens that expire, for signatures. It runs once per attempt,
	// concurrently, should heed the request's context, may read the body, and must
	// not change where the request goes. If it fails, or does, nothing is sent and
	// the call goes on to another target ([middleware.AuthError]).
	Auth func(*http.Request) error
	// Models maps a model as the application names it to the name here, and
	// says which models the target serves. Empty: all, under their own names.
	Models map[string]string
	// Headers are sent to this target alone.
	Headers map[string]string
	// Price is in USD per million tokens, of every model that Prices does not list. Price
	// all targets of an endpoint or none.
	Price router.Price
	// Prices are those of single models, as the application names them; a zero one is that
	// of a model which costs nothing.
	Prices map[string]router.Price
	// Limits are the target's own rate limits, as far as known.
	Limits router.Limits
}

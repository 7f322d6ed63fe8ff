package client

import (
	"strings"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// This file says what a configuration file may hold. A field of Config that is
// data has its place here.

func configMembers() []member[Config] {
	grace := func(c *Config) *time.Duration { return &c.Grace }
	return []member[Config]{
		required(parts("targets", "The upstreams that may serve calls, at least one.",
			targetMembers(), func(c *Config) *[]Target { return &c.Targets })),
		named("endpoints", "The application's call sites by name, with what each promises. \"default\" is for calls that name none.",
			budgetMembers(), func(c *Config) *map[string]budget.Budget { return &c.Endpoints }),
		numbers("max_output", "The most output tokens that models can write, by the application's name for each: no call leaves with a higher cap.",
			func(c *Config) *map[string]int { return &c.MaxOutput }),
		text("home", "The target for requests that are not routed: files, models, stored state of an unknown maker. Without it, the first.",
			func(c *Config) *string { return &c.Home }),
		truth("shadow", "Plan every call, log what would have been chosen, and send everything to home.",
			func(c *Config) *bool { return &c.Shadow }),
		seed("seed", "Makes random choices repeatable.",
			func(c *Config) *uint64 { return &c.Seed }),
		truth("trace", "Tell every attempt's time apart as far as possible, for a little work each.",
			func(c *Config) *bool { return &c.Trace }),
		zeroIsNone(duration("grace", "How long Close lets calls go on. Without it 10s; 0s: not at all.", grace), grace),
	}
}

func targetMembers() []member[Target] {
	return []member[Target]{
		required(text("name", "The name in logs, metrics and budgets: a-z, 0-9, '.', '_' and '-', at most 63 characters.",
			func(t *Target) *string { return &t.Name })),
		oneOf(text("provider", "A preset, or \"compatible\" (also if left out) for any other server that speaks OpenAI's API.",
			func(t *Target) *string { return &t.Provider }), presetNames()),
		text("region", "A label: targets of one provider learn from each other. Part of the address of bedrock and vertex.",
			func(t *Target) *string { return &t.Region }),
		text("project", "The id of the project that vertex has in its address.",
			func(t *Target) *string { return &t.Project }),
		secretText("base_url", "With the version, such as https://api.example.com/v1; {region} and {project} stand for those. Without it the preset's.",
			func(t *Target) *string { return &t.BaseURL }),
		list("formats", "The formats of a call that the target speaks: "+strings.Join(allFormats, ", ")+". Without it those of the preset.", true,
			func(t *Target) *[]string { return &t.Formats }),
		secretText("api_key", "The credential, best as ${NAME}. Without it the preset's environment variable.",
			func(t *Target) *string { return &t.APIKey }),
		list("api_keys", "Several credentials, used in turn, in place of api_key.", false,
			func(t *Target) *[]string { return &t.APIKeys }),
		secretText("admin_key", "For OpenAI's administration API, on the home target alone. Without it such calls are refused.",
			func(t *Target) *string { return &t.AdminKey }),
		words("models", "Models as the application names them, each with its name here: those that the target serves. Without it all, under their own names.", true,
			func(t *Target) *map[string]string { return &t.Models }),
		words("headers", "Headers for this target alone.", false,
			func(t *Target) *map[string]string { return &t.Headers }),
		part("price", "USD per million tokens, for models that prices does not list. Price all targets of an endpoint or none.",
			priceMembers(), func(t *Target) *router.Price { return &t.Price }),
		objects("prices", "Prices of single models, as the application names them.",
			priceMembers(), func(t *Target) *map[string]router.Price { return &t.Prices }),
		part("limits", "The target's own rate limits, as far as known.",
			limitMembers(), func(t *Target) *router.Limits { return &t.Limits }),
	}
}

func priceMembers() []member[router.Price] {
	return []member[router.Price]{
		number("input", "For prompt tokens.", func(p *router.Price) *float64 { return &p.Input }),
		number("cached_input", "For prompt tokens that the provider had cached. Without it as input.",
			func(p *router.Price) *float64 { return &p.CachedInput }),
		number("output", "For generated tokens, reasoning included.", func(p *router.Price) *float64 { return &p.Output }),
	}
}

func limitMembers() []member[router.Limits] {
	return []member[router.Limits]{
		whole("requests_per_minute", "0 or left out: not known.", func(l *router.Limits) *int { return &l.RequestsPerMinute }),
		whole("tokens_per_minute", "Prompt and output. 0 or left out: not known.", func(l *router.Limits) *int { return &l.TokensPerMinute }),
		whole("concurrent", "Requests under way at once. 0 or left out: not known.", func(l *router.Limits) *int { return &l.Concurrent }),
	}
}

func budgetMembers() []member[budget.Budget] {
	hedge := func(b *budget.Budget) *float64 { return &b.Hedge }
	weight := func(b *budget.Budget) *float64 { return &b.CostWeight }
	abandon := func(b *budget.Budget) *time.Duration { return &b.Abandon }
	return []member[budget.Budget]{
		layers("ttft", "Limits for the time to the first token, by percentile. For streamed calls.",
			func(b *budget.Budget) *budget.Layers { return &b.TTFT }),
		layers("tpot", "Limits for the time per output token after the first, by percentile. For streamed calls.",
			func(b *budget.Budget) *budget.Layers { return &b.TPOT }),
		layers("total", "Limits for the time to the end of the answer, by percentile.",
			func(b *budget.Budget) *budget.Layers { return &b.Total }),
		part("max_tokens", "Caps on the output tokens of a call.",
			capMembers(), func(b *budget.Budget) *budget.MaxTokens { return &b.MaxTokens }),
		duration("deadline", "Bounds a whole call, all attempts included. Without it the caller's own deadline alone.",
			func(b *budget.Budget) *time.Duration { return &b.Deadline }),
		zeroIsWrong(duration("abandon", "The least time without content after which an attempt may be given up, if the route's past says so too. Without it 5s.", abandon),
			"0 would give up every attempt at once: set a time above 0, or leave it out to let the route's past decide", abandon),
		zeroIsNone(share("hedge", "The share of calls that may be sent a second time, such as 5%. Without it 5%; 0: none.", hedge), hedge),
		truth("hedge_all", "Hedge calls with n > 1 and embeddings too.",
			func(b *budget.Budget) *bool { return &b.HedgeAll }),
		zeroIsNone(number("cost_weight", "How much cost counts against the layers. Without it 3; 0: cost is ignored. Without layers a weight makes the cheapest route win.", weight), weight),
		list("targets", "The targets that may serve the endpoint. Without it every target that serves the model.", true,
			func(b *budget.Budget) *[]string { return &b.Targets }),
		list("models", "Models in order of preference: the next one while no route of the former is healthy.", true,
			func(b *budget.Budget) *[]string { return &b.Models }),
	}
}

func capMembers() []member[budget.MaxTokens] {
	unasked := func(m *budget.MaxTokens) *int { return &m.Default }
	return []member[budget.MaxTokens]{
		zeroIsWrong(whole("default", "The cap of a call that asks for none. Without it 4096, or 32768 for reasoning models; -1: none.", unasked),
			"0 would leave no room for an answer: set a number of tokens, -1 for no cap, or leave it out for 4096 (32768 for reasoning models)", unasked),
		whole("limit", "The most that a call may ask for. 0 or left out: no limit.", func(m *budget.MaxTokens) *int { return &m.Limit }),
		truth("fit", "Lower the cap to what can be written in the time that is left.", func(m *budget.MaxTokens) *bool { return &m.Fit }),
		truth("strict", "Refuse a call that asks for too much, instead of lowering its cap.", func(m *budget.MaxTokens) *bool { return &m.Strict }),
	}
}

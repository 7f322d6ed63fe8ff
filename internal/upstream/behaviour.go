package upstream

import "time"

// Prefill is what a prompt token that is not cached adds to the first token's time at hosted providers, by public
// measurements of 2025.
const Prefill = 60 * time.Microsecond

// Behaviour says how a Server answers. It is plain data: copy it freely. The zero value answers every call in full and at
// once, with 16 tokens, the way OpenAI does.
type Behaviour struct {
	// TTFT is the time from a request's arrival to the first generated token, for an empty prompt.
	TTFT Latency
	// Prefill is added to the median of TTFT for every prompt token that is not cached. See the constant of that name.
	Prefill time.Duration
	// Pace is the time from one token to the next, drawn once per answer.
	Pace Latency
	// TokensPerEvent is how many tokens come in one event. 0: 1.
	TokensPerEvent int
	// EventsPerBurst is how many events become readable at the same instant, as several come in one packet. The first
	// content event always comes alone. 0: 1.
	EventsPerBurst int
	// Slow makes a share of the calls slower: a spike or a brown-out.
	Slow Slow
	// Spells are bad periods between good ones.
	Spells Spells
	// Capacity is how many calls the server carries without slowing down; with more under way, TTFT and pace grow in
	// proportion. 0: no limit.
	Capacity int

	// Output is how many tokens an answer would have, reasoning apart, if the request set no cap.
	Output Length
	// Reasoning is how many tokens the model thinks before it answers. They count against the request's cap, and when it is
	// used up nothing is left for the answer.
	Reasoning int
	// ShowReasoning streams the reasoning. Otherwise it is silence before the first token.
	ShowReasoning bool
	// IgnoreCap lets answers run past the request's cap.
	IgnoreCap bool

	// EarlyHeaders is the share of answers whose status and headers come at once. The others' come with the first token.
	EarlyHeaders float64
	// Preamble is what a chat stream sends before any content, as soon as the headers are out.
	Preamble Preamble
	// KeepAlive is how often a stream sends a comment, counted from its headers. 0: never.
	KeepAlive time.Duration
	// Usage is where the token counts are told.
	Usage UsageStyle
	// NoDone leaves out "data: [DONE]".
	NoDone bool
	// NoStream answers a call for a stream with a whole JSON answer.
	NoStream bool
	// Tail is how long the connection stays open after the last event.
	Tail time.Duration

	// Faults says how often what goes wrong.
	Faults Faults
	// RequestsPerMinute is the rate limit of each API key: a bucket of so many requests, filled evenly. 0: none.
	RequestsPerMinute int
	// PromptCache is how long the prefix of a prompt is remembered, message by message. 0: not at all.
	PromptCache time.Duration

	// Models are the models it serves. Empty: any.
	Models []string
	// Keys are the API keys it takes. Empty: any, or none.
	Keys []string
	// Reject are members of a request that it answers with 400 unsupported_parameter, such as "max_tokens".
	Reject []string
}

// Latency is a lognormal time with stragglers. The zero value is no time at all.
type Latency struct {
	// Median of the bulk.
	Median time.Duration
	// Sigma is the standard deviation of the bulk's logarithm. 0: every time is the median.
	Sigma float64
	// StragglerShare of the times, between 0 and 1, are StragglerFactor times longer (0: 5 times).
	StragglerShare, StragglerFactor float64
}

// Length is a lognormal number of tokens, at least 1. The zero value is always 16.
type Length struct {
	Median int
	Sigma  float64
}

// Slow says that some calls are slower than the others. The zero value changes nothing.
type Slow struct {
	// Share of the calls, between 0 and 1.
	Share float64
	// TTFT and Pace are factors. 0: 1.
	TTFT, Pace float64
}

// Preamble is what a chat stream sends before any content.
type Preamble uint8

// Preambles that are met.
const (
	RolePreamble  Preamble = iota // a chunk with the role and an empty content, as OpenAI
	NoPreamble                    // nothing: the role comes with the first content
	AzurePreamble                 // the prompt filter's results without any choice, then the role
)

// UsageStyle is where a stream tells how many tokens it took. A whole answer tells it always, except with UsageNever.
type UsageStyle uint8

// Styles that are met. Responses and messages streams have their own place and know only UsageNever besides.
const (
	UsageAsked      UsageStyle = iota // in an extra chunk at the end, if stream_options.include_usage asks, as OpenAI
	UsageAlways                       // in an extra chunk at the end, asked for or not
	UsageFinish                       // on the chunk with the finish reason, as DeepSeek and Mistral
	UsageCumulative                   // on every chunk, as Perplexity
	UsageGroq                         // in x_groq on the chunk with the finish reason
	UsageNever
)

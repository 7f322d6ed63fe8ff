// Package dialect reads the wire formats of inference APIs: chat completions,
// legacy completions, responses, embeddings and Anthropic's messages. For each it
// says what a request asks for, what one event of a stream or a whole answer
// brings (content, reasoning, usage, the end, an error), and how a whole answer
// looks as a stream.
//
// Providers that claim one format differ: usage has a dozen spellings and places,
// reasoning half a dozen, and an error can arrive inside a 200. All of that is
// settled here, so that nothing else needs to know a provider's habits.
//
// Events are read by a small JSON cursor that allocates nothing and refuses what
// encoding/json refuses; requests are edited in place, other bytes untouched.
//
// The package owns formats only. It must never know HTTP, time, budgets or routes.
package dialect

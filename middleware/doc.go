// Package middleware serves one LLM call: it caps it, plans it, races attempts
// for it, measures what comes, and reports it.
//
// There are three ways to use it, each useful alone:
//
//   - [Meter] measures the calls of a plain openai.Client and changes nothing.
//     [MeterTransport] does the same for any other SDK.
//   - [Cap] makes the calls of a plain openai.Client leave with a token cap.
//   - [Transport] is the whole: an http.RoundTripper over several targets. Package
//     client makes one from a configuration; most applications want that.
//
// # What is measured
//
// Each event of a stream is stamped when its last byte has arrived, by a
// goroutine that does nothing else, so that an application that reads slowly
// is not mistaken for a slow provider. Times of an [Attempt] count from just
// before its request was sent; those of a [Call] from when the application's
// request came in, whatever attempts it took.
//
//   - TTFT: to the first event with generated content of any choice: text,
//     reasoning, a refusal, audio, or a tool call's name or arguments. Headers,
//     comments, pings, role-only and empty deltas are not content.
//   - TTFA: the same, but reasoning does not count.
//   - TPOT: (last content - first content) / (streamed output tokens - tokens in
//     the first content event). Undefined with fewer than two content events,
//     with several choices, without usage, or when the caller read too slowly.
//     Reasoning tokens that were not streamed do not count.
//   - Stall: the longest gap between two content events; Gaps has all of them.
//   - Total: to the last content or the end marker, not to when the connection
//     closed.
//
// A zero time means that it did not happen or is undefined.
//
// # Where the time went
//
// Of each attempt it is known when it had a connection (Timing.Conn), the headers, the
// first byte of the body, the first content (TTFT) and the last (LastContent). With
// [Config.Trace], or [Trace] for a Meter, Timing has name resolution, connecting, TLS, and
// when the request was written too, as far as the transport tells.
//
// Beside them stands what the provider says of itself ([ServerTiming]), where it does:
//
//	                             Queue  Prefill  Decode  TTFT  Headers  told in
//	Groq, Cerebras               x      x        x                      usage, x_groq; time_info
//	Azure                        x      x                x              latency_checkpoint
//	llama.cpp                           x        x                      timings
//	Hugging Face                                         x              sla_metrics
//	Fireworks                    x      x                x              fireworks-* headers
//	OpenAI                                                     x        openai-processing-ms
//	Anthropic, Mistral, Google                                 x        x-envoy-upstream-service-time, server-timing
//
// [Attempt.Phases] puts both together, so that network, queue, prefill and decode are told
// apart and add up to what was measured. A provider's word is taken as it is.
//
// # How a call ends
//
// Until the first content event nothing is given to the caller, so an attempt
// that fails (no connection, an HTTP error, an error event inside a 200 stream,
// an empty or cut stream, a page instead of an answer) is followed by another
// one in silence. From the first content on the stream is the caller's: a later
// failure is an [*Error] from Read. The last attempt's HTTP error is returned
// as that response.
//
// The limit of a layer ends nothing. What does: the caller's context, the
// endpoint's deadline, 10 minutes without content where there is neither
// ([ErrNoContent]), and 5 minutes without content in the middle of an answer
// ([ErrStalled]), whatever else comes: a keep-alive is no content, and a model may
// think for minutes without one. That a connection is dead is for the transport to
// find out: a client's own does so in half a minute over HTTP/2, and in some minutes
// over HTTP/1.1. A finished answer whose connection stays open ends by itself after 5
// seconds.
//
// What follows a fault, and what is held against the route, depends on the
// fault. An error inside a 200 stream counts as the status that it amounts to.
//
//	fault                                             the call goes on to              held against
//	no response, cut, empty, no answer, redirect      another route, then again        the route
//	408, 409, 425, 5xx                                another route, then again        the route
//	429                                               another key or route, or waits   the key, for a while
//	401, 402, 403, 429 for a used-up quota            another key or route, or waits   the key, until it is well
//	404; 400 or 413 with a code for model not         a route of another provider,     nobody
//	found, parameter not supported, context too long  once
//	other 4xx                                         nothing                          nobody
//	the caller's cancel or deadline, a lost race      nothing                          nobody
//	finish reason length                              it is an answer                  nobody
//
// Where the endpoint lists further models (budget.Budget.Models), their routes follow
// once none of the call's own is left: Call.Fallback tells.
//
// All attempts and waits of a call share its deadline, and nothing sleeps while
// a route is left that may be taken. The first step to another healthy route is
// always made, and so is one from an attempt that was abandoned; all further attempts
// are rationed to a fifth of the calls, with a burst of as much as the calls of the
// last four minutes allow. Where every route
// is at its limit or cooling down the call waits, first come first served, if
// that can end before its deadline (two minutes, if there is none); Call.Waited
// says how long. Otherwise it fails at once.
//
// A parameter of ours that a route refuses (stream_options, the spelling of the
// token cap) is swapped at once and remembered, without blame. A request that is
// lost on a connection from the pool before any byte of an answer is sent once
// more.
//
// # Token caps
//
// Every call leaves with a cap on its output tokens, as its endpoint's
// [budget.MaxTokens] say, in the spelling that the target takes and in no other.
// Call.MaxTokens is that cap, Call.Capped says that it is not the caller's. A
// default of ours that is more than a model can write fails no call: where the
// refusal says so it is left out.
//
// A cap that ends an answer is no failure: the finish reason is length. If reasoning
// had used it up before there was any answer, Call.Starved says so. Both are counted
// by endpoint, in the router's snapshot.
//
// A provider that ignores its cap is cut off, and the stream ends in its own format
// as one that has come to its length; Attempt.Warning says why. That happens only
// once it is certain: where events tell their tokens, 64 past the cap; else when
// there is more text than 64 tokens past the cap can hold, at 16 bytes a token (English
// has 4 or 5). For several choices it is the sum that counts. Reasoning has a bound
// of its own, of 32768 tokens at least, since some providers do not count it. What
// comes in one piece is never cut, but gets a warning.
//
// # Observers
//
// Every call ends in a [Call] with its attempts, which [Observer]s are given
// and [WithCall] gives to the code that made the call. A [ContextObserver] has the
// context of the call too. Neither Call nor Attempt carries a prompt, an answer or a
// credential. A provider's own message is in a [*ProviderError] in Err, and in no text of
// this package.
//
// This package turns HTTP into the router's terms. It knows no configuration
// file, no preset and no environment.
package middleware

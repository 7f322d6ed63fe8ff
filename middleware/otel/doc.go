// Package otel has OpenTelemetry see what package middleware measures: traces and metrics
// by the GenAI semantic conventions, v0.1.0.
//
//	o, err := otel.New()
//	...
//	c, err := client.New(client.Config{Observers: []middleware.Observer{o}, TraceID: otel.TraceID, ...})
//
// A plain openai.Client that is measured has the same:
//
//	llm := openai.NewClient(option.WithMiddleware(middleware.Meter(middleware.Observe(o))))
//
// # Spans
//
// Each call is a span, a child of the one that it was made in, and each of its attempts is
// a child of that. They are made when the call has ended, with the times at which things
// happened; the application's span may have ended by then. What is sampled is decided once,
// for the call: one that is not recorded has no attempts either.
//
//	span                kind    what it is
//	{operation} {model} client  a call: from when the application's request came in to its last content or end marker
//	attempt {target}    client  one request to one target: from just before it was sent
//
// A call's span has events:
//
//	event           what it is
//	ontime.hedge    second attempt, started beside the first
//	ontime.commit   first content of the answer that the application has, or all of an answer in one piece: nothing else can win any more
//	ontime.abandon  end of an attempt that was given up for want of content, since another target was left
//
// # Attributes
//
// Of the spans of calls (c) and attempts (a), of events (e), and of metrics (m). What is
// not known, or zero, is left out. Times are in seconds. No attribute has anything of a
// prompt, an answer, a provider's message or a credential in it.
//
//	attribute                                 of    what it is
//	gen_ai.operation.name                     c m   chat (responses and messages too), text_completion or embeddings
//	gen_ai.provider.name                      c a m the conventions' name for whose target it is, else ours; openai or anthropic by the call's format for a server that is not known
//	gen_ai.request.model                      c a m as the application names it; of an attempt, as the target does
//	gen_ai.request.stream                     c     true for a streamed call
//	gen_ai.request.max_tokens                 c a   the token cap that it left with
//	gen_ai.response.model                     c a m as the provider says
//	gen_ai.response.finish_reasons            c     one of stop, length, tool_calls, content_filter, refusal, other, error; error also where none came
//	gen_ai.response.time_to_first_chunk       c a   time to the first content, of streams
//	gen_ai.usage.input_tokens                 c     as the provider counted them, cached ones included; estimates are left out
//	gen_ai.usage.cache_read.input_tokens      c     of them, those read from the provider's cache
//	gen_ai.usage.output_tokens                c     reasoning included
//	gen_ai.usage.reasoning.output_tokens      c     of them, those spent on reasoning
//	gen_ai.token.modality                     m     unknown: usage is not told apart
//	server.address                            c a m host that it was sent to
//	server.port                               c a m port of it
//	error.type                                c a m what went wrong, see below
//	http.response.status_code                 a     of the response
//	ontime.endpoint                           c m   whose budget applied
//	ontime.target                             c a e m target that served the answer, or the last one tried
//	ontime.region                             c a e region of the target
//	ontime.planned_target                     c     target that would have been chosen, in shadow mode
//	ontime.outcome                            c a m completed, failed, timed_out, cancelled or lost
//	ontime.attempts                           c     how many there were
//	ontime.attempt.kind                       a     first, failover or hedge
//	ontime.hedged                             c     whether a second attempt ran beside the first
//	ontime.capped                             c     whether the budget set or lowered the token cap
//	ontime.starved                            c     true where reasoning used the cap up, and there is no answer
//	ontime.cost_usd                           c a   cost; of a call, of all its attempts
//	ontime.waited                             c     time that was spent since every route was at a limit or cooling down
//	ontime.time_to_first_answer               c     time to the first content that is not reasoning
//	ontime.time_per_output_token              c     pace after the first content
//	ontime.stall                              c     longest gap between two content events
//	ontime.error.code                         c a   the provider's own code, at most 64 of [A-Za-z0-9._-]
//	ontime.phase.connect                      a     where the attempt's time went, see middleware.Phases
//	ontime.phase.send                         a     likewise, if the client's Config.Trace is set
//	ontime.phase.network                      a     likewise
//	ontime.phase.queue                        a     likewise
//	ontime.phase.prefill                      a     likewise
//	ontime.phase.wait                         a     likewise
//	ontime.phase.decode                       a     likewise
//
// An attempt has neither operation nor usage, so that nobody takes it for a call of its own.
//
// error.type is the HTTP status, or what the error inside a stream amounts to, or one of:
// unknown_endpoint, no_target, bad_request, too_large, truncated, empty, not_answer,
// redirect, abandoned, stalled, no_content, deadline, client_closed, provider_error, auth,
// connect, cancelled, timeout, _OTHER. Of a call that the application gave up it is
// cancelled, so that its time is not taken for that of an answer, but the span's status is
// no error. An attempt that lost against another has none: its outcome says so.
//
// # Metrics
//
// All but the counters have the boundaries that the conventions advise.
//
//	metric                                                       type       unit     besides                   what it is
//	gen_ai.client.inference.duration                             histogram  s        outcome error.type        time from the start of a call to its end
//	gen_ai.client.inference.time_to_first_chunk                  histogram  s                                  time from the start of a streamed call to its first content
//	gen_ai.client.inference.time_per_output_chunk                histogram  s                                  gaps between content events
//	gen_ai.client.inference.usage.input_tokens                   counter    {token}  modality                  input tokens, cached ones included
//	gen_ai.client.inference.usage.cache_read.input_tokens        counter    {token}  modality                  of them, tokens read from a provider's cache
//	gen_ai.client.inference.usage.output_tokens                  counter    {token}  modality                  output tokens, reasoning included
//	gen_ai.client.inference.usage.reasoning.output_tokens        counter    {token}  modality                  of them, tokens spent on reasoning
//	gen_ai.client.inference.operation.input_tokens               histogram  {token}  outcome error.type        input tokens of a call
//	gen_ai.client.inference.operation.output_tokens              histogram  {token}  outcome error.type        output tokens of a call
//	gen_ai.client.embeddings.duration                            histogram  s        outcome error.type        time from the start of an embeddings call to its end
//	gen_ai.client.embeddings.operation.input_tokens              histogram  {token}  outcome error.type        input tokens of an embeddings call
//
// Their attributes are the operation, the provider, both models, the server, ontime.endpoint
// and ontime.target, and what stands under "besides". Names that callers or providers choose
// are bounded: the first 64 endpoints, targets, servers, models and answering models, and
// "other" for the rest.
//
// Each call counts, also one that failed: for 0 tokens where no provider told any, as the
// conventions have it. Where an attempt failed and its provider counted tokens all the same,
// they are counted for where it went. What a time, a token or a chunk is is defined in package middleware; a chunk is an
// event with content, and gaps are known to a quarter, their mean exactly.
//
// The gaps of a stream are recorded one by one when it has ended, since a histogram takes
// them in no other way: about half a microsecond an event. A view that drops
// gen_ai.client.inference.time_per_output_chunk saves it.
//
// # Toward providers
//
// Nothing of a trace is sent to a provider, unless [Propagate] does it, or a header that the
// application, or what instruments its own requests, has set (package client passes such on).
//
// This package is a module of its own: who does not import it does not build OpenTelemetry.
package otel

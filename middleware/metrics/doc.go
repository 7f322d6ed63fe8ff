// Package metrics has Prometheus see what package middleware measures and package
// router knows.
//
// A client registers its metrics by itself, if its configuration has a Registerer:
//
//	c, err := client.New(client.Config{Registerer: prometheus.DefaultRegisterer, ...})
//
// A plain openai.Client that is measured gets those of its calls:
//
//	m, err := metrics.New(prometheus.DefaultRegisterer)
//	...
//	llm := openai.NewClient(option.WithMiddleware(middleware.Meter(middleware.Observe(m))))
//
// # Metrics
//
// Of calls and attempts, counted when the call has ended:
//
//	name                            type       labels                                 what it is
//	ontime_calls_total              counter    endpoint target model outcome          calls that have ended
//	ontime_attempts_total           counter    endpoint target model kind outcome     attempts that have ended, of calls that have
//	ontime_ttft_seconds             histogram  endpoint target model                  time from the start of a streamed call to its first content
//	ontime_ttfa_seconds             histogram  endpoint target model                  the same to its first content that is not reasoning
//	ontime_tpot_seconds             histogram  endpoint target model                  time per output token after the first content
//	ontime_itl_seconds              histogram  endpoint target model                  gaps between content events
//	ontime_total_seconds            histogram  endpoint target model outcome          time from the start of a call to its end; a latency if completed, else at least so long
//	ontime_wait_seconds             histogram  endpoint model                         time that calls waited since every route was at a limit or cooling down, those that did
//	ontime_phase_seconds            histogram  target model phase                     where the time of completed attempts went
//	ontime_tokens_total             counter    endpoint target model kind             tokens that providers counted; no kind includes another
//	ontime_cost_usd_total           counter    endpoint target model outcome          cost of attempts, by how they ended: that of hedging is outcome lost
//	ontime_finish_reasons_total     counter    endpoint target model reason           calls by the reason that their answer ended for
//	ontime_caps_applied_total       counter    endpoint model                         calls whose token cap the budget set or lowered
//	ontime_starved_answers_total    counter    endpoint model                         calls without an answer, since reasoning used the token cap up
//	ontime_fallbacks_total          counter    endpoint model                         calls that went to another model of their endpoint in the end, by the model that they named
//
// The label model is the model that was asked, as the application names it: of a call the
// last one. Only waits and fallbacks go by the model that the call named.
//
// Of what the router knows, read at each scrape; only with [State], as a client has it:
//
//	name                            type       labels                                 what it is
//	ontime_target_info              gauge      target provider region                 1, with what each target is
//	ontime_route_state              gauge      target model state                     1 for the state that a route is in, 0 for the others
//	ontime_route_in_flight          gauge      target model                           attempts under way
//	ontime_route_failure_ratio      gauge      target model                           share of attempts that fail, recent ones
//	ontime_route_ttft_seconds       gauge      target model percentile                percentiles of the time to first content, for the route's typical prompt
//	ontime_route_tpot_seconds       gauge      target model percentile                percentiles of the time per output token
//	ontime_route_total_seconds      gauge      target model percentile                percentiles of the time for a typical prompt and an answer of 200 tokens in one piece
//	ontime_route_coverage_ratio     gauge      target model metric percentile         share of attempts within the percentile that was predicted for them: less than it says is too slow
//	ontime_route_cache_hit_ratio    gauge      target model                           share of the prompt tokens seen within 5 minutes that came from the provider's cache; 0.5 before the first
//	ontime_route_changes_total      counter    target model kind                      times that a route was noticed to answer with another model, or with another median TTFT or TPOT
//	ontime_route_openings_total     counter    target model                           times that the route's breaker opened
//	ontime_route_cooldowns_total    counter    target model                           times that the provider said to wait, one for all refusals of a key until that time is over
//	ontime_key_cooldown_seconds     gauge      target model key                       rest of the time for which the provider said to wait
//	ontime_key_refused              gauge      target model key                       1 if the provider does not take the key, else 0
//	ontime_key_headroom_ratio       gauge      target model key                       what is left of the provider's rate limit; 1 if not known
//	ontime_layer_limit_seconds      gauge      endpoint layer                         limit of a layer; none for answered
//	ontime_layer_allowed_ratio      gauge      endpoint layer                         share of calls that may miss the layer
//	ontime_layer_calls_total        counter    endpoint layer                         calls that the layer has judged
//	ontime_layer_misses_total       counter    endpoint layer                         of them, those that missed it
//	ontime_layer_attainment_ratio   gauge      endpoint layer                         share of calls that kept the layer since the start; 1 before the first
//	ontime_layer_burn_ratio         gauge      endpoint layer                         share of misses since the start over the share that is allowed: above 1 the promise is broken
//	ontime_layer_debt               gauge      endpoint layer                         how far the layer is behind its promise lately, 0 to 50
//	ontime_hedges_started_total     counter    endpoint                               hedges that were started
//	ontime_hedges_won_total         counter    endpoint                               of them, those that brought content first
//	ontime_hedges_refused_total     counter    endpoint                               hedges that were due and no longer allowed
//	ontime_hedge_share_ratio        gauge      endpoint                               share of the endpoint's calls that may be hedged
//	ontime_hedge_tokens             gauge      endpoint                               hedges that may be started at once
//	ontime_hedge_price              gauge      endpoint                               what a hedge has to gain: 0.02 while there are tokens enough, 50 when there are none
//	ontime_shared_up                gauge      -                                      1 if the latest exchange with other replicas went well, else 0
//	ontime_shared_replicas          gauge      -                                      other replicas that were heard of within a minute
//	ontime_shared_age_seconds       gauge      -                                      time since the latest exchange that went well; infinite before the first
//	ontime_shared_errors_total      counter    -                                      exchanges with other replicas that failed
//	ontime_shared_blobs_total       counter    result                                 blobs that were published, merged, or ignored
//
// The last five are there where replicas share what they see (client.Config.Shared).
// Failovers are attempts of kind "failover", and hedges those of kind "hedge": what became
// of them is the outcome. What hedging costs is the cost of attempts that lost, of whatever
// kind: either of the two can. A breaker is open where the state is "open". Answers that
// their token cap ended have the finish reason "length". How fast a budget burns over a
// window of one's own is
//
//	rate(ontime_layer_misses_total[1h]) / rate(ontime_layer_calls_total[1h]) / ontime_layer_allowed_ratio
//
// examples/rules makes alerts of that, and a dashboard.
//
// # Labels
//
// There are no more series than the configuration makes, whatever callers and providers
// send. What is not of a configuration is bounded:
//
//   - endpoint: one that has a budget, else "other". Without [State] the first 64.
//   - target: of the configuration; empty for a call that never had an attempt. Without
//     [State] the first 64 hosts, or the name that a Meter was given.
//   - model: as the application names it, where the router has routes for it by name,
//     else "other". Without [State] the first 64.
//   - key: the index of an API key in the configuration.
//   - layer: "answered", or metric and percentile, such as "ttft_p95".
//   - outcome: completed, failed, timed_out, cancelled or lost.
//   - kind: first, failover or hedge for attempts; input, cached_input, output or
//     reasoning for tokens, of which none includes another here; model, ttft or tpot for
//     changes.
//   - reason: stop, length, tool_calls, content_filter, refusal, error or other.
//   - state: ok, no_data, degraded, cooling_down, half_open, open or key_refused.
//   - phase: connect, send, network, queue, prefill, wait or decode, as in
//     [middleware.Phases]; those that are known.
//   - result: published, merged or ignored.
//   - percentile: p50, p95 or p99, infinite where too much hangs or was given up.
//   - metric: ttft, of streamed attempts, or total, of those that are not.
//
// # Histograms
//
// They are native, at most 10% wide a bucket, for a Prometheus that scrapes such, and have
// classic buckets beside them for any other. Where a call has a trace id
// (middleware.Call.TraceID) its times have it as an exemplar, trace_id. Gaps between events
// are known to a quarter, their mean exactly.
//
// Estimated tokens are not counted. A layer's misses are the router's own count, on the
// call's clock, so that an alert on them agrees with what the router steers by. What
// providers claim to have spent is not checked.
//
// # More than one client
//
// Two clients that register with one registry would count under the same names, so the
// second one is an error. Give each a registerer that sets it apart, the first one too,
// since Prometheus wants the same labels wherever a name occurs:
//
//	prometheus.WrapRegistererWith(prometheus.Labels{"client": "batch"}, prometheus.DefaultRegisterer)
//
// Close takes a client's metrics out again, so that another can take its place.
//
// This package alone imports Prometheus. It knows no configuration, and serves no page:
// promhttp does.
package metrics

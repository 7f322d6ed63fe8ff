package main

// question is a row of the dashboard.
type question struct {
	row, asks string
	charts    []chart
}

// chart is a panel. Its unit is one of Grafana's.
type chart struct {
	title, text, unit string
	lines             []line
	now               bool    // bars of one value each, of the whole time shown
	limit             float64 // above it is bad; 0: none
}

// line is a query, whose selectors are short for the variables': see selectors.
type line struct{ expr, legend string }

const rate = "[$__rate_interval]"

var questions = []question{
	{"Budgets", "is each endpoint inside its budget?", []chart{
		{title: "Budget used", now: true, unit: "percentunit", limit: 1,
			text: "Misses over the time shown, as a share of those that the layer allows. Above 100% the promise is broken.",
			lines: []line{{"sum by (endpoint, layer) (increase(ontime_layer_misses_total{endpoints}[$__range])) / " +
				"sum by (endpoint, layer) (increase(ontime_layer_calls_total{endpoints}[$__range])) / " +
				"max by (endpoint, layer) (ontime_layer_allowed_ratio{endpoints})", "{{endpoint}} {{layer}}"}}},
		{title: "Burn over an hour", unit: "none", limit: 1, text: "How many times too many calls miss each layer. A p95 burns at most 20, a p50 at most 2.",
			lines: []line{{"sum by (endpoint, layer) (rate(ontime_layer_misses_total{endpoints}[1h])) / " +
				"sum by (endpoint, layer) (rate(ontime_layer_calls_total{endpoints}[1h])) / " +
				"max by (endpoint, layer) (ontime_layer_allowed_ratio{endpoints})", "{{endpoint}} {{layer}}"}}},
		{title: "Debt", unit: "none", text: "How far the router takes each layer to be behind, 0 to 50: what it steers by. The instance that is furthest behind.",
			lines: []line{{"max by (endpoint, layer) (ontime_layer_debt{endpoints})", "{{endpoint}} {{layer}}"}}},
		{title: "Calls", unit: "reqps", lines: []line{{"sum by (endpoint, outcome) (rate(ontime_calls_total{calls}" + rate + "))", "{{endpoint}} {{outcome}}"}}},
		{title: "Calls without an answer", unit: "percentunit", text: "As the layer answered counts them: errors, not cancelled calls.",
			lines: []line{{`sum by (endpoint) (rate(ontime_layer_misses_total{endpoints,layer="answered"}` + rate + `)) / ` +
				`sum by (endpoint) (rate(ontime_layer_calls_total{endpoints,layer="answered"}` + rate + `))`, "{{endpoint}}"}}},
	}},
	{"Latency", "how long do users wait?", []chart{
		{title: "Time to first token", unit: "s", lines: append(quantiles("ontime_ttft_seconds_bucket{calls}"), promised("ttft"))},
		{title: "Time per output token", unit: "s", lines: append(quantiles("ontime_tpot_seconds_bucket{calls}"), promised("tpot"))},
		{title: "Total time, completed calls", unit: "s", lines: append(quantiles(`ontime_total_seconds_bucket{calls,outcome="completed"}`), promised("total"))},
		{title: "Time to first answer token", unit: "s", text: "Reasoning does not count.", lines: quantiles("ontime_ttfa_seconds_bucket{calls}")},
		{title: "Gaps between events", unit: "s", text: "What a reader sees as stutter.", lines: quantiles("ontime_itl_seconds_bucket{calls}")},
		{title: "Calls that waited for a rate limit", unit: "reqps", text: "Every route was at a limit or cooling down.",
			lines: []line{{"sum by (endpoint) (rate(ontime_wait_seconds_count{models}" + rate + "))", "{{endpoint}}"}}},
	}},
	{"Routes", "which route is slow?", []chart{
		{title: "p95 time to first token", unit: "s", text: "What the router expects of a typical prompt. The slowest instance.",
			lines: []line{{`max by (target, model) (ontime_route_ttft_seconds{routes,percentile="p95"})`, "{{target}} {{model}}"}}},
		{title: "p95 time per token", unit: "s",
			lines: []line{{`max by (target, model) (ontime_route_tpot_seconds{routes,percentile="p95"})`, "{{target}} {{model}}"}}},
		{title: "Attempts that fail", unit: "percentunit",
			lines: []line{{"max by (target, model) (ontime_route_failure_ratio{routes})", "{{target}} {{model}}"}}},
		{title: "Routes in trouble", unit: "percentunit", text: "Share of the instances to which a route is in this state.",
			lines: []line{{`avg by (target, model, state) (ontime_route_state{routes,state!~"ok|no_data"}) > 0`, "{{target}} {{model}} {{state}}"}}},
		{title: "Where the time goes", unit: "s", text: "Means of completed attempts. Queue and prefill are known only of providers that tell.",
			lines: []line{{"sum by (target, phase) (rate(ontime_phase_seconds_sum{routes}" + rate + ")) / " +
				"sum by (target, phase) (rate(ontime_phase_seconds_count{routes}" + rate + "))", "{{target}} {{phase}}"}}},
		{title: "Attempts under way", unit: "none",
			lines: []line{{"sum by (target, model) (ontime_route_in_flight{routes})", "{{target}} {{model}}"}}},
		{title: "Predictions that held", unit: "percentunit", text: "Share of attempts within the p95 that was predicted for them: 95% is right, less is a route that has become slower.",
			lines: []line{{`avg by (target, model, metric) (ontime_route_coverage_ratio{routes,percentile="p95"})`, "{{target}} {{model}} {{metric}}"}}},
		{title: "Prompt cache hits", unit: "percentunit", text: "Of the tokens that should have been cached.",
			lines: []line{{"avg by (target, model) (ontime_route_cache_hit_ratio{routes})", "{{target}} {{model}}"}}},
		{title: "Attempts", unit: "reqps", text: "Where calls go.",
			lines: []line{{"sum by (target, model) (rate(ontime_attempts_total{calls}" + rate + "))", "{{target}} {{model}}"}}},
	}},
	{"Failovers", "where do failovers and cooldowns happen?", []chart{
		{title: "Attempts that failed", unit: "reqps", text: "By the target that failed.",
			lines: []line{{`sum by (target, outcome) (rate(ontime_attempts_total{calls,outcome=~"failed|timed_out"}` + rate + `))`, "{{target}} {{outcome}}"}}},
		{title: "Failovers", unit: "reqps", text: "By the target that stepped in.",
			lines: []line{{`sum by (endpoint, target) (rate(ontime_attempts_total{calls,kind="failover"}` + rate + `))`, "{{endpoint}} to {{target}}"}}},
		{title: "Waits for a rate limit", unit: "s",
			lines: quantiles("ontime_wait_seconds_bucket{models}")},
		{title: "Cooldowns", unit: "s", text: "For how long providers still want to be left alone, by key.",
			lines: []line{{"max by (target, model, key) (ontime_key_cooldown_seconds{routes}) > 0", "{{target}} {{model}} key {{key}}"}}},
		{title: "Openings and cooldowns in an hour", unit: "none", text: "However short.",
			lines: []line{
				{"sum by (target, model) (increase(ontime_route_openings_total{routes}[1h])) > 0", "{{target}} {{model}} opened"},
				{"sum by (target, model) (increase(ontime_route_cooldowns_total{routes}[1h])) > 0", "{{target}} {{model}} told to wait"},
			}},
		{title: "Rate limits left", unit: "percentunit", text: "As providers tell it. The instance with the least.",
			lines: []line{{"min by (target, model, key) (ontime_key_headroom_ratio{routes})", "{{target}} {{model}} key {{key}}"}}},
		{title: "Refused keys", unit: "none", text: "1: the provider does not take the key.",
			lines: []line{{"max by (target, key) (ontime_key_refused{routes}) > 0", "{{target}} key {{key}}"}}},
	}},
	{"Hedges", "what do they cost, and save?", []chart{
		{title: "Calls that are hedged", unit: "percentunit", text: "Over an hour, beside the share that may be.",
			lines: []line{
				{`sum by (endpoint) (rate(ontime_hedges_started_total{endpoints}[1h])) / ` +
					`sum by (endpoint) (rate(ontime_layer_calls_total{endpoints,layer="answered"}[1h]))`, "{{endpoint}}"},
				{"max by (endpoint) (ontime_hedge_share_ratio{endpoints})", "{{endpoint}} may be"},
			}},
		{title: "Hedges that won", unit: "percentunit", text: "Those that brought content first saved their call some time. Over an hour.",
			lines: []line{{"sum by (endpoint) (rate(ontime_hedges_won_total{endpoints}[1h])) / " +
				"sum by (endpoint) (rate(ontime_hedges_started_total{endpoints}[1h]))", "{{endpoint}}"}}},
		{title: "Hedges", unit: "reqps", text: "Refused are those whose turn came when the last had just been taken. Long before that the price has calls go without.",
			lines: []line{
				{"sum by (endpoint) (rate(ontime_hedges_started_total{endpoints}" + rate + "))", "{{endpoint}} started"},
				{"sum by (endpoint) (rate(ontime_hedges_refused_total{endpoints}" + rate + "))", "{{endpoint}} refused"},
			}},
		{title: "Cost of losers", unit: "percentunit", text: "Share of all cost: what hedging adds to the bill.",
			lines: []line{{`sum by (endpoint) (rate(ontime_cost_usd_total{calls,outcome="lost"}[1h])) / ` +
				`sum by (endpoint) (rate(ontime_cost_usd_total{calls}[1h]))`, "{{endpoint}}"}}},
		{title: "Allowance left", unit: "none", text: "Hedges that may be started at once, by the instance that has fewest.",
			lines: []line{{"min by (endpoint) (ontime_hedge_tokens{endpoints})", "{{endpoint}}"}}},
		{title: "Price of a hedge", unit: "none", text: "What one has to gain, from 0.02 with a full allowance to 50.",
			lines: []line{{"max by (endpoint) (ontime_hedge_price{endpoints})", "{{endpoint}}"}}},
	}},
	{"Cost and tokens", "what is spent, and what is capped?", []chart{
		{title: "Cost per hour, by endpoint", unit: "currencyUSD",
			lines: []line{{"3600 * sum by (endpoint) (rate(ontime_cost_usd_total{calls}" + rate + "))", "{{endpoint}}"}}},
		{title: "Cost per hour, by target", unit: "currencyUSD",
			lines: []line{{"3600 * sum by (target, model) (rate(ontime_cost_usd_total{calls}" + rate + "))", "{{target}} {{model}}"}}},
		{title: "Cost per 1000 calls", unit: "currencyUSD", text: "Losers and failures included.",
			lines: []line{{"1000 * sum by (endpoint) (rate(ontime_cost_usd_total{calls}" + rate + ")) / " +
				"sum by (endpoint) (rate(ontime_calls_total{calls}" + rate + "))", "{{endpoint}}"}}},
		{title: "Tokens per second", unit: "none",
			lines: []line{{"sum by (endpoint, kind) (rate(ontime_tokens_total{calls}" + rate + "))", "{{endpoint}} {{kind}}"}}},
		{title: "Calls whose cap was set or lowered", unit: "percentunit",
			lines: []line{{"sum by (endpoint) (rate(ontime_caps_applied_total{models}" + rate + ")) / " +
				"sum by (endpoint) (rate(ontime_calls_total{calls}" + rate + "))", "{{endpoint}}"}}},
		{title: "Answers that are cut off", unit: "percentunit", text: "Their cap was used up; starved: before they began.",
			lines: []line{
				{`sum by (endpoint) (rate(ontime_finish_reasons_total{calls,reason="length"}` + rate + `)) / ` +
					`sum by (endpoint) (rate(ontime_finish_reasons_total{calls}` + rate + `))`, "{{endpoint}}"},
				{"sum by (endpoint) (rate(ontime_starved_answers_total{models}" + rate + ")) / " +
					"sum by (endpoint) (rate(ontime_calls_total{calls}" + rate + "))", "{{endpoint}} starved"},
			}},
	}},
}

// quantiles are those of a histogram by endpoint.
func quantiles(buckets string) []line {
	of := func(q, name string) line {
		return line{"histogram_quantile(" + q + ", sum by (le, endpoint) (rate(" + buckets + rate + ")))", "{{endpoint}} " + name}
	}
	return []line{of("0.5", "p50"), of("0.95", "p95"), of("0.99", "p99")}
}

// promised are the limits of the layers of a metric.
func promised(metric string) line {
	return line{`max by (endpoint, layer) (ontime_layer_limit_seconds{endpoints,layer=~"` + metric + `_.*"})`, "{{endpoint}} {{layer}} limit"}
}

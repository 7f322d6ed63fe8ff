package main

import "fmt"

// routes makes the alerts for targets and their keys. Each instance goes by what it has
// seen itself, so that the one that is worst off counts.
func (m maker) routes() []rule {
	return []rule{
		{
			Alert: "OntimeRouteOpen", Expr: m.mostly("open|half_open"), For: "10m", Labels: labels{Severity: ticket},
			Annotations: &annotations{
				Summary: "{{ $labels.target }} is left alone for {{ $labels.model }}",
				Description: "Its breaker was open for {{ $value | humanizePercentage }} of the last 30 minutes: " +
					"it fails, or has become far slower than it was. Calls go elsewhere.",
				Runbook: "The status page of the application says why, and so does the provider's. One call at a time finds out whether " +
					"it is well; Client.Restore takes it back at once. Is what is left enough to keep the promises?",
			},
		},
		{
			Alert: "OntimeRouteCoolingDown", Expr: m.mostly("cooling_down"), For: "10m", Labels: labels{Severity: ticket},
			Annotations: &annotations{
				Summary: "{{ $labels.target }} has us wait for {{ $labels.model }}",
				Description: "It said to wait, with all its keys, for {{ $value | humanizePercentage }} of the last 30 minutes. " +
					"More is sent there than the provider allows.",
				Runbook: "Put the limits that were agreed with the provider into targets.limits, so that they are kept to and not run into. " +
					"Else ask for more, or add a key of another account, or a target.",
			},
		},
		{
			Alert: "OntimeKeyRefused", Expr: "max by (job, target, key) (" + m.of("ontime_key_refused") + ") > 0", For: "5m", Labels: labels{Severity: ticket},
			Annotations: &annotations{
				Summary:     "{{ $labels.target }} does not take the key with index {{ $labels.key }}",
				Description: "It has expired, was withdrawn, or may not use the model. Calls use the other keys, or other targets.",
				Runbook:     "Make a new key with the provider, put it where the configuration reads it, and have the client reload.",
			},
		},
		{
			Alert: "OntimeSharingLost", Expr: "max by (job) (1 - avg_over_time(" + m.of("ontime_shared_up") + "[30m])) > 0.5", For: "10m",
			Labels: labels{Severity: ticket},
			Annotations: &annotations{
				Summary: "A replica of {{ $labels.job }} does not learn from the others",
				Description: "It did not reach the store of shared evidence for {{ $value | humanizePercentage }} of the last 30 minutes, and goes " +
					"by what it sees itself.",
				Runbook: "The log says why (llm shared evidence): is Redis up, has it memory left, may the user do what he has to? Calls do not " +
					"wait for it, and nothing has to be restarted when it is back.",
			},
		},
		m.hedgesSpent(),
	}
}

// mostly is the share of the last 30 minutes that a route was in one of some states, if it
// is more than half: what comes and goes is not missed, and what is short is no matter.
func (m maker) mostly(states string) string {
	return fmt.Sprintf("max by (job, target, model) (\n  sum without (state) (avg_over_time(%s[30m]))\n) > 0.5",
		m.of("ontime_route_state", `state=~"`+states+`"`))
}

// hedgesSpent makes the alert for an endpoint that hedges as much as it may. An allowance
// lets a bad quarter of an hour spend what was saved before, so that a burst is none.
func (m maker) hedgesSpent() rule {
	started := fmt.Sprintf("sum by (job, endpoint) (increase(%s[1h]))", m.of("ontime_hedges_started_total"))
	calls := fmt.Sprintf("sum by (job, endpoint) (increase(%s[1h]))", m.of("ontime_layer_calls_total", is("layer", "answered")))
	share := fmt.Sprintf("max by (job, endpoint) (%s)", m.of("ontime_hedge_share_ratio"))
	price := fmt.Sprintf("min by (job, endpoint) (%s)", m.of("ontime_hedge_price"))
	return rule{
		Alert: "OntimeHedgesSpent", For: "15m", Labels: labels{Severity: ticket},
		Expr: started + "\n/\n" + calls + "\n> 0.9 * " + share + "\nand\n" + started + " >= 10\nand\n" + price + " > 1",
		Annotations: &annotations{
			Summary: "{{ $labels.endpoint }} hedges as much as it may",
			Description: "{{ $value | humanizePercentage }} of the calls of an hour were sent twice, nearly all that budget.hedge allows, and less than " +
				"half of what may be saved is left. Slow calls go unhedged soon, and the tail shows.",
			Runbook: `Row "Hedges": if most are won they help, and a larger hedge is worth its cost. If few are, every route is slow at once: ` +
				"hedges do not help, another provider does.",
		},
	}
}

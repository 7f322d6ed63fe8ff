package main

import (
	"fmt"

	"github.com/ontime-llm/ontime/budget"
)

// inWords are the windows.
var inWords = map[string]string{"5m": "5 minutes", "30m": "30 minutes", "1h": "hour", "6h": "6 hours", "3d": "3 days"}

// explain puts into words what an alarm of a layer means, and what to do.
func explain(p promise, a alarm, share float64) *annotations {
	burning := ""
	if burn := share / p.Allowed(); burn > 1.001 && p.Percentile >= fewest {
		burning = fmt.Sprintf(", %s times too many", number(burn))
	}
	return &annotations{
		Summary: fmt.Sprintf("%s: {{ $value | humanizePercentage }} of the calls of the last %s %s", p.endpoint, inWords[a.long], verdict(p)),
		Description: fmt.Sprintf("At most %s may. The alert fires if more than %s do%s, over the last %s and, since what is over is no alarm, "+
			"over the last %s.", percent(p.Allowed()), percent(share), burning, inWords[a.long], inWords[a.short]),
		Runbook: advice[p.Metric] + afterwards(p, a),
	}
}

// verdict is what became of the calls that missed a layer.
func verdict(p promise) string {
	if p.Metric == budget.Answered {
		return "ended in an error"
	}
	return fmt.Sprintf("missed %s", p.Layer)
}

// advice is what to look at first. Rows are those of the dashboard.
var advice = map[budget.Metric]string{
	budget.Answered: `See the row "Failovers": an error reaches callers when every route has failed, or when an answer breaks off. ` +
		`If it is one target, look at its provider's status page, its keys and its models; if all, at the network, the requests and the deadline. `,
	budget.TTFT: `See the row "Routes". If one route is slow, traffic has left it as far as the others could take it: the endpoint needs another target. ` +
		`If all are, have prompts grown, or fewer been cached? If none is, calls wait for rate limits: see waits in the row "Failovers". `,
	budget.TPOT: `See the row "Routes". Time per token is the provider's load or the model: another region or tier helps, a shorter prompt does not. `,
	budget.Total: `See the row "Routes" for slow routes, and the row "Cost and tokens" for longer answers: max_tokens.limit or max_tokens.fit ` +
		`bounds them. `,
}

// afterwards is what is to be done if nothing is wrong.
func afterwards(p promise, a alarm) string {
	switch {
	case p.Metric == budget.Answered:
		return "The log has each call with its error."
	case a.severity == ticket:
		return fmt.Sprintf("If this is how fast the providers are, %s promises too much.", p.key())
	}
	return "Raising " + p.key() + " ends the alert, not the wait."
}

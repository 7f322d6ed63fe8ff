package main

import "fmt"

// answers makes the alerts for answers that are of no use.
func (m maker) answers() []rule {
	return []rule{
		m.useless("OntimeAnswersTruncated", m.of("ontime_finish_reasons_total", is("reason", "length")), m.of("ontime_finish_reasons_total"), 0.1,
			&annotations{
				Summary:     "{{ $labels.endpoint }}: {{ $value | humanizePercentage }} of the answers were cut off",
				Description: "More than 10% of an hour's answers ended because their token cap was used up, not because they were done.",
				Runbook: `Row "Cost and tokens": who set the cap, the budget (max_tokens) or the caller? Raise it, or ask for shorter answers. ` +
					"With fit, caps fall when routes are slow: then that is what to look at.",
			}),
		m.useless("OntimeAnswersStarved", m.of("ontime_starved_answers_total"), m.of("ontime_calls_total"), 0.01,
			&annotations{
				Summary:     "{{ $labels.endpoint }}: {{ $value | humanizePercentage }} of the calls got no answer, only reasoning",
				Description: "More than 1% of an hour's calls had their whole token cap used up before the answer began. They are paid for all the same.",
				Runbook:     "Raise max_tokens for this endpoint, lower the reasoning effort, or send it to a model that reasons less.",
			}),
	}
}

// useless makes an alert for a part of the calls of an hour, if there are 10 of them.
func (m maker) useless(name, part, all string, most float64, words *annotations) rule {
	sum := func(of string) string { return fmt.Sprintf("sum by (job, endpoint) (increase(%s[1h]))", of) }
	return rule{
		Alert: name, For: "15m", Labels: labels{Severity: ticket}, Annotations: words,
		Expr: fmt.Sprintf("%s\n/\n%s\n> %s\nand\n%s >= 10", sum(part), sum(all), number(most), sum(part)),
	}
}

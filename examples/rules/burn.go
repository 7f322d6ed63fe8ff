package main

import (
	"fmt"
	"math"

	"github.com/ontime-llm/ontime/budget"
)

// alarm is one way in which a layer can be in trouble: more than so many calls missed it
// over a long window, and do so still.
type alarm struct {
	suffix      string // of the alert's name
	severity    string
	long, short string
	// limit returns the share of calls that has to be exceeded, and how it comes about.
	limit func(allowed float64) (share float64, why string)
}

// burns are the alarms of a layer that few calls may miss. Windows and factors are those
// of table 5-8 of Google's Site Reliability Workbook ("Alerting on SLOs"), for a promise
// over 30 days. It says itself that they do not fit a low goal: a p95 burns 20 times too
// fast at most, and 14.4 of that is 72% of the calls. So a quarter of them, or 15% over
// hours, is enough whatever is allowed.
var burns = []alarm{
	{"Fast", page, "1h", "5m", factor(14.4, 0.25)},
	{"", page, "6h", "30m", factor(6, 0.15)},
	{"Slowly", ticket, "3d", "6h", factor(1, 1)},
}

// typical are the alarms of a layer that many calls may miss, such as a p50, which can burn
// but twice as fast as it may: half, or a fifth, of the calls that should keep it miss it.
var typical = []alarm{
	{"", page, "1h", "5m", beyond(1. / 2)},
	{"ForHours", ticket, "6h", "30m", beyond(1. / 5)},
}

// fewest is the least percentile whose alarms go by burn.
const fewest = 90

// factor is a burn, or a share of all calls if that is reached earlier.
func factor(burn, most float64) func(float64) (float64, string) {
	return func(allowed float64) (float64, string) {
		if burn*allowed > most {
			return most, number(most)
		}
		return burn * allowed, number(burn) + " * " + number(allowed)
	}
}

// beyond is a part of the calls that should keep the layer.
func beyond(part float64) func(float64) (float64, string) {
	return func(allowed float64) (float64, string) {
		share := allowed + part*(1-allowed)
		return share, number(share)
	}
}

// least is how many calls must have missed for an alarm to be believed: so many that a
// layer of which just the allowed share is missed is 4 standard deviations away, but 10 at
// least, so that nobody is woken for two calls at night.
func least(allowed, share float64) int {
	const sure, few = 4, 10
	margin := share - allowed
	if margin <= 0 { // that the promise is broken needs no more proof
		return few
	}
	calls := sure * sure * allowed * (1 - allowed) / (margin * margin)
	return max(few, int(math.Ceil(calls*share-1e-6))) // whatever the last bits say
}

// endpoint makes the alerts of the layers of one endpoint.
func (m maker) endpoint(layers []promise) []rule {
	var all []rule
	for _, p := range layers {
		for _, a := range p.alarms() {
			all = append(all, m.alert(p, a))
		}
		all = append(all, m.missing(p))
	}
	return all
}

// alarms are those of the layer.
func (p promise) alarms() []alarm {
	if p.Percentile < fewest {
		return typical
	}
	return burns
}

// alert makes the rule of one alarm.
func (m maker) alert(p promise, a alarm) rule {
	share, why := a.limit(p.Allowed())
	at := p.matchers()
	return rule{
		Alert: family(p) + a.suffix,
		Expr: fmt.Sprintf("%s > %s\nand\n%s > %s\nand\n%s >= %d", m.of(missShare(a.long), at...), why,
			m.of(missShare(a.short), at...), why, m.of(missed(a.long), at...), least(p.Allowed(), share)),
		KeepFiringFor: "10m", // where calls are few there is none in many a short window
		Labels:        labels{a.severity, p.endpoint, p.label()},
		Annotations:   explain(p, a, share),
	}
}

// family is the name that the alerts of a kind of layer begin with.
func family(p promise) string {
	switch {
	case p.Metric == budget.Answered:
		return "OntimeErrors"
	case p.Percentile < fewest:
		return "OntimeTypicalCallsLate"
	}
	return "OntimeBudgetBurns"
}

// missing makes the alert for a layer of which nothing is heard.
func (m maker) missing(p promise) rule {
	return rule{
		Alert:  "OntimeMetricsMissing",
		Expr:   "absent(" + m.of("ontime_layer_calls_total", p.matchers()...) + ")",
		For:    "15m",
		Labels: labels{ticket, p.endpoint, p.label()},
		Annotations: &annotations{
			Summary:     fmt.Sprintf("%s: no metrics of the layer %s", p.endpoint, p.label()),
			Description: "No instance has shown them for 15 minutes, so that no other alert can tell whether the promise is kept.",
			Runbook: "Is the application up, scraped, and its client made with a Registerer? If it has another configuration by now, " +
				"make these rules anew.",
		},
	}
}

package load

import (
	"slices"

	"github.com/ontime-llm/ontime/middleware"
)

// otherTools are the same calls as other tools would have them: of answered calls alone,
// since those tools leave the others out, by [middleware.Definitions].
func otherTools(all []observation) []Figure {
	values := make(map[[2]string][]Span)
	var order [][2]string
	for _, o := range all {
		if !o.answered() {
			continue
		}
		for _, d := range o.definitions {
			for _, m := range timesOf(d) {
				key := [2]string{d.Tool, m.name}
				if !slices.Contains(order, key) {
					order = append(order, key)
				}
				if m.value > 0 {
					values[key] = append(values[key], m.value)
				}
			}
		}
	}
	var figures []Figure
	for _, key := range order {
		if v := values[key]; len(v) > 0 {
			figures = append(figures, Figure{key[0], key[1], len(v), Quantiles(v)})
		}
	}
	return figures
}

type namedTime struct {
	name  string
	value Span
}

func timesOf(d middleware.Definition) []namedTime {
	return []namedTime{{"TTFT", Span(d.TTFT)}, {"TPOT", Span(d.TPOT)}, {"ITL", Span(d.ITL)}, {"E2E", Span(d.E2E)}}
}

package load

import (
	"fmt"
	"io"
	"slices"
	"strings"

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

// writeDefinitions writes one line for each tool and subject, without the intervals: how
// far definitions are apart for the same calls.
func writeDefinitions(b *strings.Builder, all []Series) {
	if len(all[0].Definitions) == 0 {
		return
	}
	fmt.Fprintf(b, "\nThe same calls, %v, by other tools' definitions: p50 / p95, ms\n\n", all[0].Load)
	columns(b, func(w io.Writer) {
		fmt.Fprintln(w, "\t\tTTFT\tTPOT\tITL\tE2E")
		for i := range all {
			name := all[i].Title()
			for _, tool := range all[i].tools() {
				fmt.Fprintf(w, "%s\t%s", name, orOurs(tool))
				for _, metric := range []string{"TTFT", "TPOT", "ITL", "E2E"} {
					fmt.Fprintf(w, "\t%s", all[i].brief(tool, metric))
				}
				fmt.Fprintln(w)
				name = ""
			}
		}
	})
}

// tools are ours, which is empty, and then the others in order.
func (s *Series) tools() []string {
	all := []string{""}
	for _, f := range s.Definitions {
		if !slices.Contains(all, f.Tool) {
			all = append(all, f.Tool)
		}
	}
	return all
}

func (s *Series) brief(tool, metric string) string {
	if tool == "" && metric == "E2E" {
		metric = "total"
	}
	f := s.figure(tool, metric)
	if f == nil {
		return ""
	}
	var both []string
	for _, q := range f.Quantiles {
		switch {
		case q.Percentile != 50 && q.Percentile != 95:
		case q.Known:
			both = append(both, q.Value.digits())
		default:
			both = append(both, "-")
		}
	}
	return strings.Join(both, " / ")
}

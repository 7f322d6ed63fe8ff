package sim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// Report writes a table for each place, in the order of the results. A miss share
// beyond its allowance is marked with an exclamation mark; after ± stands half of the
// 95% confidence interval over the seeds. The costs are of 1000 calls with their losers,
// and relative to the cheapest peer that keeps all layers. The regret is the miss share
// beyond that of the regime oracle, of the layer where it weighs most.
func Report(w io.Writer, results []Result) error {
	out := bufio.NewWriter(w)
	for from := 0; from < len(results); {
		until := from
		for until < len(results) && results[until].Place == results[from].Place {
			until++
		}
		writeTable(out, results[from:until])
		from = until
	}
	return out.Flush()
}

func writeTable(w io.Writer, results []Result) {
	first := &results[0]
	fmt.Fprintf(w, "\n%s: %d seeds of %d calls\n\n", first.Place, first.Seeds, first.Calls)
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	width := len("allowed")
	for i := range results {
		width = max(width, len(results[i].Policy))
	}
	fmt.Fprintf(t, "%-*s\t", width, "policy")
	for _, l := range first.Layers {
		fmt.Fprintf(t, "%s\t", l.Layer)
	}
	fmt.Fprintln(t, "TTFT p50\tp95\tp99\tp99.9\textra\terrors\t$/1000\trel.\tregret\t")
	fmt.Fprintf(t, "%-*s\t", width, "allowed")
	for _, l := range first.Layers {
		fmt.Fprintf(t, "%s\t", percent(Stat{Mean: l.Allowed}))
	}
	fmt.Fprintln(t, "\t\t\t\t\t\t\t\t\t")
	for i := range results {
		writeRow(t, &results[i], width)
	}
	t.Flush()
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n")[2:]) // without the padding of the first column
	}
}

// String is how a place is titled.
func (p Place) String() string {
	headers := "with the first token"
	if p.Early {
		headers = "early"
	}
	return fmt.Sprintf("%s at %v calls/s, headers %s", p.Scenario, p.Rate, headers)
}

func writeRow(w io.Writer, r *Result, width int) {
	fmt.Fprintf(w, "%-*s\t", width, r.Policy)
	for _, l := range r.Layers {
		mark := ""
		if !l.Kept {
			mark = "!"
		}
		fmt.Fprintf(w, "%s%s\t", percent(l.Miss), mark)
	}
	for _, s := range []Stat{r.P50, r.P95, r.P99, r.P999} {
		fmt.Fprintf(w, "%s\t", seconds(s))
	}
	fmt.Fprintf(w, "%s\t%s\t", percent(r.Extra), percent(r.Errors))
	fmt.Fprintf(w, "%.4f\t%s\t%s\t\n", 1000*r.Cost.Mean, factor(r.Relative), percent(r.worstRegret()))
}

// worstRegret is that of the layer where it is largest against the allowance.
func (r *Result) worstRegret() Stat {
	worst, most := Stat{Mean: math.NaN()}, math.Inf(-1)
	for _, l := range r.Layers {
		if burn := l.Regret.Mean / l.Allowed; burn > most {
			worst, most = l.Regret, burn
		}
	}
	return worst
}

// number formats a stat with its interval, if it is known.
func number(s Stat, unit float64, digits int, suffix string) string {
	switch {
	case math.IsNaN(s.Mean):
		return "-"
	case math.IsInf(s.Mean, 0):
		return "never"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%.*f", digits, s.Mean*unit)
	if s.Half > 0 {
		fmt.Fprintf(&b, "±%.*f", digits, s.Half*unit)
	}
	return b.String() + suffix
}

func percent(s Stat) string { return number(s, 100, 2, "%") }
func seconds(s Stat) string { return number(s, 1, 2, "s") }
func factor(s Stat) string  { return number(s, 1, 2, "") }

// WriteJSON writes the results as a JSON array. What is no number is null.
func WriteJSON(w io.Writer, results []Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(results)
}

package load

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteTable writes the report for people: how it was made, then for each load every
// metric, one line a subject, and the last load under other tools' definitions. Times are
// in milliseconds, each with its interval in brackets; "-" is a percentile of which too
// few calls tell.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	r.writeSetup(&b)
	for from := 0; from < len(r.Series); {
		until := from
		for until < len(r.Series) && r.Series[until].Load == r.Series[from].Load {
			until++
		}
		writeLoad(&b, r.Series[from:until], &r.Setup)
		if until == len(r.Series) {
			writeDefinitions(&b, r.Series[from:until])
		}
		from = until
	}
	r.writeNotes(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeSetup(b *strings.Builder) {
	s := &r.Setup
	asked := "whole answers"
	if s.Stream {
		asked = "streamed"
	}
	fmt.Fprintf(b, "%s, ontime %s, %s, %s\n", s.Date.Format(time.RFC3339), s.Library, s.Go, s.Machine)
	fmt.Fprintf(b, "model %s, %s, answers of up to %d tokens; prompts: %s, cache-busting %s; seed %d\n",
		s.Model, asked, s.Output, s.Prompts, onOff(s.Bust), s.Seed)
	for _, subject := range s.Subjects {
		var of []string
		for _, t := range subject.Targets {
			of = append(of, strings.Join(slices.DeleteFunc([]string{t.Name, t.Provider, t.Region, t.Host, t.Model},
				func(s string) bool { return s == "" }), " "))
		}
		fmt.Fprintf(b, "  %s: %s\n", title(subject.Subject, subject.Routed), strings.Join(of, ", "))
	}
	fmt.Fprintf(b, "%s\n", s.Method)
	if len(s.Promise) > 0 {
		fmt.Fprintf(b, "promised: %s\n", strings.Join(s.Promise, ", "))
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// rounds says how many there were, of a test that was stopped how many of them are complete.
func rounds(all []Series, s *Setup) string {
	least, most := s.Rounds, 0
	for i := range all {
		complete := len(all[i].Samples) / max(s.Calls, 1)
		least, most = min(least, complete), max(most, complete)
	}
	switch {
	case least == s.Rounds && s.Rounds == 1:
		return "1 round"
	case least == s.Rounds:
		return fmt.Sprintf("%d rounds", s.Rounds)
	case least == most:
		return fmt.Sprintf("%d of %d rounds", most, s.Rounds)
	default:
		return fmt.Sprintf("%d to %d of %d rounds", least, most, s.Rounds)
	}
}

// columns writes a table whose first column is left-aligned and the others right.
func columns(b *strings.Builder, write func(w io.Writer)) {
	var raw strings.Builder
	t := tabwriter.NewWriter(&raw, 0, 0, 2, ' ', 0)
	write(t)
	t.Flush()
	for line := range strings.Lines(raw.String()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

func writeLoad(b *strings.Builder, all []Series, s *Setup) {
	fmt.Fprintf(b, "\n%v: %s of %d calls\n\n", all[0].Load, rounds(all, s), s.Calls)
	columns(b, func(w io.Writer) {
		fmt.Fprint(w, "ms\t")
		for _, p := range Percentiles {
			fmt.Fprintf(w, "\tp%v", p)
		}
		fmt.Fprintln(w, "\tcalls")
		for _, metric := range []string{"TTFT", "TTFA", "TPOT", "ITL", "stall", "total"} {
			writeMetric(w, all, metric)
		}
	})
	b.WriteString("\n")
	columns(b, func(w io.Writer) { writeTotals(w, all) })
	columns(b, func(w io.Writer) { writeCounts(w, all) })
}

// writeMetric writes a line for each subject. TTFA is a matter of reasoning, and else not
// worth repeating.
func writeMetric(w io.Writer, all []Series, metric string) {
	title := metric
	same := metric == "TTFA"
	for i := range all {
		same = same && all[i].figure("", metric) != nil && withoutThought(all[i].Samples)
	}
	if same {
		fmt.Fprintln(w, "TTFA\tas TTFT")
		return
	}
	for i := range all {
		f := all[i].figure("", metric)
		if f == nil {
			continue
		}
		fmt.Fprintf(w, "%s\t%s", title, all[i].Title())
		for _, q := range f.Quantiles {
			fmt.Fprintf(w, "\t%v", q)
		}
		fmt.Fprintf(w, "\t%d\n", f.Calls)
		title = ""
	}
}

// withoutThought reports whether every answer began with the answer.
func withoutThought(samples []Sample) bool {
	return !slices.ContainsFunc(samples, func(s Sample) bool { return s.TTFA != s.TTFT })
}

// figure finds a metric; nil if the series does not have it.
func (s *Series) figure(tool, metric string) *Figure {
	from := s.Figures
	if tool != "" {
		from = s.Definitions
	}
	i := slices.IndexFunc(from, func(f Figure) bool { return f.Tool == tool && f.Metric == metric })
	if i < 0 {
		return nil
	}
	return &from[i]
}

// String is the value with its interval, in milliseconds, or a dash where it is not known.
func (q Quantile) String() string {
	if !q.Known {
		return "-"
	}
	return fmt.Sprintf("%s [%s, %s]", q.Value.digits(), q.Low.digits(), q.High.digits())
}

func writeTotals(w io.Writer, all []Series) {
	fmt.Fprintln(w, "\tanswers/s\tgood/s\ttokens/s\tof a stream\tfailed\trequests\t$/1000\tinput\toutput\tcached\tlate p99")
	for i := range all {
		t := &all[i].Totals
		goodput := "-"
		if all[i].Promise != nil {
			goodput = fmt.Sprintf("%.2f", t.Goodput)
		}
		fmt.Fprintf(w, "%s\t%.2f\t%s\t%.0f\t%.0f\t%d\t%.3f\t%.4f\t%v\t%v\t%d\t%v\n", all[i].Title(),
			t.CallRate, goodput, t.TokenRate, t.PerStream, t.Calls-t.Answered,
			float64(t.Requests)/float64(t.Calls), 1000*t.Cost/float64(t.Calls), t.Input, t.Output, t.CacheHits, t.Lag)
	}
}

// writeCounts writes who answered, how it ended, and how the promise fared.
func writeCounts(w io.Writer, all []Series) {
	for i := range all {
		s := &all[i]
		t := &s.Totals
		fmt.Fprintf(w, "%s\tanswered by %s; model %s; ended by %s\n", s.Title(), counted(t.Targets), counted(t.Models), counted(t.Finish))
		if len(t.Failures) > 0 {
			fmt.Fprintf(w, "\tfailed: %s\n", counted(t.Failures))
		}
		if len(s.Promise) > 0 {
			fmt.Fprintf(w, "\tkept %s\n", layers(s.Promise))
		}
	}
}

func layers(promise []Layer) string {
	var all []string
	for _, l := range promise {
		mark := ""
		if !l.Kept {
			mark = " MISSED"
		}
		all = append(all, fmt.Sprintf("%s by %.2f%%%s", l.Layer, 100*l.Share, mark))
	}
	return strings.Join(all, ", ")
}

// String is the median, with the extremes where there are others.
func (l Lengths) String() string {
	if l.Min == l.Max {
		return fmt.Sprint(l.Median)
	}
	return fmt.Sprintf("%d (%d-%d)", l.Median, l.Min, l.Max)
}

// counted lists what was counted, the most frequent first.
func counted(of map[string]int) string {
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		if of[a] != of[b] {
			return of[b] - of[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		shown := name
		if shown == "" {
			shown = "not told"
		}
		names[i] = fmt.Sprintf("%s %d", shown, of[name])
	}
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}

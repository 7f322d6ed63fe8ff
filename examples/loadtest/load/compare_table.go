package load

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// WriteTable writes what has changed, for people.
func (c *Comparison) WriteTable(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nSince %s\n", c.Before.Date.Format(time.RFC3339))
	for _, d := range c.Differences {
		fmt.Fprintf(&b, "  not the same test: %s\n", d)
	}
	for _, s := range c.Unmatched {
		fmt.Fprintf(&b, "  only in one of the two: %s\n", s)
	}
	changed := 0
	for changed < len(c.Changes) && c.Changes[changed].Verdict() != "noise" {
		changed++
	}
	if changed > 0 {
		b.WriteString("\n")
		columns(&b, func(w io.Writer) {
			fmt.Fprintln(w, "subject\tload\tfigure\tbefore\tnow\tchange\tP\t")
			for _, change := range c.Changes[:changed] {
				change.write(w)
			}
		})
	}
	fmt.Fprintf(&b, "\n%d of %d figures have changed, %d of them for the worse; the rest is noise (P of %v or more after Holm's adjustment)",
		changed, len(c.Changes), c.Regressions(), Significance)
	if c.Unknown > 0 {
		fmt.Fprintf(&b, "; for %d more there are too few calls", c.Unknown)
	}
	b.WriteString(".\n")
	if changed > 0 {
		b.WriteString("What the test cannot tell is whether the subject has changed, or the hour: run both once more, in turn.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c Change) write(w io.Writer) {
	fmt.Fprintf(w, "%s\t%v\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Subject, c.Load, c.Figure,
		c.show(c.Before), c.show(c.After), c.change(), likely(c.P), c.Verdict())
}

func (c Change) show(v float64) string {
	switch {
	case c.Share:
		return fmt.Sprintf("%.2f%%", 100*v)
	case math.IsInf(v, 1):
		return "never"
	default:
		return Span(v * 1e6).String()
	}
}

func (c Change) change() string {
	switch {
	case c.Share:
		return fmt.Sprintf("%+.2f points", 100*(c.After-c.Before))
	case c.Before > 0 && !math.IsInf(c.Before, 1) && !math.IsInf(c.After, 1):
		return fmt.Sprintf("%+.0f%%", 100*(c.After/c.Before-1))
	default:
		return ""
	}
}

func likely(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}

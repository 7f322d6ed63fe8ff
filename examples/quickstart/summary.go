package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// summary says what became of the calls, as the applications saw it.
func (l *load) summary() string {
	var b strings.Builder
	l.writeTimes(&b)
	l.writePromise(&b)
	l.writeTraffic(&b)
	if len(l.apps) > 1 {
		b.WriteString(withoutMeans)
	} else {
		l.writeAnswer(&b)
	}
	return withoutTrailingSpace(b.String())
}

func withoutTrailingSpace(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

const withoutMeans = `
Without: plain openai.Clients with openai-go's own two retries, us-east's for all
calls or three in turn. They make the same calls at the same time, over regions
of their own with the same luck: the seed and a call's number decide it.
`

func (l *load) writeTimes(b *strings.Builder) {
	fmt.Fprintf(b, "\n%-22s", "TTFT, as users saw it")
	for _, p := range l.periods {
		fmt.Fprintf(b, "    %-23s", p.name)
	}
	fmt.Fprintf(b, "\n%-22s%s\n", "", strings.Repeat(fmt.Sprintf("%9s%9s%9s", "p50", "p95", "p99"), len(l.periods)))
	for i, a := range l.apps {
		fmt.Fprintf(b, "%-22s", title(i, a))
		for _, p := range l.periods {
			answers := within(a.seen(), p)
			for _, q := range []float64{0.50, 0.95, 0.99} {
				fmt.Fprintf(b, "%9s", brief(percentile(answers, q)))
			}
		}
		b.WriteString("\n")
	}
}

func (l *load) writePromise(b *strings.Builder) {
	fmt.Fprintf(b, "\n%-18s", "chat promises")
	for i, a := range l.apps {
		fmt.Fprintf(b, "%-22s", title(i, a))
	}
	b.WriteString("\n")
	for j, layer := range l.apps[0].ledger.Layers() {
		fmt.Fprintf(b, "%-18v", layer)
		for _, a := range l.apps {
			s := a.ledger.Status()[j]
			fmt.Fprintf(b, "%6.2f%% %-14s", 100*s.Attainment(), keptOrMissed(s))
		}
		b.WriteString("\n")
	}
}

func (l *load) writeTraffic(b *strings.Builder) {
	fmt.Fprintf(b, "\n%-22s", "Share of the calls")
	for _, p := range l.periods {
		fmt.Fprintf(b, "%18s", p.name)
	}
	b.WriteString("\n")
	answers := l.apps[0].seen()
	for _, r := range l.client.Snapshot().Routes {
		fmt.Fprintf(b, "%-22s", r.Target)
		for _, p := range l.periods {
			fmt.Fprintf(b, "%17.0f%%", 100*shares(within(answers, p))[r.Target])
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "\nFailovers: %d (one target failed, another one answered, no user noticed)\n", failovers(answers))
	for i, a := range l.apps {
		if n, err := failed(a.seen()); n > 0 {
			fmt.Fprintf(b, "Failed %s: %d, such as: %v\n", title(i, a), n, err)
		}
	}
}

func (l *load) writeAnswer(b *strings.Builder) {
	answers := l.apps[0].seen()
	i := slices.IndexFunc(answers, func(a answer) bool { return a.err == nil })
	if i >= 0 {
		fmt.Fprintf(b, "\n%s\n%s: %s\n", question, answers[i].call.Target, strings.TrimSpace(answers[i].text))
	}
}

// conclude returns an error if the application with the client missed a layer.
func (l *load) conclude() error {
	layers := l.apps[0].ledger.Status()
	var missed []string
	for _, s := range layers {
		if !kept(s) {
			missed = append(missed, s.Layer.String())
		}
	}
	if missed != nil {
		return fmt.Errorf("chat missed %s: see above (a busy machine adds delays of its own)", strings.Join(missed, ", "))
	}
	l.screen.print(fmt.Sprintf("\nWith ontime all %d layers of chat were kept.\n", len(layers)))
	return nil
}

func kept(s budget.LayerStatus) bool { return s.Burn() <= 1 }

func keptOrMissed(s budget.LayerStatus) string {
	if kept(s) {
		return "kept"
	}
	return "MISSED"
}

func title(i int, a *app) string {
	if i == 0 {
		return a.name
	}
	return "without, " + a.name
}

// within returns the answers to the calls of a period.
func within(answers []answer, p period) []answer {
	return slices.DeleteFunc(slices.Clone(answers), func(a answer) bool { return a.n < p.from || a.n >= p.to })
}

// percentile returns the time that the share q of the answers did not exceed,
// by nearest rank. One that failed never came.
func percentile(answers []answer, q float64) time.Duration {
	if len(answers) == 0 {
		return 0
	}
	times := make([]time.Duration, len(answers))
	for i, a := range answers {
		if times[i] = a.first; a.err != nil {
			times[i] = math.MaxInt64
		}
	}
	slices.Sort(times)
	return times[max(int(math.Ceil(q*float64(len(times)))), 1)-1]
}

// shares returns how much of the answers each target gave.
func shares(answers []answer) map[string]float64 {
	share := make(map[string]float64)
	for _, a := range answers {
		share[a.call.Target] += 1 / float64(len(answers))
	}
	return share
}

// failovers counts the answers that came after another target had failed.
func failovers(answers []answer) int {
	n := 0
	for _, a := range answers {
		if a.err == nil && len(a.call.Attempts) > 1 && !a.call.Hedged {
			n++
		}
	}
	return n
}

// failed counts the calls without an answer, and returns the first one's error.
func failed(answers []answer) (n int, first error) {
	for _, a := range answers {
		if a.err == nil {
			continue
		}
		if n++; n == 1 {
			first = a.err
		}
	}
	return n, first
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

const (
	redraw = 200 * time.Millisecond
	recent = 100 // calls that the shares in the table are of
)

// watch draws the table until ctx ends: steadily on a terminal, elsewhere after
// each quarter of the calls.
func (l *load) watch(ctx context.Context) {
	stride := 0
	if !l.screen.live {
		stride = max(l.calls/4, 1)
	}
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for next := stride; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n := len(l.apps[0].seen()); n >= next && n < l.calls {
			l.screen.draw(l.table())
			next += stride
		}
	}
}

// table is what the client knows now.
func (l *load) table() string {
	answers := l.apps[0].seen()
	snapshot := l.client.Snapshot()
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d of %d calls", len(answers), l.calls)
	if l.incident != nil && len(answers) >= l.incident.at {
		fmt.Fprintf(&b, "    %s", l.incident.words)
	}
	b.WriteString("\n\n")
	writeRoutes(&b, snapshot.Routes, shares(answers[max(0, len(answers)-recent):]))
	b.WriteString("\n")
	i := slices.IndexFunc(snapshot.Endpoints, func(e router.EndpointStatus) bool { return e.Name == "chat" })
	writeLayers(&b, snapshot.Endpoints[i].Layers)
	return b.String()
}

func writeRoutes(b *strings.Builder, routes []router.RouteStatus, share map[string]float64) {
	fmt.Fprintf(b, "%-12s%10s%10s%10s    %-24s%s\n", "route", "TTFT p50", "p95", "p99", "share of latest calls", "state")
	for _, r := range routes {
		fmt.Fprintf(b, "%-12s%10s%10s%10s    %4.0f%% %-18s%s\n", r.Target,
			known(r.TTFT.P50, r), known(r.TTFT.P95, r), known(r.TTFT.P99, r),
			100*share[r.Target], bar(share[r.Target]), r.State)
	}
}

func writeLayers(b *strings.Builder, layers []budget.LayerStatus) {
	fmt.Fprintf(b, "%-16s%10s%10s\n", "chat promises", "kept by", "debt")
	for _, l := range layers {
		fmt.Fprintf(b, "%-16v%9.2f%%%10.2f    %s\n", l.Layer, 100*l.Attainment(), l.Debt, keptOrMissed(l))
	}
}

// known is a percentile of a route, or a dash while nothing was measured on it.
func known(d time.Duration, r router.RouteStatus) string {
	if r.TTFT.N == 0 {
		return "-"
	}
	return brief(d)
}

// brief is a time in three digits or so.
func brief(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d == router.Unbounded:
		return "never"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}

func bar(share float64) string { return strings.Repeat("█", int(share*15+0.5)) }

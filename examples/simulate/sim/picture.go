package sim

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/ontime-llm/ontime/internal/chart"
)

// WritePicture draws cost against attainment as an SVG, one labelled point for each
// policy, over all places of the results. It reads on light and on dark pages. The same
// results give the same bytes.
//
// The cost is per call, relative to that of the regime oracle (without one: of the
// cheapest policy) at the same place, and the geometric mean over the places. The
// attainment is the mean over all layers that the oracle keeps (without one: over all) of
// how far each was kept: 100% within its allowance, 50% at twice that.
func WritePicture(w io.Writer, results []Result) error {
	out := bufio.NewWriter(w)
	points := pointsOf(results)
	f := frameOf(points)
	chart.Begin(out, "Cost against attainment", &f, labelWidth, light, dark)
	f.Draw(out)
	ys := make([]float64, len(points))
	for i, pt := range points {
		ys[i] = f.AtY(pt.attainment)
	}
	for i, at := range f.Labels(ys) {
		pt := points[i]
		x := f.AtX(pt.cost)
		f.Label(out, string(pt.kind), pt.policy, x, ys[i], at)
		fmt.Fprintf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n", pt.kind, x, ys[i])
	}
	chart.End(out)
	return out.Flush()
}

// point is a policy in the picture.
type point struct {
	policy     string
	kind       Kind
	cost       float64
	attainment float64
}

// pointsOf sums up each policy over all places, the best attained first, and of these the dearest: so the lines to
// the labels cross least.
func pointsOf(results []Result) []point {
	type sums struct{ logCost, places, kept, layers float64 }
	of := map[string]*sums{}
	var points []point
	for from := 0; from < len(results); {
		until := from
		for until < len(results) && results[until].Place == results[from].Place {
			until++
		}
		here := results[from:until]
		oracle := find(here, OracleRegime)
		base := oracle
		if base == nil {
			base = cheapest(here, func(*Result) bool { return true })
		}
		for i := range here {
			r := &here[i]
			s := of[r.Policy]
			if s == nil {
				s = &sums{}
				of[r.Policy] = s
				points = append(points, point{policy: r.Policy, kind: r.Kind})
			}
			s.logCost += math.Log(r.Cost.Mean / base.Cost.Mean)
			s.places++
			for j, l := range r.Layers {
				if oracle == nil || oracle.Layers[j].Kept {
					s.kept += min(1, l.Allowed/max(l.Miss.Mean, 1e-9))
					s.layers++
				}
			}
		}
		from = until
	}
	for i := range points {
		s := of[points[i].policy]
		points[i].cost = math.Exp(s.logCost / s.places)
		points[i].attainment = s.kept / max(s.layers, 1)
	}
	slices.SortFunc(points, func(a, b point) int {
		return cmp.Or(cmp.Compare(b.attainment, a.attainment), cmp.Compare(b.cost, a.cost), cmp.Compare(a.policy, b.policy))
	})
	return points
}

const (
	labelWidth = 230
	light      = `.peer { fill: #0969da; } .ours { fill: #cf222e; } .oracle { fill: #8250df; } text.ours { font-weight: bold; }
`
	dark = `.peer { fill: #58a6ff; } .ours { fill: #ff7b72; } .oracle { fill: #d2a8ff; }
`
)

// frameOf has room for all points, and for a label each.
func frameOf(points []point) chart.Frame {
	lowCost, highCost, lowest := 1.0, 1.0, 1.0
	for _, pt := range points {
		lowCost, highCost = min(lowCost, pt.cost), max(highCost, pt.cost)
		lowest = min(lowest, pt.attainment)
	}
	lowest = min(max(0, math.Floor(lowest*10-0.5)/10), 0.9)
	f := chart.Frame{
		Left: 70, Top: 30, Width: 640, Height: max(360, chart.LabelHeight*float64(len(points))),
		X: chart.Axis{Label: "cost per call, losers included (the regime oracle: 1)", Low: lowCost * 0.9, High: highCost * 1.1, Log: true},
		Y: chart.Axis{Label: "promises kept, of those that can be", Low: lowest, High: 1},
	}
	for _, c := range []float64{0.125, 0.25, 0.5, 0.7, 1, 1.4, 2, 3, 4, 6, 8, 12, 16, 32} {
		f.X.Ticks = append(f.X.Ticks, chart.Tick{At: c, Label: fmt.Sprint(c)})
	}
	for a := lowest; a <= 1.001; a += 0.1 {
		f.Y.Ticks = append(f.Y.Ticks, chart.Tick{At: a, Label: fmt.Sprintf("%.0f%%", 100*a)})
	}
	return f
}

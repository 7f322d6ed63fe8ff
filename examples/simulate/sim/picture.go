package sim

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
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
	p := newPlot(points)
	p.frame(out)
	labels := p.labels(points)
	for i, pt := range points {
		p.point(out, pt, labels[i])
	}
	fmt.Fprintln(out, "</svg>")
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

// plot is the geometry of the picture, in pixels.
type plot struct {
	left, top, width, height float64
	lowCost, highCost        float64
	lowest                   float64 // attainment
}

const (
	labelWidth  = 230
	labelHeight = 15
)

func newPlot(points []point) plot {
	p := plot{left: 70, top: 30, width: 640, height: max(360, labelHeight*float64(len(points))), lowCost: 1, highCost: 1, lowest: 1}
	for _, pt := range points {
		p.lowCost = min(p.lowCost, pt.cost)
		p.highCost = max(p.highCost, pt.cost)
		p.lowest = min(p.lowest, pt.attainment)
	}
	p.lowCost, p.highCost = p.lowCost*0.9, p.highCost*1.1
	p.lowest = max(0, math.Floor(p.lowest*10-0.5)/10)
	return p
}

func (p *plot) x(cost float64) float64 {
	return p.left + p.width*math.Log(cost/p.lowCost)/math.Log(p.highCost/p.lowCost)
}

func (p *plot) y(attainment float64) float64 {
	return p.top + p.height*(1-attainment)/max(1-p.lowest, 1e-9)
}

const style = `<style>
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.back { fill: #ffffff; } .axis { stroke: #8c959f; } .grid { stroke: #d0d7de; } .lead { stroke: #afb8c1; stroke-width: .7; fill: none; }
.peer { fill: #0969da; } .ours { fill: #cf222e; } .oracle { fill: #8250df; }
text.ours { font-weight: bold; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.back { fill: #0d1117; } .axis { stroke: #6e7681; } .grid { stroke: #30363d; } .lead { stroke: #484f58; }
.peer { fill: #58a6ff; } .ours { fill: #ff7b72; } .oracle { fill: #d2a8ff; }
}
</style>`

func (p *plot) frame(w io.Writer) {
	right, bottom := p.left+p.width, p.top+p.height
	fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n", right+labelWidth, bottom+55)
	fmt.Fprintln(w, "<title>Cost against attainment</title>")
	fmt.Fprintln(w, style)
	fmt.Fprintln(w, `<rect class="back" width="100%" height="100%"/>`)
	for a := p.lowest; a <= 1.001; a += 0.1 {
		fmt.Fprintf(w, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", p.left, p.y(a), right)
		fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.0f%%</text>\n", p.left-8, p.y(a)+4, 100*a)
	}
	for _, c := range []float64{0.125, 0.25, 0.5, 0.7, 1, 1.4, 2, 3, 4, 6, 8, 12, 16, 32} {
		if c < p.lowCost || c > p.highCost {
			continue
		}
		fmt.Fprintf(w, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", p.x(c), p.top, bottom)
		fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%v</text>\n", p.x(c), bottom+18, c)
	}
	fmt.Fprintf(w, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\"/>\n", p.left, p.top, bottom, right)
	fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">cost per call, losers included (the regime oracle: 1)</text>\n", p.left+p.width/2, bottom+40)
	fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" transform=\"rotate(-90 %[1]v %[2]v)\">promises kept, of those that can be</text>\n", 18.0, p.top+p.height/2)
}

// labels returns the height of each point's label: its point's own where there is room,
// else moved as little as the order allows.
func (p *plot) labels(points []point) []float64 {
	ys := make([]float64, len(points))
	at := math.Inf(-1)
	for i, pt := range points {
		ys[i] = max(p.y(pt.attainment), at)
		at = ys[i] + labelHeight
	}
	floor := p.top + p.height + labelHeight/2
	for i := len(ys) - 1; i >= 0; i-- {
		ys[i] = min(ys[i], floor)
		floor = ys[i] - labelHeight
	}
	return ys
}

func (p *plot) point(w io.Writer, pt point, label float64) {
	x, y, right := p.x(pt.cost), p.y(pt.attainment), p.left+p.width
	fmt.Fprintf(w, "<path class=\"lead\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>\n", x, y, right+4, label, right+12)
	fmt.Fprintf(w, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n", pt.kind, x, y)
	fmt.Fprintf(w, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", pt.kind, right+16, label+4, escaped(pt.policy))
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

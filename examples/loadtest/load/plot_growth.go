package load

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/ontime-llm/ontime/internal/chart"
)

// bar is the interval of one point, dashed as its line. All of a load stand side by side:
// on one another that of p95 and that of p99 would look like one long one.
type bar struct {
	class, dash              string
	level, beside, low, high float64
}

const barStep = 4 // pixels

// WritePercentiles draws as an SVG how p50, p95 and p99 of TTFT (or of total, without
// streams) grow with the load, with their intervals.
func (r *Report) WritePercentiles(w io.Writer) error {
	m := r.first()
	lines, bars := r.growth(m)
	low, high := math.Inf(1), 0.0
	for _, b := range bars {
		low, high = min(low, b.low), max(high, b.high)
	}
	f := chart.Frame{Left: 70, Top: 30, Width: 640, Height: 400, X: r.levelAxis(), Y: timeAxis(m.name+", ms", low, high)}
	out := bufio.NewWriter(w)
	begin(out, m.name+" by load", &f)
	f.Draw(out)
	for _, b := range bars {
		fmt.Fprintf(out, "<path class=\"%s\" stroke-dasharray=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n", b.class, b.dash, f.AtX(b.level)+b.beside, f.AtY(b.low), f.AtY(b.high))
	}
	drawAll(out, &f, lines)
	chart.End(out)
	return out.Flush()
}

// drawnPercentiles are lines of the picture, each in a dash of its own.
var drawnPercentiles = []struct {
	percentile float64
	dash       string
}{{50, "none"}, {95, "6 3"}, {99, "2 3"}}

// growth is a line for each subject and percentile, and a bar for each of their points.
func (r *Report) growth(m metric) (lines []line, bars []bar) {
	classes := r.classes()
	for i, subject := range r.Setup.Subjects {
		name := title(subject.Subject, subject.Routed)
		for j, p := range drawnPercentiles {
			l := line{class: classes[name], label: fmt.Sprintf("%s p%v", name, p.percentile), dash: p.dash}
			for k := range r.Series {
				s := &r.Series[k]
				q, ok := s.quantile(m.name, p.percentile)
				if s.Title() != name || !ok {
					continue
				}
				level := s.Load.Level()
				l.points = append(l.points, [2]float64{level, q.Value.ms()})
				beside := barStep * float64(i*len(drawnPercentiles)+j)
				bars = append(bars, bar{l.class, p.dash, level, beside, q.Low.ms(), q.High.ms()})
			}
			lines = append(lines, l)
		}
	}
	return lines, bars
}

// quantile is a percentile that is known and came.
func (s *Series) quantile(metric string, percentile float64) (Quantile, bool) {
	if f := s.figure("", metric); f != nil {
		for _, q := range f.Quantiles {
			if q.Percentile == percentile && q.Known && q.High != Never {
				return q, true
			}
		}
	}
	return Quantile{}, false
}

// levelAxis has a tick for each load.
func (r *Report) levelAxis() chart.Axis {
	a := chart.Axis{Label: "streams at once", Low: math.Inf(1), Log: true}
	for i := range r.Series {
		l := r.Series[i].Load
		if l.Open() {
			a.Label = "calls/s"
		}
		a.Low, a.High = min(a.Low, l.Level()), max(a.High, l.Level())
		a.Ticks = append(a.Ticks, chart.Tick{At: l.Level(), Label: number(l.Level())})
	}
	if len(r.Series) == 0 {
		a.Low, a.High = 1, 1
	}
	slices.SortFunc(a.Ticks, func(x, y chart.Tick) int { return cmp.Compare(x.At, y.At) })
	a.Ticks = slices.Compact(a.Ticks)
	a.Low, a.High = a.Low*0.9, a.High*1.1
	return a
}

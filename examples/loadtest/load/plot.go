package load

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ontime-llm/ontime/internal/chart"
)

// colours of the subjects, in order, on light and on dark pages; after the last one it
// begins again.
var (
	lightColours = []string{"#0969da", "#cf222e", "#8250df", "#1a7f37", "#9a6700", "#57606a"}
	darkColours  = []string{"#58a6ff", "#ff7b72", "#d2a8ff", "#56d364", "#e3b341", "#8b949e"}
)

func rules(colours []string) string {
	var b strings.Builder
	for i, c := range colours {
		fmt.Fprintf(&b, ".s%d { fill: %s; } path.s%d { stroke: %s; stroke-width: 1.6; fill: none; }\n", i, c, i, c)
	}
	return b.String()
}

// classes are the subjects' names for colours, by title.
func (r *Report) classes() map[string]string {
	all := make(map[string]string)
	for i, s := range r.Setup.Targets {
		all[title(s.Subject, s.Routed)] = fmt.Sprintf("s%d", i%len(lightColours))
	}
	return all
}

const labelRoom = 190 // right of a frame

// line is one curve of a chart, with its label.
type line struct {
	class, label, dash string
	points             [][2]float64
}

func (l *line) draw(w io.Writer, f *chart.Frame) {
	if len(l.points) == 0 {
		return
	}
	fmt.Fprintf(w, "<path class=\"%s\" stroke-dasharray=\"%s\" d=\"", l.class, l.dash)
	for i, p := range l.points {
		fmt.Fprintf(w, "%c%.1f %.1f", "ML"[min(i, 1)], f.AtX(p[0]), f.AtY(p[1]))
	}
	fmt.Fprintln(w, "\"/>")
}

// drawAll draws lines with their labels at their ends.
func drawAll(w io.Writer, f *chart.Frame, lines []line) {
	lines = slices.DeleteFunc(lines, func(l line) bool { return len(l.points) == 0 })
	end := func(l line) [2]float64 { return l.points[len(l.points)-1] }
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(f.AtY(end(a)[1]), f.AtY(end(b)[1])) })
	ys := make([]float64, len(lines))
	for i, l := range lines {
		l.draw(w, f)
		ys[i] = f.AtY(end(l)[1])
	}
	for i, at := range f.Labels(ys) {
		f.Label(w, lines[i].class, lines[i].label, f.AtX(end(lines[i])[0]), ys[i], at)
	}
}

// timeAxis spans the times of all, in ms, with ticks at 1, 2 and 5.
func timeAxis(label string, low, high float64) chart.Axis {
	a := chart.Axis{Label: label, Low: low * 0.9, High: high * 1.1, Log: true}
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for _, step := range []float64{1, 2, 5} {
			v := step * math.Pow(10, power)
			a.Ticks = append(a.Ticks, chart.Tick{At: v, Label: number(math.Round(v*1000) / 1000)})
		}
	}
	return a
}

// WriteDistribution draws as an SVG, for each load, what share of the calls had no first
// token yet after a time: p99 is where a curve falls below 1%. What never came keeps it
// up for ever. A report without streams has the total in the place of TTFT.
func (r *Report) WriteDistribution(w io.Writer) error {
	m := r.first()
	low, high := math.Inf(1), 0.0
	var loads []Load
	for i := range r.Series {
		for _, v := range m.values(r.Series[i].Samples) {
			if v != Never {
				low, high = min(low, v.ms()), max(high, v.ms())
			}
		}
		if l := r.Series[i].Load; !slices.Contains(loads, l) {
			loads = append(loads, l)
		}
	}
	if high == 0 {
		low, high = 1, 10 // nothing came; the axes say so
	}
	frames := make([]chart.Frame, max(len(loads), 1))
	for i := range frames {
		frames[i] = chart.Frame{
			Left: 70, Top: 30 + 330*float64(i), Width: 640, Height: 240,
			X: timeAxis("ms", low, high),
			Y: chart.Axis{Label: "calls that still wait", Low: 0.005, High: 1, Log: true},
		}
		for _, share := range []float64{1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01} {
			frames[i].Y.Ticks = append(frames[i].Y.Ticks, chart.Tick{At: share, Label: fmt.Sprintf("%v%%", 100*share)})
		}
	}
	out := bufio.NewWriter(w)
	chart.Begin(out, m.name+": how many calls still wait", &frames[len(frames)-1], labelRoom, rules(lightColours), rules(darkColours))
	classes := r.classes()
	for i, l := range loads {
		f := &frames[i]
		f.X.Label = fmt.Sprintf("%s at %v, ms", m.name, l)
		f.Draw(out)
		var lines []line
		for k := range r.Series {
			if s := &r.Series[k]; s.Load == l {
				lines = append(lines, line{classes[s.Title()], s.Title(), "none", waiting(m.values(s.Samples), f.Y.Low)})
			}
		}
		drawAll(out, f, lines)
	}
	chart.End(out)
	return out.Flush()
}

// first is the metric of the answer's beginning, as far as it is known.
func (r *Report) first() metric {
	if r.Setup.Stream {
		return metrics[0]
	}
	return metrics[len(metrics)-1]
}

const mostPoints = 400 // of a curve

// waiting is the share of values that are above each of them, down to the least share.
func waiting(values []Span, least float64) [][2]float64 {
	slices.Sort(values)
	n := len(values)
	step := max(1, n/mostPoints)
	var points [][2]float64
	for i, v := range values {
		share := float64(n-i) / float64(n)
		if v == Never || share < least {
			break
		}
		if i%step == 0 || share < 0.05 { // the tail is what it is about
			points = append(points, [2]float64{v.ms(), share})
		}
	}
	return points
}

// WritePercentiles draws as an SVG how p50, p95 and p99 of TTFT (or of total, without
// streams) grow with the load, with their intervals.
func (r *Report) WritePercentiles(w io.Writer) error {
	m := r.first()
	shown := []struct {
		percentile float64
		dash       string
	}{{50, "none"}, {95, "6 3"}, {99, "2 3"}}
	classes := r.classes()
	var lines []line
	var bars [][3]float64 // level, low, high
	var barClasses []string
	low, high := math.Inf(1), 0.0
	for _, subject := range r.Setup.Targets {
		name := title(subject.Subject, subject.Routed)
		for _, p := range shown {
			l := line{class: classes[name], label: fmt.Sprintf("%s p%v", name, p.percentile), dash: p.dash}
			for i := range r.Series {
				s := &r.Series[i]
				q, ok := s.quantile(m.name, p.percentile)
				if s.Title() != name || !ok {
					continue
				}
				l.points = append(l.points, [2]float64{s.Load.Level(), q.Value.ms()})
				bars = append(bars, [3]float64{s.Load.Level(), q.Low.ms(), q.High.ms()})
				barClasses = append(barClasses, classes[name])
				low, high = min(low, q.Low.ms()), max(high, q.High.ms())
			}
			lines = append(lines, l)
		}
	}
	if high == 0 {
		low, high = 1, 10
	}
	f := chart.Frame{Left: 70, Top: 30, Width: 640, Height: 400, X: r.levelAxis(), Y: timeAxis(m.name+", ms", low, high)}
	out := bufio.NewWriter(w)
	chart.Begin(out, m.name+" by load", &f, labelRoom, rules(lightColours), rules(darkColours))
	f.Draw(out)
	for i, b := range bars {
		fmt.Fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n", barClasses[i], f.AtX(b[0]), f.AtY(b[1]), f.AtY(b[2]))
	}
	drawAll(out, &f, lines)
	chart.End(out)
	return out.Flush()
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

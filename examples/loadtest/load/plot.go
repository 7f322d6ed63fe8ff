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
	for i, s := range r.Setup.Subjects {
		all[title(s.Subject, s.Routed)] = fmt.Sprintf("s%d", i%len(lightColours))
	}
	return all
}

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

func begin(w io.Writer, title string, lowest *chart.Frame) {
	const labelRoom = 190 // right of a frame
	chart.Begin(w, title, lowest, labelRoom, rules(lightColours), rules(darkColours))
}

// timeAxis spans times in ms, with ticks at 1, 2 and 5.
func timeAxis(label string, low, high float64) chart.Axis {
	if high == 0 {
		low, high = 1, 10 // nothing came
	}
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
	loads := r.loads()
	frames := make([]chart.Frame, max(len(loads), 1))
	x := r.span(m)
	for i := range frames {
		frames[i] = chart.Frame{Left: 70, Top: 30 + 330*float64(i), Width: 640, Height: 240, X: x, Y: shareAxis()}
	}
	out := bufio.NewWriter(w)
	begin(out, m.name+": how many calls still wait", &frames[len(frames)-1])
	classes := r.classes()
	for i, l := range loads {
		f := &frames[i]
		f.X.Label = fmt.Sprintf("%s at %v, ms", m.name, l)
		f.Draw(out)
		var lines []line
		for k := range r.Series {
			if s := &r.Series[k]; s.Load == l {
				lines = append(lines, line{classes[s.Title()], s.Title(), "none", waiting(m.sorted(s.Samples), f.Y.Low, f.X)})
			}
		}
		drawAll(out, f, lines)
	}
	chart.End(out)
	return out.Flush()
}

// loads are those of the report, each once.
func (r *Report) loads() []Load {
	var all []Load
	for i := range r.Series {
		if l := r.Series[i].Load; !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	return all
}

// span is an axis for all values of a metric.
func (r *Report) span(m metric) chart.Axis {
	low, high := math.Inf(1), 0.0
	for i := range r.Series {
		for _, v := range m.values(r.Series[i].Samples) {
			if v != Never {
				low, high = min(low, v.ms()), max(high, v.ms())
			}
		}
	}
	return timeAxis("", low, high)
}

func shareAxis() chart.Axis {
	a := chart.Axis{Label: "calls that still wait", Low: 0.005, High: 1, Log: true}
	for _, share := range []float64{1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01} {
		a.Ticks = append(a.Ticks, chart.Tick{At: share, Label: fmt.Sprintf("%v%%", 100*share)})
	}
	return a
}

// first is the metric of the answer's beginning, as far as it is known.
func (r *Report) first() metric {
	if r.Setup.Stream {
		return metrics[0]
	}
	return metrics[len(metrics)-1]
}

const mostPoints = 400 // of a curve

// waiting is the share of sorted values that are above each of them, down to the least share.
func waiting(values []Span, least float64, x chart.Axis) [][2]float64 {
	n := len(values)
	step := max(1, n/mostPoints)
	var points [][2]float64
	at := x.Low
	for i, v := range values {
		share := float64(n-i) / float64(n)
		switch {
		case share < least:
			return points
		case v == Never:
			return append(points, [2]float64{at, share}, [2]float64{x.High, share})
		case i%step == 0 || share < 0.05: // the tail is what it is about
			points = append(points, [2]float64{v.ms(), share})
		}
		at = v.ms()
	}
	return points
}

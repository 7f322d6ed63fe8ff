// Package chart draws plain charts as SVG, for examples. They read on light and on dark
// pages, and the same data gives the same bytes. It owns axes, colours and where labels
// go; what is drawn between them is the caller's.
package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
)

// Axis is one side of a chart.
type Axis struct {
	Label     string
	Low, High float64 // what it spans; on a log axis above 0
	Log       bool
	Ticks     []Tick // those outside are left out
}

// Tick is a line of the grid, with what stands beside it.
type Tick struct {
	At    float64
	Label string
}

// at is where a value lies between 0 and 1; beyond them if it is outside.
func (a *Axis) at(v float64) float64 {
	if a.Log {
		return math.Log(v/a.Low) / math.Log(a.High/a.Low)
	}
	return (v - a.Low) / (a.High - a.Low)
}

func (a *Axis) has(v float64) bool {
	const slip = 1e-9 // a tick at the very end is one
	at := a.at(v)
	return at >= -slip && at <= 1+slip
}

// Frame is the area of one chart, in pixels.
type Frame struct {
	Left, Top, Width, Height float64
	X, Y                     Axis
}

// Right and Bottom are its other two edges.
func (f *Frame) Right() float64  { return f.Left + f.Width }
func (f *Frame) Bottom() float64 { return f.Top + f.Height }

// AtX and AtY are where values lie.
func (f *Frame) AtX(v float64) float64 { return f.Left + f.Width*f.X.at(v) }
func (f *Frame) AtY(v float64) float64 { return f.Top + f.Height*(1-f.Y.at(v)) }

const (
	belowFrame = 55 // room for the ticks and the label of X
	style      = `text { font: 12px system-ui, sans-serif; fill: #24292f; }
.back { fill: #ffffff; } .axis { stroke: #8c959f; } .grid { stroke: #d0d7de; } .lead { stroke: #afb8c1; stroke-width: .7; fill: none; }
`
	darkStyle = `text { fill: #e6edf3; }
.back { fill: #0d1117; } .axis { stroke: #6e7681; } .grid { stroke: #30363d; } .lead { stroke: #484f58; }
`
)

// Begin opens a picture that ends below the lowest frame and margin right of it. light and
// dark are rules of CSS besides those of the frames, for each kind of page.
func Begin(w io.Writer, title string, lowest *Frame, margin float64, light, dark string) {
	fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
		lowest.Right()+margin, lowest.Bottom()+belowFrame)
	fmt.Fprintf(w, "<title>%s</title>\n", Escape(title))
	fmt.Fprintf(w, "<style>\n%s%s@media (prefers-color-scheme: dark) {\n%s%s}\n</style>\n", style, light, darkStyle, dark)
	fmt.Fprintln(w, `<rect class="back" width="100%" height="100%"/>`)
}

// End closes the picture.
func End(w io.Writer) { fmt.Fprintln(w, "</svg>") }

// Draw draws the grid, the axes and their labels.
func (f *Frame) Draw(w io.Writer) {
	right, bottom := f.Right(), f.Bottom()
	for _, t := range f.Y.Ticks {
		if f.Y.has(t.At) {
			fmt.Fprintf(w, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", f.Left, f.AtY(t.At), right)
			fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", f.Left-8, f.AtY(t.At)+4, Escape(t.Label))
		}
	}
	for _, t := range f.X.Ticks {
		if f.X.has(t.At) {
			fmt.Fprintf(w, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", f.AtX(t.At), f.Top, bottom)
			fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", f.AtX(t.At), bottom+18, Escape(t.Label))
		}
	}
	fmt.Fprintf(w, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\"/>\n", f.Left, f.Top, bottom, right)
	fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", f.Left+f.Width/2, bottom+40, Escape(f.X.Label))
	fmt.Fprintf(w, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" transform=\"rotate(-90 %[1]v %[2]v)\">%[3]s</text>\n",
		f.Left-52, f.Top+f.Height/2, Escape(f.Y.Label))
}

// LabelHeight is how far apart labels have to be.
const LabelHeight = 15

// Labels returns where labels stand right of the frame, for points at rising heights ys:
// at their point's own where there is room, else moved as little as the order allows.
func (f *Frame) Labels(ys []float64) []float64 {
	places := make([]float64, len(ys))
	at := math.Inf(-1)
	for i, y := range ys {
		places[i] = max(y, at)
		at = places[i] + LabelHeight
	}
	floor := f.Bottom() + LabelHeight/2
	for i := len(places) - 1; i >= 0; i-- {
		places[i] = min(places[i], floor)
		floor = places[i] - LabelHeight
	}
	return places
}

// Label writes a text right of the frame, and a thin line to it from its point.
func (f *Frame) Label(w io.Writer, class, text string, x, y, at float64) {
	right := f.Right()
	fmt.Fprintf(w, "<path class=\"lead\" d=\"M%.1f %.1fL%.1f %.1fH%.1f\"/>\n", x, y, right+4, at, right+12)
	fmt.Fprintf(w, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", class, right+16, at+4, Escape(text))
}

// Escape makes a text fit for XML.
func Escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

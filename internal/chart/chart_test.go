package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/internal/chart"
)

func TestFrame(t *testing.T) {
	f := chart.Frame{
		Left: 100, Top: 20, Width: 300, Height: 200,
		X: chart.Axis{Label: "a < b", Low: 1, High: 1000, Log: true, Ticks: []chart.Tick{{At: 1, Label: "one"}, {At: 10, Label: "ten"}, {At: 2000, Label: "off"}}},
		Y: chart.Axis{Label: "share", Low: 0.5, High: 1, Ticks: []chart.Tick{{At: 1, Label: "all"}, {At: 0.2, Label: "few"}}},
	}
	for _, tt := range []struct{ got, want float64 }{
		{f.AtX(1), 100}, {f.AtX(10), 200}, {f.AtX(1000), 400}, {f.AtY(1), 20}, {f.AtY(0.5), 220}, {f.AtY(0.75), 120}, {f.Right(), 400}, {f.Bottom(), 220},
	} {
		if diff := tt.got - tt.want; diff < -1e-9 || diff > 1e-9 {
			t.Errorf("%v, want %v", tt.got, tt.want)
		}
	}
	var b strings.Builder
	chart.Begin(&b, `"title" & more`, &f, 50, ".x { fill: red; }\n", "")
	f.Draw(&b)
	f.Label(&b, "x", "<end>", 400, 30, 35)
	chart.End(&b)
	var texts []string
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, b.String())
		}
		if text, ok := token.(xml.CharData); ok && strings.TrimSpace(string(text)) != "" && !strings.Contains(string(text), "{") {
			texts = append(texts, string(text))
		}
	}
	if diff := cmp.Diff([]string{`"title" & more`, "all", "one", "ten", "a < b", "share", "<end>"}, texts); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Labels never cover each other, keep their order, and stay where they are if they may.
func TestLabels(t *testing.T) {
	f := chart.Frame{Top: 0, Height: 400}
	if diff := cmp.Diff([]float64{50, 65, 200}, f.Labels([]float64{50, 52, 200})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 20).Draw(t, "n")
		ys, at := make([]float64, n), 0.0
		for i := range ys {
			at += rapid.Float64Range(0, 40).Draw(t, "step")
			ys[i] = min(at, 400)
		}
		places := f.Labels(ys)
		for i := 1; i < n; i++ {
			if places[i]-places[i-1] < chart.LabelHeight-1e-9 {
				t.Errorf("%v are too close: %v", ys, places)
			}
		}
		if n > 0 && places[n-1] > 408 {
			t.Errorf("the last label is at %v", places[n-1])
		}
	})
}

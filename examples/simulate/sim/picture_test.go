package sim_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
)

func TestPicture(t *testing.T) {
	there := sim.Place{Scenario: "hang", Rate: 5}
	var results []sim.Result
	for _, at := range []sim.Place{here, there} {
		results = append(results, sim.Compare(at, promise, []sim.Series{
			runs(sim.KindOurs, sim.Ours, 0.001, 1, 0.1),
			runs(sim.KindPeer, `a < "b" & c`, 0.004, 1, 0.3),
			runs(sim.KindPeer, "free", 0.0002, 1, 1),
			runs(sim.KindOracle, sim.OracleRegime, 0.001, 1, 0.05),
		})...)
	}
	draw := func() string {
		var b strings.Builder
		if err := sim.WritePicture(&b, results); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	svg := draw()
	if svg != draw() {
		t.Error("the same results give different pictures")
	}
	circles, texts := 0, map[string]bool{}
	in := ""
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if in = e.Name.Local; in == "circle" {
				circles++
			}
		case xml.CharData:
			texts[in+" "+string(e)] = true
		}
	}
	if circles != 4 {
		t.Errorf("%d points, want one for each of the 4 policies", circles)
	}
	for _, label := range []string{sim.Ours, `a < "b" & c`, "free", sim.OracleRegime} {
		if !texts["text "+label] {
			t.Errorf("no label %q", label)
		}
	}
	if !strings.Contains(svg, "prefers-color-scheme: dark") {
		t.Error("the picture has no colours for dark pages")
	}
}

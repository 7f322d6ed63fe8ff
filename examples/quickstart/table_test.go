package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

func TestWriteRoutes(t *testing.T) {
	routes := []router.RouteStatus{
		{Target: "us-east", State: "ok", TTFT: router.Percentiles{P50: 62 * ms, P95: 950 * ms, P99: 1234 * ms, N: 80}},
		{Target: "eu-west", State: "ok", TTFT: router.Percentiles{P50: 90 * ms, P95: 121 * ms, P99: router.Unbounded, N: 20}},
		{Target: "ap-south", State: "no data", TTFT: router.Percentiles{P50: 500 * ms, P95: 900 * ms, P99: 3000 * ms}},
	}
	var b strings.Builder
	writeRoutes(&b, routes, map[string]float64{"us-east": 0.8, "eu-west": 0.2})
	want := `
route         TTFT p50       p95       p99    share of latest calls   state
us-east          62 ms    950 ms    1.23 s      80% ████████████      ok
eu-west          90 ms    121 ms     never      20% ███               ok
ap-south             -         -         -       0%                   no data
`
	if diff := cmp.Diff(want, "\n"+b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteLayers(t *testing.T) {
	layers := []budget.LayerStatus{
		{Layer: budget.Layer{Percentile: 95, Limit: 500 * ms}, Calls: 200, Missed: 10, Debt: 0.1},     // 5% of 5%: just kept
		{Layer: budget.Layer{Percentile: 99, Limit: 2 * time.Second}, Calls: 200, Missed: 3, Debt: 2}, // 1.5% of 1%
	}
	var b strings.Builder
	writeLayers(&b, layers)
	want := `
chat promises      kept by      debt
p95 TTFT 500ms      95.00%      0.10    kept
p99 TTFT 2s         98.50%      2.00    MISSED
`
	if diff := cmp.Diff(want, "\n"+b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestDraw(t *testing.T) {
	tests := []struct {
		name string
		live bool
		want string
	}{
		{"printed", false, "a\nb\nc\nd\nend\n"},
		{"in place", true, "a\x1b[K\nb\x1b[K\n" + "\x1b[2Ac\x1b[K\nd\x1b[K\n" + "end\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			s := &screen{out: &out, live: tt.live}
			s.draw("a\nb\n")
			s.draw("c\nd\n")
			s.print("end\n")
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package sim_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/examples/simulate/sim"
)

var promised = budget.Budget{
	TTFT:  budget.Layers{50: 700 * ms, 90: 2 * time.Second},
	TPOT:  budget.Layers{50: 20 * ms},
	Total: budget.Layers{50: 5 * time.Second},
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 5e-4*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestMeasure(t *testing.T) {
	n := sim.Measure(promised, []sim.Outcome{
		{TTFT: 700 * ms, TPOT: 20 * ms, Total: 5 * time.Second, Requests: 1, Cost: 1}, // the limits are inclusive
		{TTFT: 701 * ms, TPOT: 30 * ms, Total: 6 * time.Second, Requests: 2, Hedged: true, Cost: 3},
		{TTFT: 600 * ms, Failed: true, Requests: 1, Cost: 2}, // cut: misses every layer
		{Failed: true, Requests: 3, Cost: 0},
		{TTFT: 3 * time.Second, Total: 4 * time.Second, Requests: 1, Cost: 4}, // one token
	})
	// p50 and p90 TTFT, p50 TPOT, p50 total, answered
	for j, want := range []float64{0.8, 0.6, 0.6, 0.6, 0.4} {
		near(t, "miss share", n.Miss[j], want)
	}
	// 0.6, 0.7, 0.701, 3, never: the third, the fifth, the fifth, the fifth
	near(t, "p50", n.TTFT[0], 0.701)
	if !math.IsInf(n.TTFT[1], 1) || !math.IsInf(n.TTFT[3], 1) {
		t.Errorf("p95 and p99.9 are %v and %v, want never", n.TTFT[1], n.TTFT[3])
	}
	near(t, "extra", n.Extra, 0.6)
	near(t, "hedged", n.Hedged, 0.2)
	near(t, "errors", n.Errors, 0.4)
	near(t, "cost", n.Cost, 2)
}

// promise has one layer besides that calls are answered.
var promise = budget.Budget{TTFT: budget.Layers{90: time.Second}}

var here = sim.Place{Scenario: "calm", Rate: 5}

// runs are of a policy that misses the layer so often, and costs so much.
func runs(kind sim.Kind, policy string, cost, p99 float64, misses ...float64) sim.Series {
	s := sim.Series{Policy: policy, Kind: kind}
	for _, m := range misses {
		s.Runs = append(s.Runs, sim.Numbers{Calls: 1000, Miss: []float64{m, 0}, TTFT: [4]float64{0.5, 0.9, p99, 2 * p99}, Cost: cost})
	}
	return s
}

func TestCompare(t *testing.T) {
	results := sim.Compare(here, promise, []sim.Series{
		runs(sim.KindOurs, sim.Ours, 0.003, 1, 0.10, 0.11, 0.06),
		runs(sim.KindOracle, sim.OracleRegime, 0.001, 1, 0.08, 0.09, 0.07),
		runs(sim.KindPeer, "cheap", 0.001, 1, 0.2, 0.2, 0.2),
		runs(sim.KindPeer, "dear", 0.002, math.Inf(1), 0.1, 0.1, 0.1),
	})
	ours := results[0]
	near(t, "miss", ours.Layers[0].Miss.Mean, 0.09)
	// deviations .01, .02, -.03: variance 0.0014/2, standard error sqrt(0.0007/3) = 0.015275; t with 2 degrees of freedom 4.303
	near(t, "half of its interval", ours.Layers[0].Miss.Half, 0.06573)
	// 0.02, 0.02 and -0.01 more than the oracle, seed by seed
	near(t, "regret", ours.Layers[0].Regret.Mean, 0.01)
	near(t, "half of its interval", ours.Layers[0].Regret.Half, 0.04303)
	near(t, "cost against the cheapest peer that keeps all", ours.Relative.Mean, 1.5)
	for i, want := range []bool{true, true, false, true} {
		if got := results[i].Layers[0].Kept; got != want {
			t.Errorf("%s: kept %v, want %v", results[i].Policy, got, want)
		}
	}
	if len(ours.Layers) != 2 || ours.Layers[1].Layer != "99.9% answered" {
		t.Errorf("layers %+v: want the one of every endpoint last", ours.Layers)
	}

	var b strings.Builder
	if err := sim.WriteJSON(&b, results); err != nil {
		t.Fatal(err)
	}
	var back []map[string]any
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatal(err)
	}
	if p99, there := back[3]["ttft_p99"]; p99 != nil || !there {
		t.Errorf("a p99 that never comes is %v in JSON, want null", p99)
	}
	if back[0]["scenario"] != "calm" || back[0]["ttft_p50"].(map[string]any)["mean"] != 0.5 {
		t.Errorf("JSON has lost something: %v", back[0])
	}
}

func TestReport(t *testing.T) {
	results := sim.Compare(here, promise, []sim.Series{
		runs(sim.KindOurs, sim.Ours, 0.003, 1, 0.10, 0.06),
		runs(sim.KindPeer, "cheap", 0.001, math.Inf(1), 0.2, 0.2),
	})
	var b strings.Builder
	if err := sim.Report(&b, results); err != nil {
		t.Fatal(err)
	}
	const want = `
calm at 5 calls/s, headers with the first token: 2 seeds of 1000 calls

policy   p90 TTFT 1s  99.9% answered  TTFT p50    p95    p99  p99.9  extra  errors  $/1000  rel.  regret
allowed       10.00%           0.10%
ontime   8.00±25.41%           0.00%     0.50s  0.90s  1.00s  2.00s  0.00%   0.00%  3.0000     -       -
cheap        20.00%!           0.00%     0.50s  0.90s  never  never  0.00%   0.00%  1.0000     -       -
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

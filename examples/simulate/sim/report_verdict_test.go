package sim_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
)

func TestSummarise(t *testing.T) {
	hedged := runs(sim.KindPeer, "hedged", 0.004, 0.8, 0.1)
	hedged.Hedges, hedged.Runs[0].Extra = true, 0.2
	failing := runs(sim.KindPeer, "failing", 0.001, 0.1, 0.1)
	failing.Runs[0].Errors = 0.001
	oracle := runs(sim.KindOracle, sim.OracleRegime, 0.001, 1, 0.05)
	peers := []sim.Series{hedged, failing, oracle, runs(sim.KindPeer, "plain", 0.002, 2, 0.1)}
	hang := sim.Place{Scenario: "hang", Rate: 5, Early: true}
	for _, c := range []struct {
		what     string
		at       sim.Place
		series   []sim.Series
		row      string
		standing sim.Standing
		value    float64
	}{
		// The hedged peer sends 0.2 more; ours may send 0.05 and a burst of 60 in 1000. The failing one fails.
		{"p99 2.1 s against 2 s", here, []sim.Series{runs(sim.KindOurs, sim.OursFast, 1, 2.1, 0)}, sim.RowTail, sim.Passed, 1.05},
		{"p99 2.2 s against 2 s", here, []sim.Series{runs(sim.KindOurs, sim.OursFast, 1, 2.2, 0)}, sim.RowTail, sim.Missed, 1.1},
		{"p99 of never", here, []sim.Series{runs(sim.KindOurs, sim.OursFast, 1, math.Inf(1), 0)}, sim.RowTail, sim.Missed, math.Inf(1)},
		{"half of 2 s", hang, []sim.Series{runs(sim.KindOurs, sim.OursFast, 1, 1, 0)}, sim.RowHang, sim.Passed, 0.5},
		{"more than half of it", hang, []sim.Series{runs(sim.KindOurs, sim.OursFast, 1, 1.2, 0)}, sim.RowHang, sim.Missed, 0.6},
		{"8% of 10% missed it", here, []sim.Series{runs(sim.KindOurs, sim.Ours, 0.002, 1, 0.08)}, sim.RowLayers, sim.Passed, 0.8},
		{"11% of 10% missed it", here, []sim.Series{runs(sim.KindOurs, sim.Ours, 0.002, 1, 0.11)}, sim.RowLayers, sim.Missed, 1.1},
		{"as dear as plain", here, []sim.Series{runs(sim.KindOurs, sim.Ours, 0.002, 1, 0.08)}, sim.RowCost, sim.Passed, 1},
		{"dearer", here, []sim.Series{runs(sim.KindOurs, sim.Ours, 0.0021, 1, 0.08)}, sim.RowCost, sim.Missed, 1.05},
	} {
		all := append(c.series, peers...)
		if c.row == sim.RowCost { // the failing one keeps its layers, but for one that calls are answered
			all[2].Runs[0].Miss = []float64{0.1, 0.002}
		}
		found := false
		for _, v := range sim.Summarise(sim.Compare(c.at, promise, all)) {
			if v.Row != c.row {
				continue
			}
			found = true
			if v.Standing != c.standing || v.Value != c.value && math.Abs(v.Value-c.value) > 1e-9 {
				t.Errorf("%s: %s %v (%s), want %s %v", c.what, v.Standing, v.Value, v.Words, c.standing, c.value)
			}
		}
		if !found {
			t.Errorf("%s: no verdict on %q", c.what, c.row)
		}
	}
}

func TestSummariseUntested(t *testing.T) {
	dear := runs(sim.KindPeer, "dear", 0.002, 2, 0.5)
	dear.Runs[0].Extra = 1
	verdicts := sim.Summarise(sim.Compare(here, promise, []sim.Series{
		runs(sim.KindOurs, sim.Ours, 0.002, 1, 0.08),
		runs(sim.KindOurs, sim.OursFast, 0.002, 1, 0.08),
		runs(sim.KindOracle, sim.OracleRegime, 0.001, 1, 0.05),
		dear,
	}))
	standing := map[string]sim.Standing{}
	for _, v := range verdicts {
		standing[v.Row] = v.Standing
	}
	if standing[sim.RowTail] != sim.Untested || standing[sim.RowCost] != sim.Untested || standing[sim.RowLayers] != sim.Passed {
		t.Errorf("got %v: no peer qualifies, so it is untested", standing)
	}
	var b strings.Builder
	if err := sim.WriteVerdicts(&b, verdicts); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(b.String(), "\n1 passed, 0 missed, 2 untested\n") {
		t.Errorf("got\n%s", b.String())
	}
}

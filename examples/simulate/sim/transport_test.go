package sim_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
)

// TestRunTransport plays the bare network, which is what the policy without failover
// does in the engine.
func TestRunTransport(t *testing.T) {
	w := world(t, "spike", 2, 2*time.Minute)
	bubble := func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
	got := sim.RunTransport(w, func(network http.RoundTripper) http.RoundTripper { return network }, bubble)
	want := sim.Run(w, first(t, w), nil)
	const slack = ms // TPOT is measured between events
	for i := range want {
		g, e := got[i], want[i]
		if g.TTFT != e.TTFT || g.Failed != e.Failed || g.Requests != 1 || (g.Total-e.Total).Abs() > slack || (g.TPOT-e.TPOT).Abs() > slack {
			t.Errorf("call %d: got %+v, the engine has %+v", i, g, e)
		}
		if d := g.Cost - e.Cost; d > 1e-9 || d < -1e-9 {
			t.Errorf("call %d costs %v, in the engine %v", i, g.Cost, e.Cost)
		}
	}
}

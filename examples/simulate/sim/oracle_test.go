package sim_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
)

// world makes a short run of a scenario.
func world(t *testing.T, scenario string, seed uint64, length time.Duration) *sim.World {
	t.Helper()
	s, err := sim.Find(scenario)
	if err != nil {
		t.Fatal(err)
	}
	return sim.NewWorld(s, sim.Conditions{Seed: seed, Rate: 5, Early: seed%2 == 0, Length: length})
}

func TestNoPolicyBeatsTheClairvoyant(t *testing.T) {
	for i, s := range sim.Scenarios() {
		w := world(t, s.Name, uint64(i), 3*time.Minute)
		best := sim.Clairvoyant(w)
		check := func(name string, n sim.Numbers) {
			for j, miss := range n.Miss {
				if miss < best.Miss[j]-1e-9 {
					t.Errorf("%s: %s misses %.4f of layer %d, the clairvoyant %.4f", s.Name, name, miss, j, best.Miss[j])
				}
			}
		}
		for _, r := range sim.Rivals() {
			policy, hedge := r.Make(sim.Setting{Targets: w.Targets(), Budget: w.Budget(), Seed: 1})
			check(r.Name, sim.Measure(w.Budget(), sim.Run(w, policy, hedge)))
		}
		if i%4 == 0 { // it takes its time
			policy, hedge := sim.Regime(w, 1)
			check(sim.OracleRegime, sim.Measure(w.Budget(), sim.Run(w, policy, hedge)))
		}
		check(sim.OracleStatic, sim.Measure(w.Budget(), sim.BestStatic(w, 1)))
	}
}

// TestRegimeKeepsWhatCanBeKept checks the oracle against what is known of scenarios.
func TestRegimeKeepsWhatCanBeKept(t *testing.T) {
	for _, name := range []string{"calm", "hang", "chats"} {
		w := world(t, name, 3, 20*time.Minute)
		policy, hedge := sim.Regime(w, 1)
		n := sim.Measure(w.Budget(), sim.Run(w, policy, hedge))
		layers := w.Budget().Layers()
		for j, l := range layers {
			if n.Miss[j] > l.Allowed() {
				t.Errorf("%s: %.4f miss %v", name, n.Miss[j], l)
			}
		}
		if n.Errors > 0.001 {
			t.Errorf("%s: %.4f of the calls fail", name, n.Errors)
		}
		if may := w.Budget().HedgeShare(); n.Hedged > may*1.1 {
			t.Errorf("%s: %.4f of the calls are hedged, more than %v", name, n.Hedged, may)
		}
		static := sim.Measure(w.Budget(), sim.BestStatic(w, 1))
		if name == "calm" && n.Cost > static.Cost {
			t.Errorf("calm: the regime oracle pays %v for a call, a fixed mix that keeps all %v", n.Cost, static.Cost)
		}
	}
}

// TestRegimeKeepsTheHedgeAllowance does so where no hedge is enough.
func TestRegimeKeepsTheHedgeAllowance(t *testing.T) {
	for _, name := range []string{"everyone", "infeasible"} {
		w := world(t, name, 3, 5*time.Minute)
		policy, hedge := sim.Regime(w, 1)
		n := sim.Measure(w.Budget(), sim.Run(w, policy, hedge))
		if may := w.Budget().HedgeShare() + 21/float64(n.Calls); n.Hedged > may {
			t.Errorf("%s: %.4f of the calls are hedged, more than %.4f", name, n.Hedged, may)
		}
	}
}

func TestBestStatic(t *testing.T) {
	w := world(t, "calm", 1, 20*time.Minute)
	n := sim.Measure(w.Budget(), sim.BestStatic(w, 1))
	cheapest := sim.Measure(w.Budget(), sim.Run(w, first(t, w), nil))
	if n.Cost < cheapest.Cost {
		t.Errorf("a mix costs %v a call, the cheapest target %v", n.Cost, cheapest.Cost)
	}
	for j, l := range w.Budget().Layers() {
		if n.Miss[j] > 1.2*l.Allowed() {
			t.Errorf("%.4f miss %v, which one target alone keeps", n.Miss[j], l)
		}
	}
}

// first is the policy that uses the first, cheapest target.
func first(t *testing.T, w *sim.World) sim.Policy {
	for _, r := range sim.Rivals() {
		if r.Name == "failover" {
			p, _ := r.Make(sim.Setting{Targets: w.Targets(), Budget: w.Budget()})
			return p
		}
	}
	t.Fatal("no such rival")
	return nil
}

package main

import (
	"math"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
)

// TestModelIsLikeTheRealOne holds our model of a hedging transport against failsafe-go.
// They differ in how they estimate the p95, so the numbers are near, not the same.
func TestModelIsLikeTheRealOne(t *testing.T) {
	s, err := sim.Find("brownout")
	if err != nil {
		t.Fatal(err)
	}
	for _, early := range []bool{false, true} {
		w := sim.NewWorld(s, sim.Conditions{Seed: 1, Rate: 5, Early: early, Length: 10 * time.Minute})
		of := map[string]sim.Numbers{}
		for _, c := range contestants() {
			if c.Kind == sim.KindPeer {
				of[c.Policy] = sim.Measure(w.Budget(), c.play(w, bubble(t)))
			}
		}
		for real, model := range map[string]string{
			"failsafe-go":              "model: single +hedge@headers",
			"failsafe-go, next target": "model: failover +hedge@headers",
		} {
			r, m := of[real], of[model]
			for j := range m.Miss {
				if math.Abs(r.Miss[j]-m.Miss[j]) > 0.01 {
					t.Errorf("early headers %v, %s: %.4f of the calls miss layer %d, our model says %.4f", early, real, r.Miss[j], j, m.Miss[j])
				}
			}
			if math.Abs(r.Extra-m.Extra) > 0.03 {
				t.Errorf("early headers %v, %s: %.4f more requests, our model says %.4f", early, real, r.Extra, m.Extra)
			}
		}
	}
}

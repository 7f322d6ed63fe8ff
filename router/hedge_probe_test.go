package router_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// A probe may fail or be slow: the caller is not to suffer.
func TestAProbeIsHedgedAtOnce(t *testing.T) {
	in(t, two(tails), func(w world) {
		w.fails("a", 5)
		time.Sleep(20 * time.Second)
		p := w.Plan(chat)
		if !p.Choices[0].Probe() || p.Choices[0].Target != "a" {
			t.Fatalf("%s, want a probe of a", p.Reason())
		}
		if got := p.Reason(); !matches("a probe.*; hedge to b at once$", got) {
			t.Errorf("reason %q", got)
		}
		f, err := w.Start(p.Choices[0], chat)
		if err != nil {
			t.Fatal(err)
		}
		h := p.Hedge(f, 0)
		if p.HedgeFrom != 1 || h.At != 0 || h.Choice.Target != "b" || h.Again <= 0 {
			t.Errorf("from %v: %+v, want b at once", p.HedgeFrom, h)
		}
		other, err := w.Start(h.Choice, chat)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * ms)
		other.Content(200 * ms)
		// It has lost, and nothing is known of its route: the next one is not at once.
		w.Report(router.Report{Flight: f, Outcome: router.Lost})
		if next := w.Plan(chat); next.Choices[0].Probe() {
			t.Error("another probe follows at once")
		}
		time.Sleep(2 * p.Choices[0].Abandon)
		if next := w.Plan(chat); !next.Choices[0].Probe() {
			t.Error("no other probe follows")
		}
	})
}

// A probe that has lost may be left under way to find out after all.
func TestAProbeThatLostMayStillDoWell(t *testing.T) {
	in(t, two(tails), func(w world) {
		w.fails("a", 5)
		time.Sleep(20 * time.Second)
		p := w.Plan(chat)
		f, _ := w.Start(p.Choices[0], chat)
		other, _ := w.Start(p.Hedge(f, 0).Choice, chat)
		time.Sleep(200 * ms)
		other.Content(200 * ms)
		time.Sleep(200 * ms)
		f.Content(400 * ms)
		w.Report(router.Report{Flight: f, Outcome: router.Lost})
		w.state("a", router.StateOK)
	})
}

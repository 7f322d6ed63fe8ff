package main

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
	"github.com/ontime-llm/ontime/internal/progress"
)

func TestPlay(t *testing.T) {
	o, err := parseOptions(strings.Fields("-scenario calm,hang -rate 5,50 -headers both -seeds 2 -calls 40 -policy ontime,round,clairvoyant"))
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	results, err := play(o, bubbles(t), progress.NewOn(&shown, true, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	// Two ways of ours, three of round robin and an oracle at 2 x 2 x 2 places.
	if len(results) != 6*8 {
		t.Errorf("%d results, want 48", len(results))
	}
	for _, r := range results {
		if r.Seeds != 2 || r.Calls != 40 {
			t.Errorf("%+v", r)
		}
	}
	if !strings.HasSuffix(shown.String(), "\r\x1b[K") {
		t.Errorf("the bar is left standing: %q", shown.String())
	}
}

// The order in which runs are played changes nothing.
func TestPlayAgain(t *testing.T) {
	o, err := parseOptions(strings.Fields("-scenario brownout -seeds 1 -calls 300 -policy ontime"))
	if err != nil {
		t.Fatal(err)
	}
	var first, again bytes.Buffer
	for _, to := range []*bytes.Buffer{&first, &again} {
		results, err := play(o, bubbles(t), progress.NewOn(&bytes.Buffer{}, false, "runs"))
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.WriteJSON(to, results); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != again.String() {
		t.Errorf("%s\nand then\n%s", first.String(), again.String())
	}
}

func TestFull(t *testing.T) {
	o, err := parseOptions([]string{"-full", "-seeds", "7"})
	if err != nil || o.seeds != 7 || o.calls != 0 || len(o.rates) != 3 || len(o.early) != 2 {
		t.Errorf("%+v, %v", o, err)
	}
	ways := 0
	for _, c := range contestants(&o, nil) {
		if c.Kind == sim.KindOurs {
			ways++
		}
	}
	if ways != len(sim.OurWays()) {
		t.Errorf("%d of our ways are played", ways)
	}
}

func TestWrongOptions(t *testing.T) {
	for _, args := range []string{"-scenario none", "-rate 0", "-rate x", "-headers x", "-seeds 0", "-calls -1", "more", "-trace no.csv"} {
		if _, err := parseOptions(strings.Fields(args)); err == nil || errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

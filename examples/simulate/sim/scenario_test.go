package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestScenarios(t *testing.T) {
	var names []string
	for _, s := range Scenarios() {
		if slices.Contains(names, s.Name) {
			t.Errorf("there are two scenarios %q", s.Name)
		}
		names = append(names, s.Name)
		if err := s.Promise().Validate(); err != nil || s.Words == "" {
			t.Errorf("%s: %v, %q", s.Name, err, s.Words)
		}
		w := NewWorld(s, Conditions{Rate: 5})
		for target := range w.sites {
			var last time.Duration // troubles of a target do not overlap
			for _, x := range s.Troubles {
				if !x.strikes(w.sites, target) {
					continue
				}
				spans := x.spans(w.length)
				if spans[0].from < last {
					t.Errorf("%s: two troubles of target %d at once", s.Name, target)
				}
				last = spans[len(spans)-1].until
			}
		}
	}
	if _, err := Find("no such"); err == nil {
		t.Error("a scenario was found that there is not")
	}
}

func TestSpans(t *testing.T) {
	flap := Trouble{From: 0.2, Until: 0.5, Every: 0.1, Effect: Effect{Hang: true}}
	on := Effect{Hang: true}
	want := []span{{20 * time.Second, 30 * time.Second, on}, {40 * time.Second, 50 * time.Second, on}}
	if diff := cmp.Diff(want, flap.spans(100*time.Second), cmp.AllowUnexported(span{})); diff != "" {
		t.Error(diff)
	}
	drift := Trouble{From: 0.2, Until: 0.7, Drift: true, Effect: Effect{Slow: 3}}
	spans := drift.spans(100 * time.Second)
	if n := len(spans); n != 50 || spans[0].from != 20*time.Second || spans[49].until != 70*time.Second {
		t.Fatalf("a drift has %d steps: %v", n, spans)
	}
	for i := range 25 { // 1.04, 1.12 ... 2.96 and down again
		want := 1 + 2*(float64(i)+0.5)/25
		if up, down := spans[i].effect.Slow, spans[49-i].effect.Slow; abs(up-want) > 1e-9 || abs(down-want) > 1e-9 {
			t.Errorf("step %d: %v up and %v down, want %v", i, up, down, want)
		}
	}
}

func TestMoments(t *testing.T) {
	s := Scenario{Name: "test", Troubles: []Trouble{{Who: Cheapest, From: 0.2, Until: 0.6, Every: 0.1, Effect: Effect{Slow: 2}}}}
	w := NewWorld(s, Conditions{Rate: 5, Length: 100 * time.Second})
	at := func(seconds time.Duration) uint64 { return w.Moment(0, seconds*time.Second) }
	if at(10) != at(35) || at(25) != at(45) || at(10) == at(25) || at(19) == at(20) || at(99) != at(10) {
		t.Errorf("moments: %d %d %d %d", at(10), at(25), at(35), at(45))
	}
	if until := w.Until(0, 20*time.Second); until != 30*time.Second {
		t.Errorf("a moment ends at %v, want 30s", until)
	}
	if w.Until(0, 50*time.Second) != never || w.Until(1, 0) != never {
		t.Error("the last moment ends")
	}
}

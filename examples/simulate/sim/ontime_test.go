package sim

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func bubble(t *testing.T) func(func()) {
	return func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }
}

// No call of our client is lost, whatever happens, what it measures is what the world had
// for it, and it is no better than who knows the future.
func TestOursInEveryScenario(t *testing.T) {
	for _, s := range Scenarios() {
		for _, early := range []bool{true, false} {
			w := NewWorld(s, Conditions{Seed: 1, Rate: 5, Early: early, Length: 24 * time.Second})
			outcomes, err := RunOurs(w, OurWays()[0], bubble(t))
			if err != nil || len(outcomes) != 120 {
				t.Fatalf("%s: %d outcomes of 120 calls: %v", s.Name, len(outcomes), err)
			}
			for i := range outcomes {
				checkOutcome(t, w, i, &outcomes[i])
			}
			best, ours := Clairvoyant(w), Measure(w.Budget(), outcomes)
			for j, miss := range ours.Miss {
				if miss < best.Miss[j]-1e-9 {
					t.Errorf("%s: ours misses %.4f of layer %d, the clairvoyant %.4f", s.Name, miss, j, best.Miss[j])
				}
			}
		}
	}
}

func checkOutcome(t *testing.T, w *World, i int, o *Outcome) {
	t.Helper()
	c := &w.calls[i]
	switch name := w.scenario.Name; {
	case o.Requests == 0 && !o.Failed, o.Hedged && o.Requests < 2:
		t.Errorf("%s: call %d: %+v", name, i, *o)
	case o.Failed:
		if slices.Contains([]string{"calm", "spike", "long", "infeasible", "stall"}, name) {
			t.Errorf("%s: call %d failed: %+v", name, i, *o)
		}
	case o.TTFT <= 0 || o.Total < o.TTFT || o.TPOT <= 0 || o.Cost <= 0 || o.Target < 0:
		t.Errorf("%s: call %d: %+v", name, i, *o)
	case o.Requests == 1 && c.Conversation == 0:
		r := w.Reply(c, o.Target, 0, c.At, 0)
		tpot := (r.Total - r.TTFT) / time.Duration(r.Output-1)
		if o.TTFT != r.TTFT || o.Total != r.Total || o.TPOT != tpot || o.Cost != w.Cost(c, o.Target, &r, r.Total) {
			t.Errorf("%s: call %d: %+v of %+v", name, i, *o, r)
		}
	}
}

// The same seed gives the same run.
func TestOursAgain(t *testing.T) {
	w := NewWorld(scenarioOf(t, "errors"), Conditions{Seed: 1, Rate: 5, Length: time.Minute})
	first, err := RunOurs(w, OurWays()[0], bubble(t))
	if err != nil {
		t.Fatal(err)
	}
	again, _ := RunOurs(w, OurWays()[0], bubble(t))
	if !slices.Equal(first, again) {
		t.Error("the second run came to something else")
	}
}

// The messages of a conversation begin with those of its last call, and have as many
// tokens as the world says.
func TestBodies(t *testing.T) {
	w := NewWorld(scenarioOf(t, "chats"), Conditions{Seed: 1, Rate: 5, Length: time.Minute})
	bodies, last := newBodies(), make(map[int]string)
	for i := range w.calls {
		c := &w.calls[i]
		body := string(bodies.of(c))
		if n := len(body) / bytesPerToken; n < c.Prompt || n > c.Prompt+200 {
			t.Fatalf("%d tokens make %d bytes", c.Prompt, len(body))
		}
		if before := last[c.Conversation]; c.Shared > 0 && body[:len(before)-len("]}")] != before[:len(before)-len("]}")] {
			t.Fatalf("call %d does not begin with what its conversation's last call had", i)
		}
		last[c.Conversation] = body
	}
}

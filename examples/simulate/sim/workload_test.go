package sim

import (
	"math"
	"testing"
	"time"
)

func TestArrivals(t *testing.T) {
	for even, cv := range map[bool]float64{true: 1, false: arrivalCV} {
		w := NewWorld(Scenario{Name: "test", Load: Load{Even: even}}, Conditions{Seed: 5, Rate: 50, Length: 20 * time.Minute})
		n := float64(len(w.calls)) // 60,000
		var sum, squares float64
		before := time.Duration(0)
		for _, c := range w.calls {
			gap := (c.At - before).Seconds()
			before = c.At
			sum += gap
			squares += gap * gap
		}
		mean := sum / n
		if n != 60_000 || math.Abs(mean*50-1) > 0.03 {
			t.Errorf("even %v: %v calls with a mean gap of %v s, want 0.02", even, n, mean)
		}
		if got := math.Sqrt(squares/n-mean*mean) / mean; math.Abs(got/cv-1) > 0.05 {
			t.Errorf("even %v: the gaps have a coefficient of variation of %.3f, want %v", even, got, cv)
		}
	}
}

func TestTokenCounts(t *testing.T) {
	w := NewWorld(Scenario{Name: "test"}, Conditions{Seed: 5, Rate: 50, Length: 20 * time.Minute})
	var in, out float64
	for _, c := range w.calls {
		in += math.Log(float64(c.Prompt))
		out += math.Log(float64(c.Output))
	}
	n := float64(len(w.calls))
	// The cap at 1,024 tokens lowers the mean of 5.02 by 0.01.
	if math.Abs(in/n-6.63) > 0.02 || math.Abs(out/n-5.01) > 0.02 {
		t.Errorf("the logarithms of prompts and answers have means of %.3f and %.3f, want 6.63 and 5.01", in/n, out/n)
	}
}

func TestConversations(t *testing.T) {
	w := NewWorld(Scenario{Name: "test", Load: Load{Conversations: 0.8}}, Conditions{Seed: 5, Rate: 5, Length: 20 * time.Minute})
	last := make(map[int]Call)
	on := 0
	for _, c := range w.calls {
		before, goesOn := last[c.Conversation]
		if goesOn {
			on++
		}
		if c.Conversation == 0 || c.Shared != before.Prompt || goesOn && c.Prompt < min(maxPrompt, before.Prompt+before.Output) {
			t.Fatalf("%+v after %+v", c, before)
		}
		last[c.Conversation] = c
	}
	if share := float64(on) / float64(len(w.calls)); math.Abs(share-0.78) > 0.04 { // the first ones begin
		t.Errorf("%.2f of the calls go on with a conversation", share)
	}
}

func TestLongPrompts(t *testing.T) {
	s := Scenario{Name: "test", Load: Load{LongFrom: 0.5, LongUntil: 1, LongShare: 0.3, Long: 24000}}
	w := NewWorld(s, Conditions{Seed: 5, Rate: 50, Length: time.Minute})
	var long [2]int
	for _, c := range w.calls {
		if c.Prompt == 24000 {
			long[min(1, c.At/(30*time.Second))]++
		}
	}
	if long[0] > 0 || long[1] < 380 || long[1] > 520 { // 0.3 of 1,500, sd 18
		t.Errorf("%v long prompts in the two halves, want 0 and about 450", long)
	}
}

package sim

import (
	"math"
	"net/http"
	"testing"
	"time"
)

func TestTokens(t *testing.T) {
	// Tokens at 100, 110, 120, then after a pause at 180 and 190 ms.
	r := Reply{Status: http.StatusOK, TTFT: 100 * ms, Total: 190 * ms, Output: 5, Stall: 50 * ms, StallAt: 4}
	for i, want := range []time.Duration{100 * ms, 110 * ms, 120 * ms, 180 * ms, 190 * ms} {
		if got := r.token(i + 1); got != want {
			t.Errorf("token %d comes at %v, want %v", i+1, got, want)
		}
	}
	for age, want := range map[time.Duration]int{
		0: 0, 99 * ms: 0, 100 * ms: 1, 109 * ms: 1, 110 * ms: 2, 120 * ms: 3, 150 * ms: 3, 179 * ms: 3,
		180 * ms: 4, 189 * ms: 4, 190 * ms: 5, time.Second: 5,
	} {
		if got := r.came(age); got != want {
			t.Errorf("by %v %d tokens have come, want %d", age, got, want)
		}
	}
}

func TestCost(t *testing.T) {
	w := NewWorld(Scenario{Name: "test"}, Conditions{Seed: 1, Rate: 1, Length: time.Minute})
	call := &Call{Prompt: 1000, Output: 5}
	answer := Reply{Status: http.StatusOK, TTFT: 100 * ms, Total: 140 * ms, Output: 5, Cached: 400}
	tests := []struct {
		name  string
		reply Reply
		age   time.Duration
		want  float64 // at 0.15, 0.075 and 0.60 USD per million tokens
	}{
		{"whole", answer, 140 * ms, (600*0.15 + 400*0.075 + 5*0.60) / 1e6},
		{"cancelled after two tokens", answer, 115 * ms, (600*0.15 + 400*0.075 + 2*0.60) / 1e6},
		{"cancelled before the first", answer, 50 * ms, (600*0.15 + 400*0.075) / 1e6},
		{"refused", Reply{Status: 500, Failed: true, Total: 60 * ms}, 60 * ms, 0},
		{"hung", Reply{Status: http.StatusOK}, time.Minute, 1000 * 0.15 / 1e6},
	}
	for _, tt := range tests {
		if got := w.Cost(call, 0, &tt.reply, tt.age); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %g USD, want %g", tt.name, got, tt.want)
		}
	}
}

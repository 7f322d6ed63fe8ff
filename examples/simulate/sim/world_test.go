package sim

import (
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func scenarioOf(t testing.TB, name string) Scenario {
	t.Helper()
	s, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What a request meets does not depend on what was sent before.
func TestSameLuck(t *testing.T) {
	w := NewWorld(scenarioOf(t, "brownout"), Conditions{Seed: 1, Rate: 5, Length: time.Minute})
	other := NewWorld(scenarioOf(t, "brownout"), Conditions{Seed: 2, Rate: 5, Length: time.Minute})
	calls := w.Calls()
	met := make(map[int]Reply)
	state := w.NewState()
	for i := range calls {
		met[i] = state.Meet(&calls[i], i%4, 0, calls[i].At)
	}
	state = w.NewState()
	same := 0
	for i := len(calls) - 1; i >= 0; i-- { // the other way round, and others between
		state.Meet(&calls[i], (i+1)%4, 0, calls[i].At)
		got := state.Meet(&calls[i], i%4, 0, calls[i].At)
		if diff := cmp.Diff(met[i], got); diff != "" {
			t.Fatalf("call %d: %s", i, diff)
		}
		if again := state.Meet(&calls[i], i%4, 1, calls[i].At); again == got {
			t.Errorf("call %d: its second request to a target had the luck of the first", i)
		}
		if other.Reply(&calls[i], i%4, 0, calls[i].At, 0) == got {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d calls have the same luck with another seed", same)
	}
}

// A trouble changes the requests that it strikes, and no other.
func TestTroubleMovesNoOtherDraw(t *testing.T) {
	quiet := Scenario{Name: "test"}
	loud := Scenario{Name: "test", Troubles: []Trouble{{Who: Cheapest, From: 0.5, Until: 1, Effect: Effect{Share: 0.35, Slow: 8}}}}
	c := Conditions{Seed: 1, Rate: 50, Length: time.Minute, Early: true}
	a, b := NewWorld(quiet, c), NewWorld(loud, c)
	if diff := cmp.Diff(a.Calls(), b.Calls()); diff != "" {
		t.Fatal(diff)
	}
	struck, late := 0, 0
	for i, call := range a.Calls() {
		for target := range a.Targets() {
			calm, now := a.Reply(&call, target, 0, call.At, 0), b.Reply(&call, target, 0, call.At, 0)
			switch {
			case calm == now:
			case target != 0 || call.At < 30*time.Second:
				t.Fatalf("call %d to %d: %+v became %+v", i, target, calm, now)
			case now.TTFT != 8*calm.TTFT:
				t.Fatalf("call %d: a TTFT of %v became %v", i, calm.TTFT, now.TTFT)
			default:
				struck++
			}
		}
		if call.At >= 30*time.Second {
			late++
		}
	}
	if share := float64(struck) / float64(late); share < 0.30 || share > 0.40 { // 1,500 calls: sd 1.2%
		t.Errorf("%.3f of the calls were struck, want 0.35", share)
	}
}

// The built-in targets have the percentiles that were published for short prompts.
func TestPublishedPercentiles(t *testing.T) {
	published := map[string][3]float64{ // p50, p95, p99 in ms; README of the measurements of 2025
		"openai-us": {536, 844, 4461},
		"gemini":    {477, 776, 1309},
		"anthropic": {541, 1591, 4117},
	}
	w := NewWorld(Scenario{Name: "test"}, Conditions{Seed: 3, Rate: 1, Length: 100 * time.Hour})
	call := Call{Prompt: 0, Output: 10}
	for target, x := range w.Targets() {
		want, ok := published[x.Name]
		if !ok {
			continue
		}
		var times []float64
		for i := range 300_000 {
			call.Number = i
			r := w.Reply(&call, target, 0, time.Duration(i)*(w.Length()/300_000), 0)
			times = append(times, r.TTFT.Seconds()*1000)
		}
		slices.Sort(times)
		for i, q := range []float64{0.50, 0.95, 0.99} {
			if got := rank(times, q); math.Abs(got/want[i]-1) > 0.04 {
				t.Errorf("%s: p%v is %.0f ms, published is %.0f", x.Name, 100*q, got, want[i])
			}
		}
	}
}

func TestLimit(t *testing.T) {
	s := Scenario{Name: "test", Troubles: []Trouble{{Who: Cheapest, Until: 1, Effect: Effect{Limit: 0.3}}}}
	w := NewWorld(s, Conditions{Seed: 1, Rate: 5, Length: time.Minute})
	state, call := w.NewState(), &w.Calls()[0]
	at := 12 * time.Second
	for n := range 15 { // 0.3 of 5 calls/s in 10 s
		if r := state.Meet(call, 0, n, at); r.Status != http.StatusOK || r.Limit != 15 || r.Left != 14-n || r.Reset != 8*time.Second {
			t.Fatalf("request %d: %+v", n, r)
		}
	}
	if r := state.Meet(call, 0, 15, at); r.Status != http.StatusTooManyRequests || !r.Failed || r.TTFT != 0 || r.Reset != 8*time.Second {
		t.Errorf("above the limit: %+v", r)
	}
	if r := state.Meet(call, 1, 0, at); r.Status != http.StatusOK || r.Limit != 0 {
		t.Errorf("another target: %+v", r)
	}
	if r := state.Meet(call, 0, 16, 20*time.Second); r.Status != http.StatusOK {
		t.Errorf("in the next window: %+v", r)
	}
}

func TestPromptCache(t *testing.T) {
	w := NewWorld(Scenario{Name: "test"}, Conditions{Seed: 1, Rate: 1, Length: time.Minute})
	state := w.NewState()
	first := &Call{Number: 1, Prompt: 1000, Output: 100, Conversation: 7}
	next := &Call{Number: 2, Prompt: 1500, Output: 100, Conversation: 7, Shared: 1000}
	if r := state.Meet(first, 0, 0, 0); r.Cached != 0 {
		t.Errorf("the first call has %d tokens cached", r.Cached)
	}
	cold, warm := state.Meet(next, 1, 0, time.Minute), state.Meet(next, 0, 0, time.Minute)
	if cold.Cached != 0 || warm.Cached != 1000 {
		t.Errorf("cached are %d and %d tokens, want 0 and 1000", cold.Cached, warm.Cached)
	}
	plain := w.Reply(next, 0, 0, time.Minute, 0)
	if saved := plain.TTFT - warm.TTFT; saved != 60*time.Millisecond { // 1000 tokens
		t.Errorf("a cached prompt of 1000 tokens saves %v", saved)
	}
	if n := state.Cached(next, 0, 6*time.Minute+time.Second); n != 0 {
		t.Errorf("%d tokens are cached after more than 5 minutes", n)
	}
}

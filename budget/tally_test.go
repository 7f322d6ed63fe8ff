package budget_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// layered has every kind of layer: 0, 1 TTFT; 2, 3 TPOT; 4, 5 total; 6 answered.
var layered = budget.Budget{
	TTFT:  budget.Layers{95: 600 * ms, 99: 4 * time.Second},
	TPOT:  budget.Layers{50: 50 * ms, 99: 100 * ms},
	Total: budget.Layers{50: 2 * time.Second, 95: 10 * time.Second},
}

// verdicts shows each layer of a ledger that one call was entered in: kept "+",
// missed "-", no verdict ".", judged more than once "!".
func verdicts(l *budget.Ledger) string {
	var b strings.Builder
	for _, s := range l.Status() {
		switch {
		case s.Calls == 0:
			b.WriteByte('.')
		case s.Calls > 1 || s.Missed > s.Calls:
			b.WriteByte('!')
		case s.Missed == 1:
			b.WriteByte('-')
		default:
			b.WriteByte('+')
		}
	}
	return b.String()
}

func TestTally(t *testing.T) {
	const sec = time.Second
	for name, c := range map[string]struct {
		whole bool // not streamed
		call  func(t *budget.Tally)
		want  string // two TTFT, two TPOT, two total, answered
	}{
		"nothing yet": {call: func(t *budget.Tally) {}, want: "......."},
		"all kept": {
			call: func(t *budget.Tally) { t.Content(100 * ms); t.Completed(10*ms, sec) },
			want: "+++++++",
		},
		"limits are inclusive": {
			call: func(t *budget.Tally) { t.Waiting(600 * ms); t.Content(600 * ms); t.Completed(50*ms, 2*sec) },
			want: "+++++++",
		},
		"just past the lower limits": {
			call: func(t *budget.Tally) { t.Content(600*ms + 1); t.Completed(50*ms+1, 2*sec+1) },
			want: "-+-+-++",
		},
		"just past all limits": {
			call: func(t *budget.Tally) { t.Content(4*sec + 1); t.Completed(100*ms+1, 10*sec+1) },
			want: "------+",
		},
		"waiting": {
			call: func(t *budget.Tally) { t.Waiting(600*ms + 1) },
			want: "-......",
		},
		"waiting for long": {
			call: func(t *budget.Tally) { t.Waiting(5 * sec); t.Waiting(5 * sec) },
			want: "--..-..",
		},
		"late content after waiting": {
			call: func(t *budget.Tally) { t.Waiting(sec); t.Content(1500 * ms) },
			want: "-+.....",
		},
		"content counts once": {
			call: func(t *budget.Tally) { t.Content(100 * ms); t.Content(5 * sec); t.Waiting(sec) },
			want: "++.....",
		},
		"no TPOT": {
			call: func(t *budget.Tally) { t.Content(100 * ms); t.Completed(0, sec) },
			want: "++..+++",
		},
		"completed without content": {
			call: func(t *budget.Tally) { t.Completed(0, 3*sec) },
			want: "-...-++",
		},
		"failed at once": {
			call: func(t *budget.Tally) { t.Failed() },
			want: "-------",
		},
		"failed after content": {
			call: func(t *budget.Tally) { t.Content(100 * ms); t.Failed() },
			want: "++-----",
		},
		"cancelled at once": {
			call: func(t *budget.Tally) { t.Cancelled() },
			want: ".......",
		},
		"cancelled while waiting": {
			call: func(t *budget.Tally) { t.Waiting(sec); t.Cancelled() },
			want: "-......",
		},
		"nothing after completion": {
			call: func(t *budget.Tally) { t.Content(100 * ms); t.Completed(0, sec); t.Failed(); t.Waiting(20 * sec) },
			want: "++..+++",
		},
		"nothing after a failure": {
			call: func(t *budget.Tally) { t.Failed(); t.Content(0); t.Completed(1, 1); t.Failed() },
			want: "-------",
		},
		"nothing after cancelling": {
			call: func(t *budget.Tally) { t.Cancelled(); t.Content(0); t.Completed(1, 1); t.Failed() },
			want: ".......",
		},
		"not streamed": {
			whole: true,
			call:  func(t *budget.Tally) { t.Waiting(3 * sec); t.Content(3 * sec); t.Completed(10*ms, 3*sec) },
			want:  "....-++",
		},
		"not streamed, failed": {
			whole: true,
			call:  func(t *budget.Tally) { t.Failed() },
			want:  "....---",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := budget.NewLedger(layered)
			call := l.Tally(!c.whole)
			c.call(&call)
			if got := verdicts(l); got != c.want {
				t.Errorf("verdicts %s, want %s", got, c.want)
			}
		})
	}
}

// The ages that Next names on a call that hangs, and what is missed at each.
func TestNext(t *testing.T) {
	l := budget.NewLedger(layered)
	call := l.Tally(true)
	for i, want := range []struct {
		at     time.Duration
		missed string
	}{
		{600*ms + 1, "-......"},
		{2*time.Second + 1, "-...-.."},
		{4*time.Second + 1, "--..-.."},
		{10*time.Second + 1, "--..--."},
	} {
		at, ok := call.Next(0)
		if !ok || at != want.at {
			t.Fatalf("Next %d = %v, %v, want %v", i, at, ok, want.at)
		}
		call.Waiting(at - 1)
		if again, _ := call.Next(at - 1); again != at {
			t.Fatalf("Next %d changed to %v before its time", i, again)
		}
		call.Waiting(at)
		if got := verdicts(l); got != want.missed {
			t.Fatalf("at %v: verdicts %s, want %s", at, got, want.missed)
		}
	}
	if at, ok := call.Next(time.Minute); ok {
		t.Errorf("Next = %v with nothing left to miss", at)
	}
}

func TestNextAfterContent(t *testing.T) {
	l := budget.NewLedger(layered)
	call := l.Tally(true)
	call.Content(100 * ms)
	if at, ok := call.Next(100 * ms); !ok || at != 2*time.Second+1 {
		t.Errorf("Next = %v, %v, want the total limit of 2s", at, ok)
	}
	// A limit that passed unnoticed is due now.
	if at, ok := call.Next(3 * time.Second); !ok || at != 3*time.Second {
		t.Errorf("Next = %v, %v, want now", at, ok)
	}
	call.Cancelled()
	if at, ok := call.Next(0); ok {
		t.Errorf("Next = %v after the end", at)
	}
}

func TestNextOfEndlessLimit(t *testing.T) {
	l := budget.NewLedger(budget.Budget{TTFT: budget.Layers{95: math.MaxInt64}})
	call := l.Tally(true)
	if at, ok := call.Next(0); ok {
		t.Errorf("Next = %v for a limit that no call can pass", at)
	}
}

func TestZeroTally(t *testing.T) {
	var call budget.Tally
	call.Waiting(time.Hour)
	call.Content(time.Hour)
	if _, ok := call.Next(0); ok {
		t.Error("the zero Tally waits for something")
	}
	call.Completed(time.Hour, time.Hour)
	call.Failed()
}

// A cap that ends an answer is counted once the call is known to have one, and no
// layer is missed by it.
func TestTruncated(t *testing.T) {
	l := budget.NewLedger(budget.Budget{Total: budget.Layers{95: time.Second}})
	for _, starved := range []bool{true, false, false} {
		tally := l.Tally(true)
		tally.Truncated(starved)
		tally.Completed(0, time.Second)
		tally.Truncated(true) // too late
	}
	new(budget.Tally).Truncated(true)
	if all, starved := l.Truncated(); all != 3 || starved != 1 {
		t.Errorf("%d answers were truncated, %d of them starved; want 3, 1", all, starved)
	}
	for _, s := range l.Status() {
		if s.Calls != 3 || s.Missed != 0 {
			t.Errorf("%v: %d of %d missed, want 0 of 3", s.Layer, s.Missed, s.Calls)
		}
	}
}

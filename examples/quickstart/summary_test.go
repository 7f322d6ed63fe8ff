package main

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/middleware"
)

var errLost = errors.New("lost")

// took are answers that began after so many milliseconds; 0 stands for a failure.
func took(firsts ...time.Duration) []answer {
	var answers []answer
	for n, first := range firsts {
		a := answer{n: n, first: first * ms}
		if first == 0 {
			a.err = errLost
		}
		answers = append(answers, a)
	}
	return answers
}

func TestPercentile(t *testing.T) {
	tests := []struct {
		name    string
		answers []answer
		q       float64
		want    time.Duration
	}{
		{"none", nil, 0.5, 0},
		{"one", took(70), 0.99, 70 * ms},
		{"lower median", took(40, 10, 30, 20), 0.5, 20 * ms}, // rank ceil(0.5*4) = 2 of 10 20 30 40
		{"p95 of four is the last", took(40, 10, 30, 20), 0.95, 40 * ms},
		{"failures are last", took(10, 0, 20, 30), 0.75, 30 * ms},
		{"a failure never began", took(10, 0, 20, 30), 0.95, math.MaxInt64},
	}
	for _, tt := range tests {
		if got := percentile(tt.answers, tt.q); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWithin(t *testing.T) {
	answers := took(10, 20, 30, 40)
	got := within(answers, period{from: 1, to: 3})
	if len(got) != 2 || got[0].n != 1 || got[1].n != 2 {
		t.Errorf("calls 1 and 2 are expected, not %v", got)
	}
	if len(answers) != 4 || answers[3].n != 3 {
		t.Error("the answers themselves have changed")
	}
}

func TestTraffic(t *testing.T) {
	answers := []answer{
		{call: &middleware.Call{Target: "a", Attempts: make([]middleware.Attempt, 1)}},
		{call: &middleware.Call{Target: "a", Attempts: make([]middleware.Attempt, 2), Hedged: true}},
		{call: &middleware.Call{Target: "b", Attempts: make([]middleware.Attempt, 2)}},
		{call: &middleware.Call{Target: "a", Attempts: make([]middleware.Attempt, 3)}, err: errLost},
	}
	if diff := cmp.Diff(map[string]float64{"a": 0.75, "b": 0.25}, shares(answers)); diff != "" {
		t.Error(diff)
	}
	if n := failovers(answers); n != 1 { // a hedge is none, and the last one was not answered
		t.Errorf("%d failovers, want 1", n)
	}
	if n, err := failed(answers); n != 1 || err != errLost {
		t.Errorf("%d failed with %v, want 1 with %v", n, err, errLost)
	}
}

func TestJudge(t *testing.T) {
	ledger := budget.NewLedger(budget.Budget{TTFT: budget.Layers{50: 20 * ms, 95: 30 * ms}})
	for _, a := range took(20, 21, 30, 0) {
		judge(ledger, a)
	}
	var missed []uint64
	for _, s := range ledger.Status() {
		missed = append(missed, s.Missed)
	}
	// 20 ms is inclusive; the failure misses every layer, "answered" last.
	if diff := cmp.Diff([]uint64{3, 1, 1}, missed); diff != "" {
		t.Error(diff)
	}
}

package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A run of 20 calls says nothing about percentiles, so that a missed layer is
// no failure here.
func TestSimulate(t *testing.T) {
	var out strings.Builder
	err := simulate(t.Context(), options{calls: 20, seed: 1}, &screen{out: &out})
	for _, want := range []string{
		"20 of 20 calls", "us-east spikes", "ap-south", "p95 TTFT 500ms",
		"with ontime", "without, round robin", "without, us-east", "Failovers: ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in the output", want)
		}
	}
	if strings.Contains(out.String(), "Failed with ontime") {
		t.Error("calls failed")
	}
	if kept := strings.Contains(out.String(), "all 4 layers of chat were kept"); kept != (err == nil) {
		t.Errorf("the output says kept = %t, the error is %v", kept, err)
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var out strings.Builder
	err := simulate(ctx, options{calls: 1000, seed: 1}, &screen{out: &out})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want the context's", err)
	}
	if strings.Contains(out.String(), "chat were kept") {
		t.Error("a run that was stopped has a summary")
	}
}

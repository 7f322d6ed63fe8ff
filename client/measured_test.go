package client_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// An application that reads slowly is not mistaken for a slow provider.
func TestSlowReaderIsNotMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, steady, "one")
		ctx, call := middleware.WithCall(t.Context())
		s := f.chat().Chat.Completions.NewStreaming(ctx, question("hello"))
		for s.Next() {
			time.Sleep(30 * ms) // the provider has a token each 20 ms
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		// 16 tokens: the first after 200 ms, the last 15 * 20 ms later.
		if call.TTFT != 200*ms || call.TPOT != 20*ms || call.Stall != 20*ms || call.Total != 500*ms {
			t.Errorf("TTFT %v, TPOT %v, stall %v, total %v; want 200ms, 20ms, 20ms, 500ms", call.TTFT, call.TPOT, call.Stall, call.Total)
		}
	})
}

// A call's times count from its own start, an attempt's from the attempt's.
func TestTimesOfCallAndAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, steady, "one", "two")
		f.servers["one"].Script(upstream.Step{Fault: upstream.HTTPError, Set: func(b *upstream.Behaviour) { b.Faults.After = 70 * ms }})
		f.answers(t, stream, f.chat(), "two")
		call := f.lastCall(t)
		first, second := call.Attempts[0], call.Attempts[1]
		if first.Start != 0 || first.Headers != 70*ms || first.Total != 70*ms || first.TTFT != 0 {
			t.Errorf("the first attempt is %+v", first)
		}
		if second.Start != 70*ms || second.TTFT != 200*ms || second.Total != 500*ms {
			t.Errorf("the second attempt is %+v", second)
		}
		if call.TTFT != 270*ms || call.Total != 570*ms || call.TPOT != 20*ms {
			t.Errorf("TTFT %v, total %v, TPOT %v; want 270ms, 570ms, 20ms", call.TTFT, call.Total, call.TPOT)
		}
		// One output token at 2 USD per million is 2e-6: 16 of them by the second
		// target, and none by the first.
		if want := 16 * 2e-6; call.Cost < want*0.999 || call.Cost > want*1.001 {
			t.Errorf("the call cost %v, want %v", call.Cost, want)
		}
	})
}

// missed counts the misses of each layer of an endpoint.
func (f *fleet) missed(endpoint string) map[string]int {
	missed := map[string]int{}
	for _, e := range f.Snapshot().Endpoints {
		if e.Name != endpoint {
			continue
		}
		for _, l := range e.Layers {
			missed[l.Metric.String()] += int(l.Missed)
		}
	}
	return missed
}

func TestWhatCountsAsAMiss(t *testing.T) {
	for name, test := range map[string]struct {
		steps              []upstream.Step // of one, then two
		say                speak
		ttft, total, error int
	}{
		"in time":                  {nil, stream, 0, 0, 0},
		"failed over in time":      {[]upstream.Step{{Fault: upstream.Refused}}, stream, 0, 0, 0},
		"late":                     {[]upstream.Step{{Set: func(b *upstream.Behaviour) { b.TTFT.Median = 350 * ms }}}, stream, 1, 0, 0},
		"late and long":            {[]upstream.Step{{Set: func(b *upstream.Behaviour) { b.TTFT.Median = 800 * ms }}}, stream, 1, 1, 0},
		"whole answer, late":       {[]upstream.Step{{Set: func(b *upstream.Behaviour) { b.TTFT.Median = 800 * ms }}}, ask, 0, 1, 0},
		"every target fails":       {[]upstream.Step{{Fault: upstream.Refused}, {Fault: upstream.Refused}, {Fault: upstream.Refused}}, stream, 1, 1, 1},
		"cut":                      {[]upstream.Step{{Fault: upstream.Cut, Events: 3}}, stream, 0, 1, 1},
		"the caller's own mistake": {[]upstream.Step{status(400)}, stream, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, steady, client.Config{Targets: inOrder("one", "two"), Endpoints: map[string]budget.Budget{
					"chat": {TTFT: budget.Layers{95: 300 * ms}, Total: budget.Layers{95: time.Second}},
				}}, "one", "two")
				for i, step := range test.steps {
					f.servers[[]string{"one", "two", "one"}[i]].Script(step)
				}
				_, _ = test.say(t.Context(), f.chat(), question("hello"))
				got := f.missed("chat")
				if got["ttft"] != test.ttft || got["total"] != test.total || got["answered"] != test.error {
					t.Errorf("misses are %v, want ttft %d, total %d, answered %d", got, test.ttft, test.total, test.error)
				}
			})
		})
	}
}

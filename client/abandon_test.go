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

// impatient is the endpoint "chat" with times of its own, and without hedges, which would
// be sooner.
func impatient(t *testing.T, b upstream.Behaviour, abandon, deadline time.Duration, names ...string) *fleet {
	t.Helper()
	budgets := map[string]budget.Budget{"chat": {
		TTFT: budget.Layers{95: 600 * ms}, Total: budget.Layers{99: time.Second}, Abandon: abandon, Deadline: deadline, Hedge: -1,
	}}
	return newFleet(t, b, client.Config{Targets: inOrder(names...), Endpoints: budgets}, names...)
}

// hang is an answer that never comes, without headers or with them.
func hang(early float64) upstream.Step {
	return upstream.Step{Fault: upstream.Hang, Set: func(b *upstream.Behaviour) { b.EarlyHeaders = early }}
}

// whenAbandoned is how long a fresh route is given for its first content while
// another is left: it depends on what the router expects of it.
func whenAbandoned(t *testing.T, say speak) (after time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		f := impatient(t, quick, ms, 0, "one", "two")
		f.servers["one"].Script(hang(0))
		f.answers(t, say, f.chat(), "two")
		after = f.lastCall(t).Attempts[0].Total
	})
	return after
}

func TestHangIsAbandonedWhileAnotherTargetIsLeft(t *testing.T) {
	for way, say := range ways {
		expected := whenAbandoned(t, say)
		for name, early := range map[string]float64{"silent": 0, "early headers": 1} {
			for _, abandon := range []time.Duration{ms, 5 * time.Minute} { // the router's time, the endpoint's
				t.Run(way+", "+name+", "+abandon.String(), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						f := impatient(t, quick, abandon, 0, "one", "two")
						f.servers["one"].Script(hang(early))
						want := max(abandon, expected)
						start := time.Now()
						f.answers(t, say, f.chat(), "two")
						if took := time.Since(start); took != want {
							t.Errorf("it took %v, want %v", took, want)
						}
						call := f.lastCall(t)
						first := call.Attempts[0]
						if first.Outcome != middleware.TimedOut || first.Total != want || first.TTFT != 0 {
							t.Errorf("the first attempt is %+v, want it timed out after %v", first, want)
						}
						mustBe(t, first.Err, middleware.ErrAbandoned)
						if second := call.Attempts[1]; second.Start != want || call.Outcome != middleware.Completed || call.Total < want {
							t.Errorf("the second attempt started after %v in a call of %v (%v)", second.Start, call.Total, call.Outcome)
						}
					})
				})
			}
		}
	}
}

// The last target is never abandoned: its answer comes however late.
func TestLastTargetIsNeverAbandoned(t *testing.T) {
	const late = 7 * time.Minute
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := impatient(t, quick, ms, 0, "one", "two")
				f.servers["one"].Script(hang(0))
				f.servers["two"].Script(upstream.Step{Set: func(b *upstream.Behaviour) { b.TTFT.Median = late }})
				start := time.Now()
				f.answers(t, say, f.chat(), "two")
				if took := time.Since(start); took < late || f.allRequests() != 2 {
					t.Errorf("%d attempts in %v, want 2 in %v or more", f.allRequests(), took, late)
				}
			})
		})
	}
}

// Without any deadline a call waits ten minutes for its first content, as in
// openai-go; and for what follows without end.
func TestCeilingWithoutADeadline(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := impatient(t, quick, 0, 0, "one")
				f.servers["one"].Script(hang(1))
				start := time.Now()
				ctx, call := middleware.WithCall(t.Context())
				_, err := say(ctx, f.chat(), question("hello"))
				e := ours(t, err)
				if took := time.Since(start); took != 10*time.Minute {
					t.Errorf("it took %v, want 10m", took)
				}
				if call.Outcome != middleware.TimedOut || len(e.Attempts) != 1 || e.Attempts[0].Outcome != middleware.TimedOut {
					t.Errorf("call is %+v, want it timed out after one attempt", call)
				}
			})
		})
	}
	t.Run("content flows", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := impatient(t, upstream.Behaviour{Pace: upstream.Latency{Median: 4 * time.Minute}}, 0, 0, "one")
			f.answers(t, stream, f.chat(), "one") // an hour
		})
	})
}

func TestDeadlineOfTheEndpoint(t *testing.T) {
	const deadline = 1234 * ms
	slowly := upstream.Behaviour{Pace: upstream.Latency{Median: 100 * ms}, EarlyHeaders: 1} // 1.5 s in all
	for name, test := range map[string]struct {
		step     upstream.Step
		say      speak
		ttft     bool // content came
		attempts int
	}{
		"hang":            {hang(0), stream, false, 1},
		"hang, headers":   {hang(1), stream, false, 1},
		"hang, whole":     {hang(0), ask, false, 1},
		"stall":           {upstream.Step{Fault: upstream.Stall, Events: 3}, stream, true, 1},
		"still streaming": {upstream.Step{}, stream, true, 1},
		"still thinking":  {upstream.Step{}, ask, false, 1},
		"in a pause":      {upstream.Step{Fault: upstream.Refused}, stream, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := impatient(t, slowly, 0, deadline, "one")
				f.servers["one"].Script(test.step, test.step, test.step)
				start := time.Now()
				ctx, call := middleware.WithCall(t.Context())
				_, err := test.say(ctx, f.chat(), question("hello"))
				mustBe(t, err, middleware.ErrDeadline)
				e := ours(t, err)
				if took := time.Since(start); took != deadline {
					t.Errorf("it took %v, want %v", took, deadline)
				}
				if call.Outcome != middleware.TimedOut || call.Total != deadline || (call.TTFT > 0) != test.ttft {
					t.Errorf("call is %v after %v with a TTFT of %v", call.Outcome, call.Total, call.TTFT)
				}
				if len(e.Attempts) != test.attempts || len(call.Attempts) != test.attempts {
					t.Errorf("%d attempts, want %d", len(e.Attempts), test.attempts)
				}
				if last := call.Attempts[len(call.Attempts)-1]; name != "in a pause" && last.Outcome != middleware.TimedOut {
					t.Errorf("the last attempt is %v, want it timed out", last.Outcome)
				}
			})
		})
	}
}

// The deadline is the whole call's, whatever attempts it takes.
func TestDeadlineBoundsAllAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := impatient(t, quick, ms, 15*time.Second, "one", "two", "three")
		for _, s := range f.servers {
			s.Set(func(b *upstream.Behaviour) { b.Faults.Hang = 1 })
		}
		start := time.Now()
		_, err := stream(t.Context(), f.chat(), question("hello"))
		mustBe(t, err, middleware.ErrDeadline)
		if took := time.Since(start); took != 15*time.Second {
			t.Errorf("it took %v, want 15s", took)
		}
	})
}

// A call with a deadline does not spend all of it on a target that hangs, however long its
// route might take, and the target that hangs is left alone after a few.
func TestHangIsAbandonedBeforeTheDeadline(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const deadline = 30 * time.Second
				targets := inOrder("one", "two")
				f := newFleet(t, quick, client.Config{Targets: targets, Endpoints: map[string]budget.Budget{
					"chat": {CostWeight: 3, Hedge: -1, Deadline: deadline, MaxTokens: budget.MaxTokens{Default: -1}},
				}}, "one", "two")
				f.servers["one"].Set(func(b *upstream.Behaviour) { b.Faults.Hang = 1 })
				for range 5 {
					f.answers(t, say, f.chat(), "two")
					if call := f.lastCall(t); len(call.Attempts) != 2 || call.Attempts[0].Total > deadline/2 {
						t.Errorf("the call is %+v", call)
					}
				}
				f.answers(t, say, f.chat(), "two")
				if call := f.lastCall(t); len(call.Attempts) != 1 {
					t.Errorf("target one is tried after five hangs: %+v", call)
				}
			})
		})
	}
}

// Of the time that a first target has left a second one that hangs has no more than its p99,
// or half, so that the third one is asked in time.
func TestTwoHangsLeaveTimeForTheThird(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const deadline = 30 * time.Second
		targets := inOrder("one", "two", "three")
		f := newFleet(t, quick, client.Config{Targets: targets, Endpoints: map[string]budget.Budget{
			"chat": {CostWeight: 3, Hedge: -1, Deadline: deadline, MaxTokens: budget.MaxTokens{Default: -1}},
		}}, "one", "two", "three")
		for _, name := range []string{"one", "two"} {
			f.servers[name].Set(func(b *upstream.Behaviour) { b.Faults.Hang = 1 })
		}
		f.answers(t, ask, f.chat(), "three")
		call := f.lastCall(t)
		if len(call.Attempts) != 3 {
			t.Fatalf("the call is %+v", call)
		}
		if first, second := call.Attempts[0].Total, call.Attempts[1].Total; first != deadline/2 || second >= deadline/2 {
			t.Errorf("the targets that hang had %v and %v, want half of 30s, and less", first, second)
		}
	})
}

// Content that comes at the very instant at which its attempt is given up: one
// of both answers is the caller's, whole.
func TestContentAtTheInstantOfAbandoning(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			at := whenAbandoned(t, say)
			for range 100 {
				synctest.Test(t, func(t *testing.T) {
					f := impatient(t, quick, ms, 0, "one", "two")
					f.servers["one"].Script(upstream.Step{Set: func(b *upstream.Behaviour) { b.TTFT.Median = at }})
					f.servers["two"].Set(func(b *upstream.Behaviour) { b.Pace.Median = 10 * ms })
					text, err := say(t.Context(), f.chat(), question("hello"))
					call := f.lastCall(t)
					if err != nil || call.Outcome != middleware.Completed || text != f.servers[call.Target].Text(16) {
						t.Fatalf("answer is %q, %v in the call %+v", text, err, call)
					}
				})
			}
		})
	}
}

// And at the very instant of the deadline: an answer or an error, and a call
// that says the same.
func TestAnswerAtTheInstantOfTheDeadline(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			for range 100 {
				synctest.Test(t, func(t *testing.T) {
					f := impatient(t, upstream.Behaviour{TTFT: upstream.Latency{Median: time.Second}}, 0, time.Second, "one")
					ctx, call := middleware.WithCall(t.Context())
					text, err := say(ctx, f.chat(), question("hello"))
					whole := err == nil && text == f.servers["one"].Text(16)
					if whole != (call.Outcome == middleware.Completed) || !whole && call.Outcome != middleware.TimedOut {
						t.Fatalf("answer is %q, %v in the call %+v", text, err, call)
					}
					if len(call.Attempts) != 1 || call.Attempts[0].Outcome != call.Outcome {
						t.Fatalf("call is %+v", call)
					}
				})
			}
		})
	}
}

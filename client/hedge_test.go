package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// hedging is a fleet of which "one" is tried first and a call that waits there is
// hedged well before ten seconds. Input and output have a price.
func hedging(t *testing.T, b upstream.Behaviour, change func(*budget.Budget), names ...string) *fleet {
	t.Helper()
	chat := budget.Budget{
		TTFT:  budget.Layers{95: 600 * ms, 99: 2 * time.Second},
		Total: budget.Layers{99: 5 * time.Second},
		Hedge: 1,
	}
	if change != nil {
		change(&chat)
	}
	targets := inOrder(names...)
	for i := range targets {
		targets[i].Price.Input = targets[i].Price.Output
	}
	return newFleet(t, b, client.Config{Targets: targets, Endpoints: map[string]budget.Budget{"chat": chat}}, names...)
}

// late is an answer whose first token comes after that time.
func late(after time.Duration) upstream.Step {
	return upstream.Step{Set: func(b *upstream.Behaviour) { b.TTFT = upstream.Latency{Median: after} }}
}

// unhurried answers after 200 ms.
var unhurried = upstream.Behaviour{TTFT: upstream.Latency{Median: 200 * ms}}

func TestTheFirstWithContentWins(t *testing.T) {
	for way, say := range ways {
		for name, early := range map[string]float64{"silent": 0, "early headers": 1} {
			t.Run(way+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := hedging(t, unhurried, nil, "one", "two")
					f.servers["one"].Script(hang(early))
					start := time.Now()
					f.answers(t, say, f.chat(), "two")
					call := f.lastCall(t)
					if len(call.Attempts) != 2 || !call.Hedged || call.Target != "two" {
						t.Fatalf("the call is %+v, want two attempts, the second a hedge that won", call)
					}
					lost, won := call.Attempts[0], call.Attempts[1]
					if lost.Hedge || !won.Hedge || won.Outcome != middleware.Completed {
						t.Errorf("attempts are %+v", call.Attempts)
					}
					// The loser's time is its own, and says "at least".
					if lost.Outcome != middleware.Lost || lost.TTFT != 0 || lost.Total != won.Start+200*ms {
						t.Errorf("the loser is %+v, want it lost after %v", lost, won.Start+200*ms)
					}
					if won.Start <= 0 || won.Start > 2*time.Second || won.TTFT+won.Start != call.TTFT && way == "streamed" {
						t.Errorf("the hedge started at %v, and the call's TTFT is %v", won.Start, call.TTFT)
					}
					if took := time.Since(start); took != won.Start+200*ms {
						t.Errorf("it took %v, want %v", took, won.Start+200*ms)
					}
					// Both have read the prompt: of n tokens at 1 and at 2 $ a million, and 16 tokens at 2.
					n := float64(call.Usage.Input)
					if want := (n + 2*n + 2*16) / 1e6; n == 0 || call.Cost < want*0.999 || call.Cost > want*1.001 {
						t.Errorf("it cost %v, want %v", call.Cost, want)
					}
					synctest.Wait()
					if s := f.servers["one"].Stats(); s.CancelledBefore != 1 {
						t.Errorf("the loser was not cancelled: %+v", s)
					}
				})
			})
		}
	}
}

// What is not content decides nothing, and neither does an error.
func TestWhatDoesNotWin(t *testing.T) {
	role := `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	stalled := func(data string) upstream.Step {
		s := events(data)
		s.Raw.End = upstream.Stall
		return s
	}
	for name, hedge := range map[string]upstream.Step{
		"headers":       hang(1),
		"a role":        stalled(role),
		"a comment":     stalled(": keep-alive\n\n"),
		"429":           status(429),
		"500":           status(500),
		"400":           status(400),
		"an empty body": {Fault: upstream.Empty},
		"an error":      {Fault: upstream.ErrorEvent},
		"a refusal":     {Fault: upstream.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := hedging(t, unhurried, nil, "one", "two")
				f.servers["one"].Script(late(3 * time.Second))
				f.servers["two"].Script(hedge)
				f.answers(t, stream, f.chat(), "one")
				call := f.lastCall(t)
				if len(call.Attempts) != 2 || !call.Attempts[1].Hedge || call.TTFT != 3*time.Second {
					t.Errorf("the call is %+v, want the first attempt's answer at 3 s beside a hedge", call)
				}
				if o := call.Attempts[1].Outcome; o == middleware.Completed {
					t.Errorf("the hedge is %v", o)
				}
			})
		})
	}
}

// An error of one leg starts the other at once, if it has not been started.
func TestAnErrorDoesNotWaitForTheHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, nil, "one", "two")
		f.servers["one"].Script(status(500))
		start := time.Now()
		f.answers(t, stream, f.chat(), "two")
		if took := time.Since(start); took != 200*ms {
			t.Errorf("it took %v, want 200ms", took)
		}
		if call := f.lastCall(t); call.Hedged {
			t.Errorf("a failover is no hedge: %+v", call)
		}
	})
}

// If both fail the next target is asked; if there is none, what failed last is told.
func TestBothLegsFail(t *testing.T) {
	after := func(code int, after time.Duration) upstream.Step {
		return upstream.Step{Fault: upstream.HTTPError, Set: func(b *upstream.Behaviour) { b.Faults.Status, b.Faults.After = code, after }}
	}
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, nil, "one", "two", "three")
		f.servers["one"].Script(after(500, 4*time.Second))
		f.servers["two"].Script(status(503))
		f.answers(t, stream, f.chat(), "three")
		if call := f.lastCall(t); len(call.Attempts) != 3 || call.Attempts[2].Start != 4*time.Second || call.Attempts[2].Hedge {
			t.Errorf("attempts are %+v, want a third at 4 s", call.Attempts)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, nil, "one", "two")
		f.servers["one"].Script(after(422, 4*time.Second))
		f.servers["two"].Script(status(503))
		_, err := stream(t.Context(), f.chat(), question("hello"))
		theirs(t, err, 422)
		if call := f.lastCall(t); call.Target != "one" || len(call.Attempts) != 2 {
			t.Errorf("the call is %+v, want it to stand for what failed last", call)
		}
	})
}

func TestWhatIsNotSentTwice(t *testing.T) {
	chat := func(change func(*openai.ChatCompletionNewParams)) func(context.Context, *openai.Client) error {
		return func(ctx context.Context, c *openai.Client) error {
			p := question("hello")
			change(&p)
			_, err := ask(ctx, c, p)
			return err
		}
	}
	embed := func(ctx context.Context, c *openai.Client) error {
		_, err := c.Embeddings.New(ctx, openai.EmbeddingNewParams{
			Model: "e", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("hello")},
		})
		return err
	}
	for name, test := range map[string]struct {
		call  func(context.Context, *openai.Client) error
		all   bool
		twice bool
	}{
		"plain":               {chat(func(*openai.ChatCompletionNewParams) {}), false, true},
		"stored":              {chat(func(p *openai.ChatCompletionNewParams) { p.Store = openai.Bool(true) }), false, false},
		"stored, all allowed": {chat(func(p *openai.ChatCompletionNewParams) { p.Store = openai.Bool(true) }), true, false},
		"web search": {chat(func(p *openai.ChatCompletionNewParams) {
			p.WebSearchOptions = openai.ChatCompletionNewParamsWebSearchOptions{SearchContextSize: "low"}
		}), false, false},
		"two choices":              {chat(func(p *openai.ChatCompletionNewParams) { p.N = openai.Int(2) }), false, false},
		"two choices, all allowed": {chat(func(p *openai.ChatCompletionNewParams) { p.N = openai.Int(2) }), true, true},
		"embeddings":               {embed, false, false},
		"embeddings, all allowed":  {embed, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := hedging(t, unhurried, func(b *budget.Budget) { b.HedgeAll = test.all }, "one", "two")
				f.servers["one"].Script(late(4500 * ms))
				if err := test.call(t.Context(), f.chat()); err != nil {
					t.Fatal(err)
				}
				if call := f.lastCall(t); call.Hedged != test.twice {
					t.Errorf("hedged is %v, want %v: %+v", call.Hedged, test.twice, call.Attempts)
				}
			})
		})
	}
}

func TestHedgesCanBeSwitchedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, func(b *budget.Budget) { b.Hedge = -1 }, "one", "two")
		f.servers["one"].Script(late(4 * time.Second))
		f.answers(t, stream, f.chat(), "one")
		if call := f.lastCall(t); len(call.Attempts) != 1 {
			t.Errorf("attempts are %+v, want one", call.Attempts)
		}
	})
}

// Whatever ends the call ends both attempts, at that instant.
func TestBothLegsEndWithTheCall(t *testing.T) {
	var f *fleet
	for name, test := range map[string]struct {
		change  func(*budget.Budget)
		end     func(cancel func())
		outcome middleware.Outcome
	}{
		"cancel":   {nil, func(cancel func()) { cancel() }, middleware.Cancelled},
		"deadline": {func(b *budget.Budget) { b.Deadline = 6 * time.Second }, nil, middleware.TimedOut},
		"close":    {func(b *budget.Budget) { b.Abandon = time.Minute }, func(func()) { go f.Close() }, middleware.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f = hedging(t, unhurried, test.change, "one", "two")
				f.servers["one"].Script(hang(0))
				f.servers["two"].Script(hang(1))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.end != nil {
					time.AfterFunc(3*time.Second, func() { test.end(cancel) })
				}
				_, err := stream(ctx, f.chat(), question("hello"))
				if err == nil {
					t.Fatal("the call was answered")
				}
				synctest.Wait()
				for _, a := range f.lastCall(t).Attempts {
					if a.Outcome != test.outcome {
						t.Errorf("an attempt ended as %v, want %v: %+v", a.Outcome, test.outcome, a)
					}
				}
				if n := len(f.lastCall(t).Attempts); n != 2 {
					t.Errorf("%d attempts, want two", n)
				}
				for name, s := range f.servers {
					if st := s.Stats(); st.InFlight != 0 || st.OpenBodies != 0 {
						t.Errorf("%s still has %+v", name, st)
					}
				}
			})
		})
	}
}

// Of two that run either may be given up as hopeless, as long as the other runs.
func TestAbandonBesideAHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, func(b *budget.Budget) { b.Abandon = 5 * time.Second }, "one", "two")
		f.servers["one"].Script(hang(0))
		f.servers["two"].Script(late(30 * time.Second))
		f.answers(t, stream, f.chat(), "two")
		call := f.lastCall(t)
		first := call.Attempts[0]
		if len(call.Attempts) != 2 || first.Outcome != middleware.TimedOut || !errors.Is(first.Err, middleware.ErrAbandoned) {
			t.Errorf("attempts are %+v, want the first one given up and the last one left alone", call.Attempts)
		}
	})
}

// A hedge that won stays known as one, and so does what the router learned.
func TestSnapshotTellsOfLosers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, nil, "one", "two")
		f.servers["one"].Script(hang(0))
		f.answers(t, stream, f.chat(), "two")
		one, two := f.status(t, "one"), f.status(t, "two")
		if one.Attempts != (router.Attempts{Lost: 1}) || two.Attempts != (router.Attempts{Completed: 1}) {
			t.Errorf("attempts are %+v and %+v", one.Attempts, two.Attempts)
		}
		if one.InFlight != 0 || two.InFlight != 0 {
			t.Errorf("%d and %d are under way", one.InFlight, two.InFlight)
		}
	})
}

// A probe is hedged at once, and a route that is slower than others still gets to show
// that it is well: the probe that lost goes on, until it has content.
func TestAProbeThatLostGoesOn(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := hedging(t, unhurried, cheapest, "one", "two")
				for range 5 {
					f.servers["one"].Script(status(500))
					f.answers(t, say, f.chat(), "two")
				}
				if s := f.status(t, "one"); s.State != router.StateOpen {
					t.Fatalf("after five failures one is %+v", s)
				}
				time.Sleep(20 * time.Second)
				f.servers["one"].Script(late(time.Second))
				f.answers(t, say, f.chat(), "two")
				call := f.lastCall(t)
				if len(call.Attempts) != 2 || call.Attempts[0].Outcome != middleware.Lost || call.Attempts[0].Total.Round(ms) != 200*ms {
					t.Errorf("attempts are %+v, want a probe that lost after 200ms", call.Attempts)
				}
				if s := f.status(t, "one"); s.State != router.StateHalfOpen || s.InFlight != 1 {
					t.Errorf("right after, one is %+v, want it half-open with the probe under way", s)
				}
				time.Sleep(900 * ms)
				if s := f.status(t, "one"); s.State != router.StateOK || s.InFlight != 0 {
					t.Errorf("one is %+v, want it well", s)
				}
			})
		})
	}
}

// A probe that lost ends with the client, and when it is hopeless.
func TestAProbeThatLostEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := hedging(t, unhurried, cheapest, "one", "two")
		for range 5 {
			f.servers["one"].Script(status(500))
			f.answers(t, stream, f.chat(), "two")
		}
		time.Sleep(20 * time.Second)
		f.servers["one"].Script(hang(1))
		f.answers(t, stream, f.chat(), "two")
		time.Sleep(15 * time.Second)
		if s := f.status(t, "one"); s.Attempts.TimedOut != 1 || s.State != router.StateOpen || s.InFlight != 0 {
			t.Errorf("one is %+v, want it open again", s)
		}
		time.Sleep(time.Minute)
		f.servers["one"].Script(hang(1))
		f.answers(t, stream, f.chat(), "two") // and the fleet is closed under it
	})
}

// cheapest makes "one" first whatever it did.
func cheapest(b *budget.Budget) { b.CostWeight = 10_000 }

// On a real clock time goes on while the router is asked: what it says is due now must
// be, or nothing ever is.
func TestHedgeOnARealClock(t *testing.T) {
	targets := []client.Target{
		slowTarget(t, "one", []time.Duration{time.Minute}, true), slowTarget(t, "two", []time.Duration{ms}, true),
	}
	targets[0].Price, targets[1].Price = router.Price{Output: 1}, router.Price{Output: 2}
	c, err := client.New(client.Config{Targets: targets, Endpoints: map[string]budget.Budget{"chat": {
		TTFT: budget.Layers{95: 100 * ms, 99: 200 * ms}, Hedge: 1, Abandon: time.Minute, Deadline: 20 * time.Second,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, call := middleware.WithCall(t.Context())
	if _, err := stream(ctx, c.Endpoint("chat"), question("hello")); err != nil || !call.Hedged || call.Attempts[0].Outcome != middleware.Lost {
		t.Errorf("%v; the call is %+v, want it hedged", err, call)
	}
}

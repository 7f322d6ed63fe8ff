package client_test

import (
	"context"
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

package client_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/tidwall/gjson"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// sentCap is the cap in the latest body that a target got; 0: none.
func (f *fleet) sentCap(t *testing.T, target string) int {
	t.Helper()
	_, body := f.last(t, target)
	return int(gjson.Get(body, "max_tokens").Int())
}

func capped(m budget.MaxTokens) map[string]budget.Budget {
	return map[string]budget.Budget{"chat": {MaxTokens: m}}
}

// A cap that reasoning used up gives an empty answer: it is told apart, and counted.
func TestStarvedAnswers(t *testing.T) {
	for way, say := range ways {
		for name, tt := range map[string]struct {
			cap              int64
			shown            bool
			text             int // tokens
			starved          bool
			truncated, count uint64
		}{
			"used up":           {cap: 100, starved: true, truncated: 1, count: 1},
			"used up in public": {cap: 100, shown: true, starved: true, truncated: 1, count: 1},
			"truncated":         {cap: 305, text: 5, truncated: 1},
			"whole":             {cap: 400, text: 16},
		} {
			t.Run(way+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFleet(t, upstream.Behaviour{Reasoning: 300, ShowReasoning: tt.shown}, client.Config{Endpoints: capped(budget.MaxTokens{})}, "one")
					p := question("hi")
					p.MaxTokens = openai.Int(tt.cap)
					text, err := say(t.Context(), f.chat(), p)
					want := ""
					if tt.text > 0 {
						want = f.servers["one"].Text(tt.text)
					}
					if err != nil || text != want {
						t.Errorf("got %q, error %v; want %q", text, err, want)
					}
					call := f.lastCall(t)
					if call.Outcome != middleware.Completed || call.Starved != tt.starved || call.Attempts[0].Starved != tt.starved {
						t.Errorf("the call is %v, starved %v; want completed, %v", call.Outcome, call.Starved, tt.starved)
					}
					e := f.Snapshot().Endpoints[0]
					if e.Name != "chat" || e.Truncated != tt.truncated || e.Starved != tt.count {
						t.Errorf("%s counts %d truncated and %d starved, want %d and %d", e.Name, e.Truncated, e.Starved, tt.truncated, tt.count)
					}
				})
			})
		}
	}
}

// A route of which nothing is known is expected to begin after 0.5 s and to write a
// token every 20 ms: 201 fit into 4.5 s. (At p95 after some 0.95 s, and every 46 ms:
// 78 fit.) The call says so, and leaves with them.
func TestFit(t *testing.T) {
	for name, tt := range map[string]struct {
		budget   budget.Budget
		deadline time.Duration // the caller's
		asked    int64
		low, top int
	}{
		"a total layer":        {budget: budget.Budget{Total: budget.Layers{50: 4500 * ms}}, low: 185, top: 217},
		"a lower cap":          {budget: budget.Budget{Total: budget.Layers{50: 4500 * ms}}, asked: 50, low: 50, top: 50},
		"a higher cap":         {budget: budget.Budget{Total: budget.Layers{50: 4500 * ms}}, asked: 900, low: 185, top: 217},
		"no time to fit into":  {low: 4096, top: 4096},
		"the deadline, at p95": {budget: budget.Budget{Deadline: 4500 * ms}, low: 65, top: 100},
		"the caller's":         {deadline: 4500 * ms, low: 65, top: 100},
		"all but over":         {deadline: 600 * ms, low: 64, top: 64},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := tt.budget
				b.MaxTokens.Fit = true
				f := newFleet(t, quick, client.Config{Endpoints: map[string]budget.Budget{"chat": b}}, "one")
				ctx := t.Context()
				if tt.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.deadline)
					defer cancel()
				}
				p := question("hi")
				if tt.asked > 0 {
					p.MaxTokens = openai.Int(tt.asked)
				}
				if _, err := stream(ctx, f.chat(), p); err != nil {
					t.Fatal(err)
				}
				call, sent := f.lastCall(t), f.sentCap(t, "one")
				if sent < tt.low || sent > tt.top || call.MaxTokens != sent || call.Attempts[0].MaxTokens != sent {
					t.Errorf("sent a cap of %d, the call says %d; want %d to %d", sent, call.MaxTokens, tt.low, tt.top)
				}
				if call.AskedTokens != int(tt.asked) || call.Capped != (sent != int(tt.asked)) {
					t.Errorf("asked for %d, capped %v", call.AskedTokens, call.Capped)
				}
			})
		})
	}
}

// A later attempt has less time, and a lower cap.
func TestFitOfALaterAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoints := map[string]budget.Budget{"chat": {Deadline: 30 * time.Second, Hedge: -1, MaxTokens: budget.MaxTokens{Fit: true}}}
		slow := upstream.Behaviour{TTFT: upstream.Latency{Median: 12 * time.Second}}
		f := newFleet(t, slow, client.Config{Endpoints: endpoints}, "one", "two")
		if _, err := stream(t.Context(), f.chat(), question("hi")); err != nil {
			t.Fatal(err)
		}
		call := f.lastCall(t)
		first, second := call.Attempts[0], call.Attempts[1]
		// What has passed is what the cap is lower by, at 46 ms a token (p95).
		passed := int((second.Start - first.Start) / (46 * ms))
		if lower := first.MaxTokens - second.MaxTokens; lower < passed*9/10 || lower > passed*11/10 || call.MaxTokens != second.MaxTokens {
			t.Errorf("caps are %d, then %d after %v, and %d of the call", first.MaxTokens, second.MaxTokens, second.Start, call.MaxTokens)
		}
	})
}

// Embeddings have no output tokens, however little time there is.
func TestFitLeavesEmbeddingsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoints := map[string]budget.Budget{"default": {Deadline: time.Second, MaxTokens: budget.MaxTokens{Fit: true}}}
		f := newFleet(t, quick, client.Config{Endpoints: endpoints}, "one")
		if _, err := f.Embeddings.New(t.Context(), openai.EmbeddingNewParams{
			Model: "m", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("hi")},
		}); err != nil {
			t.Fatal(err)
		}
		if _, body := f.last(t, "one"); strings.Contains(body, "max") || f.lastCall(t).Capped {
			t.Errorf("sent %s", body)
		}
	})
}

func TestModelCeilings(t *testing.T) {
	for name, tt := range map[string]struct {
		max   budget.MaxTokens
		asked int64
		model string
		want  int
	}{
		"a default":         {model: "small", want: 1000},
		"the caller's":      {model: "small", asked: 2000, want: 1000},
		"below it":          {model: "small", asked: 900, want: 900},
		"no ceiling known":  {model: "large", asked: 9000, want: 9000},
		"above the limit":   {max: budget.MaxTokens{Limit: 500}, model: "small", want: 500},
		"strict, a default": {max: budget.MaxTokens{Strict: true}, model: "small", want: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := client.Config{Endpoints: capped(tt.max), MaxOutput: map[string]int{"small": 1000},
					Targets: []client.Target{{Name: "one", Models: map[string]string{"small": "vendor/s-1", "large": "vendor/l-1"}}}}
				f := newFleet(t, quick, cfg, "one")
				p := question("hi")
				p.Model = tt.model
				if tt.asked > 0 {
					p.MaxTokens = openai.Int(tt.asked)
				}
				if _, err := ask(t.Context(), f.chat(), p); err != nil {
					t.Fatal(err)
				}
				if got := f.sentCap(t, "one"); got != tt.want {
					t.Errorf("sent a cap of %d, want %d", got, tt.want)
				}
			})
		})
	}
}

func TestStrictCeiling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Endpoints: capped(budget.MaxTokens{Strict: true}), MaxOutput: map[string]int{"gpt-4o-mini": 1000}}, "one")
		p := question("hi")
		p.MaxTokens = openai.Int(1001)
		_, err := ask(t.Context(), f.chat(), p)
		over, ok := errors.AsType[*budget.OverCapError](err)
		if !ok || *over != (budget.OverCapError{Asked: 1001, Cap: 1000, Ceiling: true}) || f.requests("one") != 0 {
			t.Errorf("error %v after %d requests", err, f.requests("one"))
		}
		if c := f.lastCall(t); c.AskedTokens != 1001 || c.MaxTokens != 0 {
			t.Errorf("the call asked for %d and has %d", c.AskedTokens, c.MaxTokens)
		}
	})
}

func TestCeilingsAreChecked(t *testing.T) {
	_, err := client.New(client.Config{
		Targets:   []client.Target{{Name: "one", BaseURL: "https://one.test/v1", Models: map[string]string{"a": "b"}}},
		MaxOutput: map[string]int{"a": 0, "b": 5},
	})
	for _, want := range []string{"max_output.a: 0 is no number", "max_output.b: no target serves"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not among the problems: %v", want, err)
		}
	}
}

// The first answer of an endpoint that a cap ended which nobody had asked for is
// logged, and no other.
func TestABitingDefaultIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		endpoints := map[string]budget.Budget{"chat": {MaxTokens: budget.MaxTokens{Default: 5}}, "other": {MaxTokens: budget.MaxTokens{Default: 6}}}
		f := newFleet(t, quick, client.Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), Endpoints: endpoints}, "one")
		own := question("hi")
		own.MaxTokens = openai.Int(3)
		for _, p := range []openai.ChatCompletionNewParams{own, question("hi"), question("hi")} {
			for _, endpoint := range []string{"chat", "other"} {
				if _, err := ask(t.Context(), f.Endpoint(endpoint), p); err != nil {
					t.Fatal(err)
				}
			}
		}
		var got []string
		for line := range strings.Lines(log.String()) {
			if _, rest, ok := strings.Cut(line, "level=WARN "); ok {
				got = append(got, rest)
			}
		}
		if len(got) != 2 || !strings.Contains(got[0], "endpoint=chat model=gpt-4o-mini max_tokens=5 starved=false") || !strings.Contains(got[1], "endpoint=other") {
			t.Errorf("warnings are %q, want one for each endpoint", got)
		}
	})
}

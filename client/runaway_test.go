package client_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// deaf is a target that ignores the cap: 10,000 tokens, one every 10 ms.
var deaf = upstream.Behaviour{
	IgnoreCap: true, Output: upstream.Length{Median: 10_000}, Pace: upstream.Latency{Median: 10 * ms},
}

// A cap of 10 tokens is certain to be passed once there is more text than 74 tokens
// can hold, at 16 bytes each: 1184 bytes. The event after those is the last.
func cutText(s *upstream.Server) string {
	n := 1
	for len(s.Text(n)) <= 16*(10+64) {
		n++
	}
	return s.Text(n + 1)
}

// said is an answer as one of the SDK's faces gives it.
type said struct{ text, finish string }

// speakers stream one call with a cap of 10 tokens, in each format.
var speakers = map[string]func(context.Context, *fleet) (said, error){
	"chat": func(ctx context.Context, f *fleet) (got said, err error) {
		p := question("hi")
		p.MaxTokens = openai.Int(10)
		s := f.Chat.Completions.NewStreaming(ctx, p)
		defer s.Close()
		var acc openai.ChatCompletionAccumulator
		for s.Next() {
			acc.AddChunk(s.Current())
		}
		if len(acc.Choices) > 0 {
			got = said{acc.Choices[0].Message.Content, acc.Choices[0].FinishReason}
		}
		return got, s.Err()
	},
	"completions": func(ctx context.Context, f *fleet) (got said, err error) {
		s := f.Completions.NewStreaming(ctx, openai.CompletionNewParams{
			Model: "m", MaxTokens: openai.Int(10), Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("hi")},
		})
		defer s.Close()
		for s.Next() {
			for _, c := range s.Current().Choices {
				got.text += c.Text
				got.finish += string(c.FinishReason)
			}
		}
		return got, s.Err()
	},
	"responses": func(ctx context.Context, f *fleet) (got said, err error) {
		s := f.Responses.NewStreaming(ctx, responses.ResponseNewParams{
			Model: "m", MaxOutputTokens: openai.Int(10), Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")},
		})
		defer s.Close()
		for s.Next() {
			switch e := s.Current(); e.Type {
			case "response.output_text.delta":
				got.text += e.Delta
			case "response.completed", "response.incomplete":
				got.finish = e.Response.IncompleteDetails.Reason
			}
		}
		return got, s.Err()
	},
	"messages": func(ctx context.Context, f *fleet) (got said, err error) {
		resp, err := f.HTTPClient().Post(client.BaseURL+"messages", "application/json",
			strings.NewReader(`{"model":"m","stream":true,"max_tokens":10,"messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			return got, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		for line := range strings.SplitSeq(string(body), "\n") {
			var event struct {
				Delta struct {
					Text       string
					StopReason string `json:"stop_reason"`
				}
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &event) == nil {
				got.text += event.Delta.Text
				got.finish += event.Delta.StopReason
			}
		}
		return got, err
	},
}

// A provider that ignores the cap is cut off, and its stream ends as one whose
// answer came to its length.
func TestRunAwaysAreCutOff(t *testing.T) {
	for name, finish := range map[string]string{
		"chat": "length", "completions": "length", "responses": "max_output_tokens", "messages": "max_tokens",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, deaf, client.Config{}, "one")
				got, err := speakers[name](t.Context(), f)
				if want := (said{cutText(f.servers["one"]), finish}); err != nil || got != want {
					t.Errorf("got %q, error %v; want %q", got, err, want)
				}
				synctest.Wait()
				call := f.lastCall(t)
				a := call.Attempts[0]
				if call.Outcome != middleware.Completed || call.FinishReason != "length" || call.Starved || a.Warning == "" {
					t.Errorf("the call is %v for %q (starved %v) with the warning %q", call.Outcome, call.FinishReason, call.Starved, a.Warning)
				}
				if want := len(got.text) / 4; call.Usage.Output != want || !call.Usage.Estimated || call.TPOT != 0 {
					t.Errorf("usage is %+v, TPOT %v; want an estimate of %d and none", call.Usage, call.TPOT, want)
				}
				if s := f.servers["one"].Stats(); s.CancelledAfter != 1 || s.Tokens > 1000 {
					t.Errorf("the target was not cancelled: %+v", s)
				}
				if e := f.Snapshot().Endpoints[0]; e.Truncated != 1 || e.Starved != 0 {
					t.Errorf("%d answers are counted as truncated, %d as starved; want 1, 0", e.Truncated, e.Starved)
				}
			})
		})
	}
}

// Where events tell their tokens, that counts: 64 past the cap are let pass.
func TestToldTokensCutExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := deaf
		b.Usage = upstream.UsageCumulative
		f := newFleet(t, b, client.Config{}, "one")
		got, err := speakers["chat"](t.Context(), f)
		// The first event counts by its bytes, fewer than 16: 75 events are past 74
		// tokens, and the 76th is the last.
		if want := (said{f.servers["one"].Text(76), "length"}); err != nil || got != want {
			t.Errorf("got %q, error %v; want %q", got, err, want)
		}
		if u := f.lastCall(t).Usage; u.Output != max(76, len(got.text)/4) || !u.Estimated {
			t.Errorf("usage is %+v", u)
		}
	})
}

// A cut ends those of several choices that go on. The bound is that of them all.
func TestRunAwayOfSeveralChoices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, deaf, client.Config{}, "one")
		p := question("hi")
		p.MaxTokens, p.N = openai.Int(10), openai.Int(2)
		s := f.Chat.Completions.NewStreaming(t.Context(), p)
		defer s.Close()
		texts, finish := [2]string{}, [2]string{}
		for s.Next() {
			for _, c := range s.Current().Choices {
				texts[c.Index] += c.Delta.Content
				finish[c.Index] += c.FinishReason
			}
		}
		both := len(texts[0]) + len(texts[1])
		if s.Err() != nil || finish != [2]string{"length", "length"} || both <= 16*(2*10+64) || both > 16*(2*10+64)+20 {
			t.Errorf("ended for %v after %d bytes, error %v", finish, both, s.Err())
		}
	})
}

// Reasoning has a bound of its own: some providers do not count it.
func TestReasoningIsNoRunAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, upstream.Behaviour{IgnoreCap: true, Reasoning: 3000, ShowReasoning: true}, client.Config{}, "one")
		got, err := speakers["chat"](t.Context(), f)
		if want := (said{f.servers["one"].Text(16), "stop"}); err != nil || got != want {
			t.Errorf("got %q, error %v; want %q", got, err, want)
		}
		if c := f.lastCall(t); c.Attempts[0].Warning == "" || c.Usage.Estimated {
			t.Errorf("warning %q, usage %+v; want a warning that 3016 tokens are past the cap", c.Attempts[0].Warning, c.Usage)
		}
	})
}

// What came whole has been paid for: it passes as it is, with a warning.
func TestWholeAnswersPastTheCapPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, noStream := range []bool{false, true} {
			b := deaf
			b.NoStream = noStream
			f := newFleet(t, b, client.Config{}, "one")
			p, say := question("hi"), ask
			p.MaxTokens = openai.Int(10)
			if noStream {
				say = stream
			}
			text, err := say(t.Context(), &f.Client.Client, p)
			if want := f.servers["one"].Text(10_000); err != nil || text != want {
				t.Errorf("%d bytes, error %v; want %d", len(text), err, len(want))
			}
			if c := f.lastCall(t); c.FinishReason != "stop" || c.Attempts[0].Warning == "" || c.Usage.Output != 10_000 {
				t.Errorf("ended for %q with the warning %q, usage %+v", c.FinishReason, c.Attempts[0].Warning, c.Usage)
			}
		}
	})
}

// A slow reader gets all of what came before the cut.
func TestRunAwayWithASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := deaf
		b.Pace = upstream.Latency{}
		f := newFleet(t, b, client.Config{}, "one")
		p := question("hi")
		p.MaxTokens = openai.Int(10)
		s := f.Chat.Completions.NewStreaming(t.Context(), p)
		text := ""
		for s.Next() {
			time.Sleep(time.Second)
			if c := s.Current().Choices; len(c) > 0 {
				text += c[0].Delta.Content
			}
		}
		if err := s.Close(); err != nil || s.Err() != nil || text != cutText(f.servers["one"]) {
			t.Errorf("got %q, %v, %v", text, err, s.Err())
		}
	})
}

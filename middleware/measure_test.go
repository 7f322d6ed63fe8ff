package middleware_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

const ms = time.Millisecond

// steady answers 8 tokens: the first after 200 ms, then one every 20 ms.
func steady() upstream.Behaviour {
	return upstream.Behaviour{
		TTFT: upstream.Latency{Median: 200 * ms}, Pace: upstream.Latency{Median: 20 * ms},
		Output: upstream.Length{Median: 8},
	}
}

// metered is a plain openai.Client with a Meter in it, over one simulated
// server.
func metered(s *upstream.Server, calls *[]middleware.Call, opts ...middleware.Option) openai.Client {
	opts = append(opts, middleware.Observe(middleware.CallFunc(func(c middleware.Call) { *calls = append(*calls, c) })))
	return openai.NewClient(
		option.WithBaseURL("https://one.test/v1/"), option.WithAPIKey("k"), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: upstream.Network{"one.test": s}}),
		option.WithMiddleware(middleware.Meter(opts...)),
	)
}

func params() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{
			IncludeUsage: openai.Bool(true),
		},
	}
}

func TestMeterMeasuresAPlainClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []middleware.Call
		server := upstream.New("one", steady(), 1)
		c := metered(server, &calls)

		s := c.Chat.Completions.NewStreaming(t.Context(), params())
		for s.Next() {
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		got := calls[0]
		// First token at 200 ms, the other seven 20 ms apart: the last at 340 ms.
		if got.TTFT != 200*ms || got.TPOT != 20*ms || got.Total != 340*ms || got.Stall != 20*ms {
			t.Errorf("TTFT %v, TPOT %v, total %v, stall %v; want 200ms, 20ms, 340ms, 20ms", got.TTFT, got.TPOT, got.Total, got.Stall)
		}
		if got.Outcome != middleware.Completed || got.Target != "one.test" || got.Usage.Output != 8 || got.FinishReason != "stop" {
			t.Errorf("%v by %s with %d tokens, %q; want completed by one.test with 8, stop", got.Outcome, got.Target, got.Usage.Output, got.FinishReason)
		}

		p := params()
		p.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
		if _, err := c.Chat.Completions.New(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if got := calls[1]; got.TTFT != 0 || got.Total != 340*ms || got.Usage.Output != 8 || got.Streamed {
			t.Errorf("not streamed: TTFT %v, total %v, %d tokens; want 0, 340ms, 8", got.TTFT, got.Total, got.Usage.Output)
		}
		if open := server.Stats().OpenBodies; open != 0 {
			t.Errorf("%d bodies are open", open)
		}
	})
}

func TestMeterNamesTheTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var calls []middleware.Call
		of := func(ctx context.Context) string { id, _ := ctx.Value(key{}).(string); return id }
		c := metered(upstream.New("one", steady(), 1), &calls, middleware.TraceID(of), middleware.As("home"))
		if _, err := c.Chat.Completions.New(context.WithValue(t.Context(), key{}, "4bf92f35"), params()); err != nil {
			t.Fatal(err)
		}
		if got := calls[0]; got.TraceID != "4bf92f35" || got.Target != "home" {
			t.Errorf("trace %q, target %q; want 4bf92f35 and home", got.TraceID, got.Target)
		}
	})
}

// A consumer that needs 30 ms for each event does not change what is measured
// of one every 20 ms.
func TestASlowReaderIsNotASlowProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []middleware.Call
		c := metered(upstream.New("one", steady(), 1), &calls)
		s := c.Chat.Completions.NewStreaming(t.Context(), params())
		for s.Next() {
			time.Sleep(30 * ms)
		}
		got := calls[0]
		if got.TTFT != 200*ms || got.TPOT != 20*ms || got.Stall != 20*ms || got.Total != 340*ms {
			t.Errorf("TTFT %v, TPOT %v, stall %v, total %v; want 200ms, 20ms, 20ms, 340ms", got.TTFT, got.TPOT, got.Stall, got.Total)
		}
	})
}

func TestMeterSaysHowACallEnded(t *testing.T) {
	for _, tt := range []struct {
		name    string
		step    upstream.Step
		stop    time.Duration // the caller cancels then
		outcome middleware.Outcome
		err     error
	}{
		{name: "whole", outcome: middleware.Completed},
		{name: "cut", step: upstream.Step{Fault: upstream.Cut, Events: 3}, outcome: middleware.Failed, err: middleware.ErrTruncated},
		{name: "reset", step: upstream.Step{Fault: upstream.Reset, Events: 3}, outcome: middleware.Failed, err: middleware.ErrTruncated},
		{name: "empty", step: upstream.Step{Fault: upstream.Empty}, outcome: middleware.Failed, err: middleware.ErrEmpty},
		{name: "cancelled", stop: 250 * ms, outcome: middleware.Cancelled, err: context.Canceled},
		{name: "hang", step: upstream.Step{Fault: upstream.Hang}, stop: 5 * time.Second, outcome: middleware.Cancelled, err: context.Canceled},
	} {
		synctest.Test(t, func(t *testing.T) {
			var calls []middleware.Call
			server := upstream.New("one", steady(), 1)
			server.Script(tt.step)
			c := metered(server, &calls)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.stop > 0 {
				time.AfterFunc(tt.stop, cancel)
			}
			s := c.Chat.Completions.NewStreaming(ctx, params())
			for s.Next() {
			}
			_ = s.Close()
			if len(calls) != 1 {
				t.Fatalf("%s: %d calls were observed, want 1", tt.name, len(calls))
			}
			got := calls[0]
			if got.Outcome != tt.outcome || !errors.Is(got.Err, tt.err) || (tt.err == nil) != (got.Err == nil) {
				t.Errorf("%s: %v, %v; want %v, %v", tt.name, got.Outcome, got.Err, tt.outcome, tt.err)
			}
			if open := server.Stats().OpenBodies; open != 0 {
				t.Errorf("%s: %d bodies are open", tt.name, open)
			}
		})
	}
}

func TestMeterRecordsAnHTTPErrorAndPassesItOn(t *testing.T) {
	var calls []middleware.Call
	server := upstream.New("one", steady(), 1)
	server.Script(upstream.Step{Fault: upstream.HTTPError})
	c := metered(server, &calls)
	_, err := c.Chat.Completions.New(t.Context(), params())
	sdk, ok := errors.AsType[*openai.Error](err)
	if !ok || sdk.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the SDK's error is %v, want its own of status 503", err)
	}
	provider, ok := errors.AsType[*middleware.ProviderError](calls[0].Err)
	if !ok || provider.Status != 503 || calls[0].Outcome != middleware.Failed {
		t.Errorf("the call is %v, %v; want failed with the provider's 503", calls[0].Outcome, calls[0].Err)
	}
}

// Not a byte differs, whatever the stream is like.
func TestMeterPassesEveryByte(t *testing.T) {
	const good = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"
	for _, body := range []string{
		"\ufeff" + good + "data: [DONE]\n\n",
		": comment\r\n\r\n" + good + "data: [DONE]\r\n\r\ntrailing",
		"data: not json\n\n" + good,
		good + "data: {\"error\":{\"message\":\"m\"}}\n\n" + good + "data: [DONE]",
		"{\"not\":\"a stream\"}",
		"<html>",
		"",
	} {
		server := upstream.New("one", upstream.Behaviour{}, 1)
		server.Script(upstream.Step{Raw: &upstream.Raw{Headers: map[string]string{"Content-Type": "text/event-stream"}, Parts: []upstream.Part{{Data: body}}}})
		transport := middleware.MeterTransport(server)
		r, _ := http.NewRequest("POST", "https://one.test/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[]}`))
		resp, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if string(got) != body || err != nil {
			t.Errorf("read %q, %v; want %q", got, err, body)
		}
	}
}

// A server that does not stream answers a call for a stream in one piece.
func TestMeterReadsAWholeAnswerInPlaceOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := steady()
		b.NoStream = true
		var calls []middleware.Call
		c := metered(upstream.New("one", b, 1), &calls)
		s := c.Chat.Completions.NewStreaming(t.Context(), params())
		for s.Next() {
		}
		_ = s.Close()
		got := calls[0]
		if got.Outcome != middleware.Completed || got.Usage.Output != 8 || got.TTFT != 0 || got.Total != 340*ms || got.FinishReason != "stop" {
			t.Errorf("%v, %d tokens, TTFT %v, total %v, %q; want completed, 8, 0, 340ms, stop", got.Outcome, got.Usage.Output, got.TTFT, got.Total, got.FinishReason)
		}
	})
}

func TestACallIsClaimedOnce(t *testing.T) {
	var calls []middleware.Call
	c := metered(upstream.New("one", upstream.Behaviour{}, 1), &calls)
	ctx, call := middleware.WithCall(t.Context())
	p := params()
	p.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	for _, model := range []string{"first", "second"} {
		p.Model = model
		if _, err := c.Chat.Completions.New(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	if call.Model != "first" || len(calls) != 2 {
		t.Errorf("the context's call is %q, %d were observed; want first, 2", call.Model, len(calls))
	}
}

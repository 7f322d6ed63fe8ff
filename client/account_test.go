package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// The cause that a caller gives its cancel or deadline is not taken for a fault
// of the target's.
func TestTheCallersCauseIsTheCallers(t *testing.T) {
	pressed := &middleware.ProviderError{Status: 500} // the worst that it could be
	for name, tt := range map[string]struct {
		ctx  func() (context.Context, context.CancelFunc)
		want middleware.Outcome
	}{
		"cancel": {func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(context.Background())
			time.AfterFunc(100*time.Millisecond, func() { cancel(pressed) })
			return ctx, func() { cancel(nil) }
		}, middleware.Cancelled},
		"deadline": {func() (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(context.Background(), 100*time.Millisecond, pressed)
		}, middleware.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, upstream.Behaviour{TTFT: upstream.Latency{Median: time.Second}}, "one")
				ctx, cancel := tt.ctx()
				defer cancel()
				_, _ = stream(ctx, f.chat(), question("x"))
				if call := f.lastCall(t); call.Outcome != tt.want || f.status(t, "one").Attempts.Failed != 0 {
					t.Errorf("%v, %d failures of the route; want %v, none", call.Outcome, f.status(t, "one").Attempts.Failed, tt.want)
				}
			})
		})
	}
}

// What a provider says may quote the prompt, and its own credential: the first
// goes to the caller alone, the second to nobody.
func TestWhatAProviderQuotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		step := raw(401, "application/json", `{"error":{"message":"your prompt was hello, your key key-of-one","code":"bad"}}`)
		step.Raw.Headers["X-Echo"] = "Bearer key-of-one"
		f.servers["one"].Script(step)
		_, err := ask(t.Context(), f.chat(), question("hello"))
		sdk, ok := errors.AsType[*openai.Error](err)
		if !ok || !strings.Contains(sdk.Message, "your prompt was hello") {
			t.Fatalf("the caller got %v, want the provider's message", err)
		}
		if reached := fmt.Sprint(sdk.Message, sdk.RawJSON(), sdk.Response.Header, string(sdk.DumpResponse(true))); strings.Contains(reached, "key-of-one") {
			t.Errorf("the key reached the caller: %s", reached)
		}
		call := f.lastCall(t)
		if text, _ := json.Marshal(call); strings.Contains(string(text), "your prompt") || strings.Contains(string(text), "key-of-one") {
			t.Errorf("a marshalled call quotes the provider: %s", text)
		}
		if text, _ := json.Marshal(call); !strings.Contains(string(text), `"Outcome":"failed"`) {
			t.Errorf("an outcome is not written as a word: %s", text)
		}
	})
}

// The same inside a stream, and for requests that are not inference.
func TestAQuotedKeyIsTakenOutEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		f.servers["one"].Script(events(chunkOf(0, "a", ""), `data: {"error":{"code":401,"message":"bad key key-of-one"}}`+"\n\n"))
		_, err := stream(t.Context(), f.chat(), question("x"))
		provider, ok := errors.AsType[*middleware.ProviderError](err)
		if !ok || !strings.Contains(provider.Message, "bad key") || strings.Contains(provider.Message, "key-of-one") {
			t.Errorf("the stream's error is %v, %q; want the message without the key", err, provider.Message)
		}
		step := raw(401, "application/json", `{"error":{"message":"bad key key-of-one"}}`)
		step.Raw.Headers["X-Echo"] = "key-of-one"
		f.servers["one"].Script(step)
		_, err = f.Models.List(t.Context())
		sdk, ok := errors.AsType[*openai.Error](err)
		if !ok || sdk.Message != "bad key [redacted]" || strings.Contains(fmt.Sprint(sdk.Response.Header), "key-of-one") {
			t.Errorf("the SDK's error is %v, %+v; want it without the key", err, sdk)
		}
	})
}

// A stream that the application neither reads to its end nor closes is over once
// the provider is through.
func TestAnUnreadStreamIsAccountedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, upstream.Behaviour{Pace: upstream.Latency{Median: time.Second}}, "one")
		s := f.chat().Chat.Completions.NewStreaming(t.Context(), question("x"))
		s.Next()
		time.Sleep(time.Hour)
		if call := f.lastCall(t); call.Outcome != middleware.Completed || call.Total != 15*time.Second {
			t.Errorf("%v after %v, want completed after 15s", call.Outcome, call.Total)
		}
		start := time.Now()
		if err := f.Close(); err != nil || time.Since(start) != 0 {
			t.Errorf("Close took %v, error %v; want it at once", time.Since(start), err)
		}
		_ = s.Close()
	})
}

// A refusal of the cap's value is not one of its name.
func TestAValueIsNotSwapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		f.servers["one"].Script(raw(400, "application/json", `{"error":{"message":"max_tokens is too large: at most 1000"}}`))
		p := question("x")
		p.MaxTokens = openai.Int(2000)
		if _, err := ask(t.Context(), f.chat(), p); err == nil || f.requests("one") != 1 {
			t.Errorf("error %v after %d requests, want the refusal after 1", err, f.requests("one"))
		}
	})
}

func TestTwoRefusedParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, upstream.Behaviour{Reject: []string{"stream_options", "max_tokens"}}, client.Config{}, "one")
		for range 3 {
			if _, err := stream(t.Context(), &f.Client.Client, question("hi")); err != nil {
				t.Error(err)
			}
		}
		if got := f.requests("one"); got != 5 { // three to find out, then one a call
			t.Errorf("%d requests, want 5", got)
		}
	})
}

func TestACredentialInTheQueryIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		_, err := f.chat().Chat.Completions.New(t.Context(), question("x"), option.WithQuery("api_key", "sk-secret"))
		mustBe(t, err, middleware.ErrForeignCredential)
		// net/http puts the caller's own URL in front of it.
		fault, _ := errors.AsType[*middleware.Error](err)
		if f.requests("one") != 0 || strings.Contains(fault.Error(), "sk-secret") {
			t.Errorf("%d requests, error %v; want none, and no secret", f.requests("one"), fault)
		}
	})
}

// An observer that is none, and a model that nobody serves, are refused.
func TestWhatCannotBeIsRefused(t *testing.T) {
	_, err := client.New(client.Config{
		Targets:   []client.Target{{Name: "one", BaseURL: "https://one.test/v1", Models: map[string]string{"m": "m"}}},
		Observers: []middleware.Observer{nil},
		Endpoints: map[string]budget.Budget{"chat": {Models: []string{"m", "n"}}},
	})
	for _, field := range []string{"observers", "endpoints.chat.models[1]"} {
		if err == nil || !strings.Contains(err.Error(), field+": ") {
			t.Errorf("%s is not among the problems: %v", field, err)
		}
	}
}

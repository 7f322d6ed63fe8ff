package otel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/otel"
)

// rescued is a call whose first attempt was abandoned after 3 s, whose second failed with
// tokens to pay, and whose third answered.
func rescued() middleware.Call {
	return middleware.Call{
		Endpoint: "chat", Format: "responses", Model: "gpt-5", Target: "azure-eu", Region: "eu",
		Planned: "azure-us", Fallback: "gpt-5-mini", Outcome: middleware.Completed, Start: time.Unix(1000, 0), Streamed: true, Hedged: true, Capped: true,
		Starved: true, MaxTokens: 512, FinishReason: "length", Waited: 500 * ms, Cost: 0.5,
		TTFT: 4 * time.Second, TTFA: 5 * time.Second, TPOT: 10 * ms, Stall: 300 * ms, Total: 6 * time.Second,
		Usage: middleware.Usage{Input: 1000, CachedInput: 400, Output: 500, Reasoning: 200},
		Attempts: []middleware.Attempt{
			{
				Target: "openai", Provider: "openai", Address: "api.openai.com:443", Model: "gpt-5", Outcome: middleware.TimedOut,
				Total: 3 * time.Second, Err: middleware.ErrAbandoned, Usage: middleware.Usage{Input: 1000, Estimated: true}, Cost: 0.1,
			},
			{
				Target: "xai", Provider: "xai", Address: "api.x.ai:443", Start: 2 * time.Second, Hedge: true, Outcome: middleware.Failed,
				Err: &middleware.ProviderError{Status: 200, Code: "overloaded"}, Total: 500 * ms, Usage: middleware.Usage{Input: 900, Output: 30},
			},
			{
				Target: "azure-eu", Region: "eu", Provider: "azure", Address: "eu.example.test:8443", Model: "deployment-1", ServedModel: "gpt-5-2026",
				Start: 3 * time.Second, TTFT: time.Second, LastContent: 3 * time.Second, Total: 3 * time.Second, Status: 200, MaxTokens: 512,
				Outcome: middleware.Completed, FinishReason: "length", Cost: 0.4,
				Usage:  middleware.Usage{Input: 1000, CachedInput: 400, Output: 500, Reasoning: 200},
				Timing: middleware.Timing{Conn: 10 * ms, Wrote: 20 * ms}, Server: middleware.ServerTiming{Queue: 100 * ms, Prefill: 200 * ms, TTFT: 400 * ms},
			},
		},
	}
}

func TestTokensAreCountedWhereTheyWereSpent(t *testing.T) {
	r := newRecorder(t)
	r.ObserveCall(rescued())
	type spent struct{ Target, Provider, Modality any }
	counted := func(name string) map[spent]float64 {
		all := map[spent]float64{}
		for _, p := range r.points(name) {
			all[spent{p.Attrs["ontime.target"], p.Attrs["gen_ai.provider.name"], p.Attrs["gen_ai.token.modality"]}] = p.Sum
		}
		return all
	}
	azure, xai := spent{"azure-eu", "azure.ai.openai", "unknown"}, spent{"xai", "x_ai", "unknown"}
	for name, want := range map[string]map[spent]float64{
		"gen_ai.client.inference.usage.input_tokens":            {azure: 1000, xai: 900}, // the estimate is not among them
		"gen_ai.client.inference.usage.output_tokens":           {azure: 500, xai: 30},
		"gen_ai.client.inference.usage.cache_read.input_tokens": {azure: 400},
		"gen_ai.client.inference.usage.reasoning.output_tokens": {azure: 200},
	} {
		if diff := cmp.Diff(want, counted(name)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	if p := r.points("gen_ai.client.inference.operation.input_tokens"); len(p) != 1 || p[0].Sum != 1000 {
		t.Errorf("input tokens of the call: %+v, want 1000", p)
	}
}

// What nobody counted counts for none, as the conventions have it.
func TestFailuresCount(t *testing.T) {
	r := newRecorder(t)
	r.ObserveCall(middleware.Call{
		Format: "chat", Model: "m", Target: "one", Outcome: middleware.Failed, Total: time.Second, Err: middleware.ErrEmpty,
		Usage: middleware.Usage{Output: 7, Estimated: true}, Attempts: []middleware.Attempt{{Target: "one", Err: middleware.ErrEmpty}},
	})
	for name, sum := range map[string]float64{
		"gen_ai.client.inference.duration":                1,
		"gen_ai.client.inference.operation.input_tokens":  0,
		"gen_ai.client.inference.operation.output_tokens": 0,
		"gen_ai.client.inference.usage.input_tokens":      0,
		"gen_ai.client.inference.usage.output_tokens":     0,
	} {
		if p := r.points(name); len(p) != 1 || p[0].Count != 1 || p[0].Sum != sum {
			t.Errorf("%s is %+v, want one of %v", name, p, sum)
		}
	}
	if got := r.points("gen_ai.client.inference.duration")[0].Attrs["error.type"]; got != "empty" {
		t.Errorf("error.type is %v, want empty", got)
	}
	if n := len(r.metrics()); n != 5 {
		t.Errorf("%d metrics, want the 5 that there is something of", n)
	}
}

func TestEmbeddings(t *testing.T) {
	r := newRecorder(t)
	r.ObserveCall(middleware.Call{
		Format: "embeddings", Model: "e", Target: "one", Outcome: middleware.Completed, Start: time.Unix(1, 0), Total: 250 * ms,
		Usage: middleware.Usage{Input: 12}, Attempts: []middleware.Attempt{{Target: "one", Outcome: middleware.Completed}},
	})
	if p := r.points("gen_ai.client.embeddings.duration"); len(p) != 1 || p[0].Sum != 0.25 || p[0].Attrs["gen_ai.operation.name"] != "embeddings" {
		t.Errorf("durations are %+v, want one of 0.25 s", p)
	}
	if got := r.sum("gen_ai.client.embeddings.operation.input_tokens"); got != 12 {
		t.Errorf("%v input tokens, want 12", got)
	}
	if n := len(r.metrics()); n != 2 {
		t.Errorf("%d metrics, want 2: embeddings are no inference", n)
	}
	got := values(r.span("embeddings e").Attributes)
	if got["gen_ai.usage.input_tokens"] != int64(12) || got["gen_ai.usage.output_tokens"] != nil || got["gen_ai.response.finish_reasons"] != nil {
		t.Errorf("the span is %v", got)
	}
}

// Whatever callers and providers send, there are no more names than fit.
func TestNamesAreBounded(t *testing.T) {
	r := newRecorder(t)
	for i := range 200 {
		name := fmt.Sprint("name-", i)
		r.ObserveCall(middleware.Call{Endpoint: name, Model: name, Err: middleware.ErrUnknownEndpoint, Outcome: middleware.Failed})
	}
	for i := range 200 {
		name := fmt.Sprint("known-", i)
		r.ObserveCall(middleware.Call{
			Endpoint: name, Model: name, Target: name, Outcome: middleware.Completed,
			Attempts: []middleware.Attempt{{Target: name, Address: name + ":443", ServedModel: name}},
		})
	}
	const most = 64 + 1 // and "other"
	seen := map[string]map[any]bool{}
	for _, p := range r.points("gen_ai.client.inference.duration") {
		for k, v := range p.Attrs {
			if seen[k] == nil {
				seen[k] = map[any]bool{}
			}
			seen[k][v] = true
		}
	}
	for _, k := range []string{"ontime.endpoint", "gen_ai.request.model", "gen_ai.response.model", "ontime.target"} {
		if len(seen[k]) != most || !seen[k]["other"] || !seen[k]["known-63"] {
			t.Errorf("%d values of %s, want 64 that were met first and other", len(seen[k]), k)
		}
	}
	if len(seen["server.address"]) != 64 {
		t.Errorf("%d servers, want 64", len(seen["server.address"]))
	}
}

func TestNewTellsWhatTheProviderSays(t *testing.T) {
	if _, err := otel.New(otel.MeterProvider(broken{sdkmetric.NewMeterProvider()})); !errors.Is(err, errBroken) {
		t.Errorf("the error is %v, want the provider's", err)
	}
}

func TestTraceIDWithoutASpan(t *testing.T) {
	if got := otel.TraceID(context.Background()); got != "" {
		t.Errorf("%q, want none", got)
	}
}

package otel_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"go.opentelemetry.io/otel/trace"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/otel"
)

// metered is a plain client with a Meter, over a simulated server.
func metered(r *recorder, host string, base http.RoundTripper) openai.Client {
	return openai.NewClient(
		option.WithBaseURL("https://"+host+"/v1/"), option.WithAPIKey("k"), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: base}),
		option.WithMiddleware(middleware.Meter(middleware.Observe(r), middleware.TraceID(otel.TraceID))),
	)
}

// A plain client has the same spans, and metrics to the nanosecond.
func TestMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(t)
		llm := metered(r, "api.groq.com", upstream.Network{"api.groq.com": upstream.New("one", steady, 1)})
		start := time.Now()
		ctx, app := r.tracer.Start(t.Context(), "app")
		p := question()
		p.StreamOptions.IncludeUsage = openai.Bool(true)
		s := llm.Chat.Completions.NewStreaming(ctx, p)
		for s.Next() {
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		app.End()

		call, attempt := r.span("chat gpt-4o-mini"), r.span("attempt api.groq.com")
		if call.Parent.SpanID() != app.SpanContext().SpanID() || attempt.Parent.SpanID() != call.SpanContext.SpanID() {
			t.Error("the call is not the application's child, or the attempt not the call's")
		}
		if call.StartTime != start || call.EndTime != start.Add(340*ms) || attempt.EndTime != call.EndTime {
			t.Errorf("from %v to %v, want 0s to 340ms", call.StartTime.Sub(start), call.EndTime.Sub(start))
		}
		about := map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.provider.name": "groq", "gen_ai.request.model": "gpt-4o-mini",
			"gen_ai.response.model": "gpt-4o-mini", "server.address": "api.groq.com", "server.port": int64(443),
			"ontime.endpoint": "default", "ontime.target": "api.groq.com",
		}
		duration := r.points("gen_ai.client.inference.duration")[0]
		want := map[string]any{"ontime.outcome": "completed"}
		for k, v := range about {
			want[k] = v
		}
		if diff := cmp.Diff(want, duration.Attrs); diff != "" || duration.Count != 1 || duration.Sum != 0.34 {
			t.Errorf("%d of %v s, want one of 0.34: -want +got\n%s", duration.Count, duration.Sum, diff)
		}
		first, gaps := r.points("gen_ai.client.inference.time_to_first_chunk")[0], r.points("gen_ai.client.inference.time_per_output_chunk")[0]
		if diff := cmp.Diff(about, first.Attrs); diff != "" || first.Count != 1 || first.Sum != 0.2 {
			t.Errorf("first chunk: %d of %v s, want one of 0.2: -want +got\n%s", first.Count, first.Sum, diff)
		}
		if gaps.Count != 7 || gaps.Sum < 0.14-1e-9 || gaps.Sum > 0.14+1e-9 {
			t.Errorf("%d chunks more in %v s, want 7 in 0.14", gaps.Count, gaps.Sum)
		}
		if got := r.sum("gen_ai.client.inference.usage.output_tokens"); got != 8 {
			t.Errorf("%v output tokens, want 8", got)
		}
		// An exemplar leads to the call's own span.
		if e := duration.Exemplars; len(e) != 1 || trace.SpanID(e[0].SpanID) != call.SpanContext.SpanID() {
			t.Errorf("exemplars are %+v, want the call's span", e)
		}
	})
}

func TestPropagate(t *testing.T) {
	for _, tell := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRecorder(t)
			server := upstream.New("one", steady, 1)
			var got string
			server.OnRequest(func(r *http.Request, _ []byte) { got = r.Header.Get("Traceparent") })
			var base http.RoundTripper = upstream.Network{"one.test": server}
			if tell {
				base = otel.Propagate(base)
			}
			llm := metered(r, "one.test", base)
			ctx, app := r.tracer.Start(t.Context(), "app")
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			if _, err := llm.Chat.Completions.New(ctx, question()); err != nil {
				t.Fatal(err)
			}
			want := ""
			if s := app.SpanContext(); tell {
				want = "00-" + s.TraceID().String() + "-" + s.SpanID().String() + "-01"
			}
			if got != want {
				t.Errorf("told, %t: %q, want %q", tell, got, want)
			}
		})
	}
}

// The caller's request stays as it is, and a response has it.
func TestPropagateChangesNothing(t *testing.T) {
	r := newRecorder(t)
	ctx, app := r.tracer.Start(t.Context(), "app")
	defer app.End()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://one.test/v1/chat/completions", nil)
	if err != nil {
		t.Fatal(err)
	}
	sent := roundTripper(func(r *http.Request) (*http.Response, error) {
		if r == req || r.Header.Get("Traceparent") == "" {
			t.Error("the request was sent as it was")
		}
		return &http.Response{Request: r, Body: http.NoBody}, nil
	})
	resp, err := otel.Propagate(sent).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if len(req.Header) != 0 || resp.Request != req {
		t.Error("the caller's request has changed, or the response has another")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

package otel_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/otel"
	"github.com/ontime-llm/ontime/router"
)

// steady answers 8 tokens: the first after 200 ms, then one every 20 ms.
var steady = upstream.Behaviour{
	TTFT: upstream.Latency{Median: 200 * ms}, Pace: upstream.Latency{Median: 20 * ms}, Output: upstream.Length{Median: 8},
}

// fleet is a client over simulated targets that are tried in their order.
type fleet struct {
	*client.Client
	*recorder
	servers map[string]*upstream.Server
	calls   []middleware.Call
}

func newFleet(t *testing.T, r *recorder, names ...string) *fleet {
	t.Helper()
	f := &fleet{recorder: r, servers: map[string]*upstream.Server{}}
	network := upstream.Network{}
	cfg := client.Config{
		Transport: network, TraceID: otel.TraceID,
		Endpoints: map[string]budget.Budget{"chat": {
			TTFT: budget.Layers{95: 600 * ms, 99: 2 * time.Second}, Total: budget.Layers{99: 5 * time.Second}, Hedge: 1,
		}},
		Observers: []middleware.Observer{r, middleware.CallFunc(func(c middleware.Call) { f.calls = append(f.calls, c) })},
	}
	for i, name := range names {
		f.servers[name] = upstream.New(name, steady, uint64(i+1))
		network[name+".test"] = f.servers[name]
		price := float64(i + 1)
		cfg.Targets = append(cfg.Targets, client.Target{
			Name: name, BaseURL: "https://" + name + ".test/v1", APIKey: "key-of-" + name, Region: "eu",
			Price: router.Price{Input: price, Output: price},
		})
	}
	var err error
	if f.Client, err = client.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func question() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("the prompt's own words")},
	}
}

// stream reads a streamed answer to its end.
func stream(ctx context.Context, c *openai.Client) error {
	s := c.Chat.Completions.NewStreaming(ctx, question())
	defer s.Close()
	for s.Next() {
	}
	return s.Err()
}

// One call, by hand: the first of 8 tokens at 200 ms, the last 7 times 20 ms later.
func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newRecorder(t), "one")
		start := time.Now()
		ctx, app := f.tracer.Start(t.Context(), "app")
		app.End() // that it has ended does not matter
		if err := stream(ctx, f.Endpoint("chat")); err != nil {
			t.Fatal(err)
		}

		call, attempt := f.span("chat gpt-4o-mini"), f.span("attempt one")
		if call.Parent.SpanID() != app.SpanContext().SpanID() || attempt.Parent.SpanID() != call.SpanContext.SpanID() {
			t.Error("the call is not the application's child, or the attempt not the call's")
		}
		if call.SpanKind != trace.SpanKindClient || call.Status.Code != codes.Unset {
			t.Errorf("kind %v, status %v; want client, unset", call.SpanKind, call.Status)
		}
		for _, s := range []struct{ from, to time.Time }{{call.StartTime, call.EndTime}, {attempt.StartTime, attempt.EndTime}} {
			if s.from != start || s.to != start.Add(340*ms) {
				t.Errorf("from %v to %v, want 0s to 340ms", s.from.Sub(start), s.to.Sub(start))
			}
		}
		if len(call.Events) != 1 || call.Events[0].Name != "ontime.commit" || call.Events[0].Time != start.Add(200*ms) {
			t.Errorf("events %v, want the commit at 200ms", call.Events)
		}
		input := int64(f.calls[0].Usage.Input)
		want := map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai",
			"gen_ai.request.model": "gpt-4o-mini", "gen_ai.request.stream": true, "gen_ai.request.max_tokens": int64(f.calls[0].MaxTokens),
			"gen_ai.response.model": "gpt-4o-mini", "gen_ai.response.finish_reasons": []string{"stop"},
			"gen_ai.response.time_to_first_chunk": 0.2,
			"gen_ai.usage.input_tokens":           input, "gen_ai.usage.output_tokens": int64(8),
			"server.address": "one.test", "server.port": int64(443),
			"ontime.endpoint": "chat", "ontime.target": "one", "ontime.region": "eu", "ontime.outcome": "completed",
			"ontime.attempts": int64(1), "ontime.hedged": false, "ontime.capped": true,
			"ontime.cost_usd": float64(input+8) / 1e6, "ontime.time_to_first_answer": 0.2,
			"ontime.time_per_output_token": 0.02, "ontime.stall": 0.02,
		}
		near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })
		if diff := cmp.Diff(want, values(call.Attributes), near); diff != "" {
			t.Errorf("the call: -want +got\n%s", diff)
		}
		if got := f.calls[0].TraceID; got != call.SpanContext.TraceID().String() {
			t.Errorf("the call's TraceID is %q, want that of its span", got)
		}
	})
}

func TestHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newRecorder(t), "one", "two")
		f.servers["one"].Script(upstream.Step{Fault: upstream.Hang})
		if err := stream(t.Context(), f.Endpoint("chat")); err != nil {
			t.Fatal(err)
		}
		call, lost, won := f.span("chat gpt-4o-mini"), f.span("attempt one"), f.span("attempt two")
		hedged := won.StartTime.Sub(call.StartTime)
		if hedged <= 0 || hedged > 2*time.Second {
			t.Fatalf("the hedge started at %v", hedged)
		}
		// The loser has lost when the winner has content, 200 ms after its start.
		if got := lost.EndTime.Sub(lost.StartTime); lost.StartTime != call.StartTime || got != hedged+200*ms {
			t.Errorf("the loser took %v, want %v", got, hedged+200*ms)
		}
		if got := call.EndTime.Sub(call.StartTime); got != hedged+340*ms {
			t.Errorf("the call took %v, want %v", got, hedged+340*ms)
		}
		if call.Parent.IsValid() {
			t.Error("the call has a parent, and was made in no span")
		}
		type at struct {
			Name   string
			At     time.Duration
			Target any
		}
		var events []at
		for _, e := range call.Events {
			events = append(events, at{e.Name, e.Time.Sub(call.StartTime), values(e.Attributes)["ontime.target"]})
		}
		if diff := cmp.Diff([]at{{"ontime.hedge", hedged, "two"}, {"ontime.commit", hedged + 200*ms, "two"}}, events); diff != "" {
			t.Errorf("events: -want +got\n%s", diff)
		}
		l, w := values(lost.Attributes), values(won.Attributes)
		if l["ontime.outcome"] != "lost" || l["error.type"] != nil || lost.Status.Code != codes.Unset || w["ontime.attempt.kind"] != "hedge" {
			t.Errorf("the loser is %v, the winner %v", l, w)
		}
		if c := values(call.Attributes); c["ontime.hedged"] != true || c["ontime.target"] != "two" || c["server.address"] != "two.test" {
			t.Errorf("the call is %v", c)
		}
	})
}

func TestFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newRecorder(t), "one", "two")
		f.servers["one"].Script(upstream.Step{Fault: upstream.HTTPError, Set: func(b *upstream.Behaviour) { b.Faults.Status = 503 }})
		if _, err := f.Endpoint("chat").Chat.Completions.New(t.Context(), question()); err != nil {
			t.Fatal(err)
		}
		first, second := f.span("attempt one"), f.span("attempt two")
		got := values(first.Attributes)
		if got["error.type"] != "503" || got["http.response.status_code"] != int64(503) || first.Status.Code != codes.Error {
			t.Errorf("the first attempt is %v, %v; want 503 and an error", got, first.Status)
		}
		if got := values(second.Attributes); got["ontime.attempt.kind"] != "failover" || got["error.type"] != nil {
			t.Errorf("the second attempt is %v, want a failover that worked", got)
		}
		call := f.span("chat gpt-4o-mini")
		if got := values(call.Attributes); got["error.type"] != nil || call.Status.Code != codes.Unset || got["gen_ai.request.stream"] != nil {
			t.Errorf("the call is %v, %v; want no error", got, call.Status)
		}
		// It came in one piece, with its last token: that is when it was committed.
		if e := call.Events[0]; e.Name != "ontime.commit" || e.Time != call.EndTime || call.EndTime.Sub(call.StartTime) != 340*ms {
			t.Errorf("%s at %v, the end at %v; want the commit at the end, 340ms", e.Name, e.Time.Sub(call.StartTime), call.EndTime.Sub(call.StartTime))
		}
	})
}

// A prompt, an answer, a credential or a provider's message is in nothing that is told.
func TestNothingLeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newRecorder(t), "one")
		const body = `{"error":{"message":"you said: the prompt's own words, with key-of-one","type":"invalid_request_error","code":"bad_word"}}`
		f.servers["one"].Script(upstream.Step{Raw: &upstream.Raw{Status: 400, Parts: []upstream.Part{{Data: body}}}})
		if err := stream(t.Context(), f.Endpoint("chat")); err == nil {
			t.Fatal("no error")
		}
		if err := stream(t.Context(), f.Endpoint("chat")); err != nil {
			t.Fatal(err)
		}
		failed := f.spans()["chat gpt-4o-mini"][0]
		if got := values(failed.Attributes); got["error.type"] != "400" || got["ontime.error.code"] != "bad_word" {
			t.Errorf("the call is %v, want 400 with its code", got)
		}
		var told strings.Builder
		for _, s := range f.exporter.GetSpans() {
			told.WriteString(strings.Join(append(stringsOf(s.Attributes), s.Name, s.Status.Description), "\n"))
			for _, e := range s.Events {
				told.WriteString(e.Name + strings.Join(stringsOf(e.Attributes), "\n"))
			}
		}
		for name := range f.metrics() {
			for _, p := range f.points(name) {
				for _, v := range p.Attrs {
					if s, ok := v.(string); ok {
						told.WriteString(s + "\n")
					}
				}
			}
		}
		for _, secret := range []string{"own words", "key-of", "you said", "invalid_request"} {
			if strings.Contains(told.String(), secret) {
				t.Errorf("%q is told:\n%s", secret, told.String())
			}
		}
	})
}

func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newRecorder(t), "one")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		time.AfterFunc(100*ms, cancel)
		if err := stream(ctx, f.Endpoint("chat")); err == nil {
			t.Fatal("no error")
		}
		call := f.span("chat gpt-4o-mini")
		got := values(call.Attributes)
		if got["error.type"] != "cancelled" || call.Status.Code != codes.Unset || call.EndTime.Sub(call.StartTime) != 100*ms {
			t.Errorf("the call is %v, %v, %v; want cancelled after 100ms, and no error", got, call.Status, call.EndTime.Sub(call.StartTime))
		}
		if len(call.Events) != 0 || got["gen_ai.usage.input_tokens"] != nil {
			t.Errorf("events %v, attributes %v; want no commit and no usage", call.Events, got)
		}
	})
}

// A call that is refused is a span and counts, without a server.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, newRecorder(t), "one")
		if err := stream(t.Context(), f.Endpoint("nobody's")); err == nil {
			t.Fatal("no error")
		}
		call := f.span("chat") // nobody has read what model it asks for
		if got := values(call.Attributes); got["error.type"] != "unknown_endpoint" || got["server.address"] != nil || call.Status.Code != codes.Error {
			t.Errorf("the call is %v, %v", got, call.Status)
		}
		if p := f.points("gen_ai.client.inference.duration"); len(p) != 1 || p[0].Attrs["ontime.endpoint"] != "other" {
			t.Errorf("points are %+v, want one of the endpoint other", p)
		}
	})
}

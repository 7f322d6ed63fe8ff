package otel_test

import (
	"strings"
	"testing"
	"testing/synctest"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func TestSampling(t *testing.T) {
	for name, tt := range map[string]struct {
		sampler sdktrace.Sampler
		spans   int
	}{
		"always":           {sdktrace.AlwaysSample(), 2},
		"never":            {sdktrace.NeverSample(), 0},
		"with the parent":  {sdktrace.ParentBased(sdktrace.AlwaysSample()), 0},
		"by what is known": {byEndpoint("chat"), 2},
		"and by no other":  {byEndpoint("batch"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, newRecorder(t, sdktrace.WithSampler(tt.sampler)), "one")
				unsampled := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
				if err := stream(trace.ContextWithSpanContext(t.Context(), unsampled), f.Endpoint("chat")); err != nil {
					t.Fatal(err)
				}
				if got := len(f.exporter.GetSpans()); got != tt.spans {
					t.Errorf("%d spans, want %d", got, tt.spans)
				}
				if p := f.points("gen_ai.client.inference.duration"); len(p) != 1 || p[0].Count != 1 {
					t.Errorf("points are %+v: a metric counts what is not sampled too", p)
				}
			})
		})
	}
}

// byEndpoint samples the calls of one endpoint, and their attempts.
type byEndpoint string

func (name byEndpoint) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	decision := sdktrace.Drop
	if strings.HasPrefix(p.Name, "attempt ") || values(p.Attributes)["ontime.endpoint"] == string(name) {
		decision = sdktrace.RecordAndSample
	}
	return sdktrace.SamplingResult{Decision: decision}
}

func (name byEndpoint) Description() string { return string(name) }

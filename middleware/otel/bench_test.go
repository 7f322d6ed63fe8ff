package otel_test

import (
	"testing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/ontime-llm/ontime/middleware/otel"
)

// A call of 500 events, of three attempts, when it has ended.
func BenchmarkObserve(b *testing.B) {
	for name, sampler := range map[string]sdktrace.Sampler{"sampled": sdktrace.AlwaysSample(), "not sampled": sdktrace.NeverSample()} {
		b.Run(name, func(b *testing.B) {
			c := rescued()
			c.Attempts[2].ITL = paced(b, 500)
			o, err := otel.New(
				otel.TracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler), sdktrace.WithSyncer(tracetest.NewNoopExporter()))),
				otel.MeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				o.ObserveCall(c)
			}
		})
	}
}

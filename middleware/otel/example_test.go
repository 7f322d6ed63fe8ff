package otel_test

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/otel"
)

// An Observer goes into a client's Config.Observers, or a Meter. Here it is told of one
// call as a Meter would tell it.
func ExampleNew() {
	exporter := tracetest.NewInMemoryExporter() // or one that sends them somewhere
	o, err := otel.New(otel.TracerProvider(trace.NewTracerProvider(trace.WithSyncer(exporter))))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = middleware.Meter(middleware.Observe(o)) // for option.WithMiddleware

	o.ObserveCallContext(context.Background(), middleware.Call{
		Endpoint: "chat", Format: "chat", Model: "gpt-4o-mini", Target: "openai", Outcome: middleware.Completed,
		Start: time.Now(), TTFT: 280 * time.Millisecond, Total: 2 * time.Second, Streamed: true,
		Attempts: []middleware.Attempt{{
			Target: "openai", Address: "api.openai.com:443", Outcome: middleware.Completed, TTFT: 280 * time.Millisecond, Total: 2 * time.Second,
		}},
	})
	for _, span := range exporter.GetSpans() {
		fmt.Println(span.Name, span.EndTime.Sub(span.StartTime))
		for _, event := range span.Events {
			fmt.Println(" ", event.Name, event.Time.Sub(span.StartTime))
		}
	}
	// Output:
	// attempt openai 2s
	// chat gpt-4o-mini 2s
	//   ontime.commit 280ms
}

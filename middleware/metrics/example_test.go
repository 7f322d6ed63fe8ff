package metrics_test

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/metrics"
)

// Metrics observe a plain client's calls through a Meter. Here they are told of one call
// as a Meter would tell them.
func ExampleNew() {
	reg := prometheus.NewRegistry() // or prometheus.DefaultRegisterer
	m, err := metrics.New(reg)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = middleware.Meter(middleware.Observe(m), middleware.As("openai")) // for option.WithMiddleware

	m.ObserveCall(middleware.Call{
		Endpoint: "chat", Model: "gpt-4o-mini", Target: "openai", Outcome: middleware.Completed,
		TTFT: 280 * time.Millisecond, Total: 2 * time.Second,
	})
	families, err := reg.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range families {
		fmt.Println(f.GetName(), f.GetType())
	}
	// Output:
	// ontime_calls_total COUNTER
	// ontime_total_seconds HISTOGRAM
	// ontime_ttft_seconds HISTOGRAM
}

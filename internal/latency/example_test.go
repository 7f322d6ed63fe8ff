package latency_test

import (
	"fmt"
	"time"

	"github.com/ontime-llm/ontime/internal/latency"
)

// Of ten calls nine answer within 0.5 s; the tenth hangs. It is no latency yet,
// but it is known to have taken more than 4 s.
func Example() {
	now := time.Now()
	h := latency.New(1.0/1024, now) // in seconds
	for range 9 {
		h.Record(now, 0.5)
	}

	var fast, slow latency.Counts
	h.Fold(now, &fast, &slow)
	slow.Censor(4.2, 1) // under way for so long

	d := slow.Dist()
	fmt.Printf("%.2f take longer than 600 ms\n", d.Survival(0.6))
	fmt.Printf("p50 %.2f s, p95 %v\n", d.Quantile(0.5), d.Quantile(0.95))
	// Output:
	// 0.10 take longer than 600 ms
	// p50 0.49 s, p95 +Inf
}

package router

import (
	"testing"
	"time"
)

// BenchmarkNotice is what a report costs in addition: what it says goes to where changes
// and habits are found.
func BenchmarkNotice(b *testing.B) {
	now, o := time.Unix(0, 0), new(outputs)
	c := new(changes)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(10 * time.Millisecond)
		c.served.saw("m-2025-08-07", now)
		c.ttft.saw(0.3, now)
		c.tpot.saw(0.02, now)
		o.habits.add(habit{ttft: 0.3})
	}
}

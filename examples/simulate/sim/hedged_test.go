package sim_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/examples/simulate/sim"
)

// delay is when a call would be doubled.
func delay(h *sim.Hedge) time.Duration { return h.Delay(0, call, 0) }

func TestHedgeDelayIsTheP95(t *testing.T) {
	p, h := rival(t, "failover +hedge@content", 2)
	for i := range 19 {
		serve(p, 0, 0, ms, time.Duration(i+1)*100*ms, 5*time.Second)
	}
	if got := delay(h); got != 0 {
		t.Errorf("a hedge after %v with 19 times seen", got)
	}
	serve(p, 0, 0, ms, 2*time.Second, 5*time.Second)
	if got := delay(h); got != 1900*ms {
		t.Errorf("Delay() = %v, want the 19th of 20 times, 1.9s", got)
	}
	for range 200 {
		serve(p, 0, 0, ms, 300*ms, 5*time.Second)
	}
	if got := delay(h); got != 300*ms {
		t.Errorf("Delay() = %v, want 300ms: older times than the latest 200 are forgotten", got)
	}
	if got := h.Second(0, call, 0); got != 1 {
		t.Errorf("Second() = %d, want the other target", got)
	}
}

func TestHedgeAtHeadersTimesHeaders(t *testing.T) {
	p, h := rival(t, "failover +hedge@headers", 2)
	for range 20 {
		serve(p, 0, 0, 100*ms, time.Second, 5*time.Second)
	}
	if got := delay(h); got != 100*ms {
		t.Errorf("Delay() = %v, want the time to headers", got)
	}
	for range 190 {
		refuse(p, 0, 0, 500)
	}
	if got := delay(h); got != 10*ms {
		t.Errorf("Delay() = %v, want 10ms: an error is a result too", got)
	}
}

func TestHedgeRatchets(t *testing.T) {
	p, h := rival(t, "failover +hedge@content", 2)
	for range 20 {
		p.Sent(0, call, 0)
		p.Sent(time.Second, call, 1)
		p.Heard(1100*ms, call, sim.Seen{Target: 1, Sent: time.Second, Headers: 100 * ms, TTFT: 100 * ms, End: 100 * ms})
		p.Ended(1100*ms, call, sim.Seen{Target: 0, Gone: true, End: 1100 * ms})
		p.Ended(2*time.Second, call, sim.Seen{Target: 1, Sent: time.Second, TTFT: 100 * ms, Total: time.Second, End: time.Second})
	}
	if got := delay(h); got != 1100*ms {
		t.Errorf("Delay() = %v, want 1.1s: a winner that took 100ms counts from the first request", got)
	}
}

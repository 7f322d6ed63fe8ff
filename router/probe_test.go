package router_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/router"
)

func TestProbes(t *testing.T) {
	in(t, two(p95), func(w world) {
		for range 10 {
			w.quick("a", chat, 100*ms)
		}
		w.fails("a", 5)
		w.opening()
		long := chat
		long.PromptBytes = 6100
		if got := targets(w.Plan(long)); !slices.Equal(got, []string{"b"}) {
			t.Errorf("choices of a long prompt = %v, want b: a probe is small", got)
		}
		p := w.Plan(chat)
		if got := targets(p); !slices.Equal(got, []string{"a", "b"}) || !p.Choices[0].Probe() || p.Choices[1].Probe() {
			t.Fatalf("choices = %+v, want a as a probe, then b", p.Choices)
		}
		again := w.Plan(chat)
		probe, err := w.Start(p.Choices[0], chat)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Start(again.Choices[0], chat); err == nil {
			t.Error("two probes at once")
		}
		if p := w.Plan(chat); len(p.Choices) != 1 || p.Refused[0].Why != router.WhyProbing {
			t.Errorf("choices %v, refused %v; want b only while a is probed", p.Choices, p.Refused)
		}
		// It is cancelled, which says nothing: the next may try.
		w.Report(router.Report{Flight: probe, Outcome: router.Cancelled, Elapsed: ms})
		w.state("a", router.StateHalfOpen)
		probe = w.start("a", chat)
		w.state("a", router.StateHalfOpen)
		probe.Content(100 * ms)
		w.state("a", router.StateOK)
		w.Report(router.Report{Flight: probe, Elapsed: time.Second})
		w.state("a", router.StateOK)
	})
}

// A route that only long prompts reach is probed by one in the end.
func TestAnyCallMayProbeAfterAWhile(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.fails("a", 5)
		w.opening()
		long := chat
		long.PromptBytes = 1 << 20
		time.Sleep(14 * time.Second)
		if p := w.Plan(long); p.Choices[0].Probe() {
			t.Error("a long prompt is a probe at once")
		}
		time.Sleep(time.Second)
		if p := w.Plan(long); !p.Choices[0].Probe() {
			t.Error("a long prompt is no probe after 15s")
		}
	})
}

// A probe of which nobody ever tells the end does not block the route for ever.
func TestALostProbe(t *testing.T) {
	in(t, two(p95), func(w world) {
		w.fails("a", 5)
		w.opening()
		abandon := w.Plan(chat).Choices[0].Abandon
		lost := w.start("a", chat)
		time.Sleep(2*abandon - ms)
		if p := w.Plan(chat); len(p.Choices) != 1 {
			t.Errorf("choices %v, want b alone for twice the %v after which it is given up", p.Choices, abandon)
		}
		time.Sleep(ms)
		w.quick("a", chat, 100*ms)
		w.state("a", router.StateOK)
		w.Report(router.Report{Flight: lost, Outcome: router.Failed}) // old news
		w.state("a", router.StateOK)
	})
}

// What started before an opening has no say in it.
func TestEarlierAttemptsAreNoProbes(t *testing.T) {
	in(t, two(p95), func(w world) {
		early := []*router.Flight{w.start("a", chat), w.start("a", chat), w.start("a", chat)}
		w.fails("a", 5)
		early[0].Content(time.Second)
		w.state("a", router.StateOpen)
		w.opening()
		w.Report(router.Report{Flight: early[1], Outcome: router.Failed})
		w.state("a", router.StateHalfOpen)
		w.quick("a", chat, 100*ms)
		for range 4 {
			w.fails("a", 1)
		}
		w.Report(router.Report{Flight: early[2], Outcome: router.Failed})
		w.state("a", router.StateOK)
	})
}

// After an opening a route's share grows from a tenth to all in 30 s.
func TestRamp(t *testing.T) {
	in(t, cheap(), func(w world) {
		for range 20 {
			w.quick("a", chat, 100*ms)
			w.quick("b", chat, 100*ms)
		}
		w.always("a", chat)
		w.fails("a", 5)
		for range 200 { // so that its failures are no reason to avoid it
			time.Sleep(20 * time.Second)
			if w.status("a").State == router.StateHalfOpen {
				break
			}
		}
		time.Sleep(30 * time.Minute)
		w.quick("a", chat, 100*ms)
		for _, c := range []struct {
			after    time.Duration
			low, top int // of 1000: 4.6 deviations around the share
		}{{0, 56, 144}, {15 * time.Second, 477, 623}, {15 * time.Second, 1000, 1000}} {
			time.Sleep(c.after)
			if got := w.firsts(chat, 1000)["a"]; got < c.low || got > c.top {
				t.Errorf("a is first in %d of 1000 plans, want %d to %d", got, c.low, c.top)
			}
		}
	})
}

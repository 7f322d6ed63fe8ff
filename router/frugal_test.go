package router_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// batch has a target a at half the price of b.
func batch(b budget.Budget) router.Config {
	c := two(b)
	c.Targets[0].Price = router.Price{Input: 1, Output: 2}
	c.Targets[1].Price = router.Price{Input: 2, Output: 4}
	return c
}

// Nobody waits for a batch: that a takes forty times as long makes no difference.
func TestBatchTakesTheCheapest(t *testing.T) {
	in(t, batch(budget.Batch()), func(w world) {
		for range 50 {
			w.stream("a", chat, 8*time.Second, 100*ms)
			w.stream("b", chat, 200*ms, 5*ms)
			w.whole("a", chat, 20*time.Second, 200)
			w.whole("b", chat, 500*ms, 200)
		}
		req := chat
		for _, req.Streamed = range []bool{true, false} {
			w.always("a", req)
			if why := w.Plan(req).Reason(); why != "a: the cheapest that answers; then b" {
				t.Errorf("reason is %q", why)
			}
		}
	})
}

// The small model costs less on b, which is dearer for the large one, and for any other.
func TestTheCheapestForTheModel(t *testing.T) {
	c := batch(budget.Batch())
	for i := range c.Targets {
		c.Targets[i].Models = nil
	}
	c.Targets[1].Prices = map[string]router.Price{"small": {Input: 0.1, Output: 0.2}}
	in(t, c, func(w world) {
		for model, want := range map[string]string{"small": "b", "large": "a"} {
			req := chat
			req.Model = model
			for range 50 {
				w.stream("a", req, 200*ms, 5*ms)
				w.stream("b", req, 200*ms, 5*ms)
			}
			w.always(want, req)
		}
	})
}

// Cheap is no use without an answer: with half of its attempts failing, a costs
// 500*0.5^2 = 125 for errors that would reach the caller, and b 3*(4/3-2/3) = 2 in
// money.
func TestBatchDoesNotTakeWhatFails(t *testing.T) {
	in(t, batch(budget.Batch()), func(w world) {
		for range 40 {
			w.stream("a", chat, 200*ms, 5*ms)
			w.stream("b", chat, 200*ms, 5*ms)
			w.end("a", chat, router.Failed, ms)
			w.Restore("a")
		}
		w.always("b", chat)
	})
}

func TestWithoutLayersTimeCounts(t *testing.T) {
	unpriced := two(budget.Batch())
	for name, c := range map[string]router.Config{
		"the zero budget": batch(budget.Budget{}),
		"cost is ignored": batch(budget.Budget{CostWeight: -1}),
		"no prices known": unpriced,
	} {
		t.Run(name, func(t *testing.T) {
			in(t, c, func(w world) {
				for range 50 {
					w.stream("a", chat, 2*time.Second, 5*ms)
					w.stream("b", chat, 200*ms, 5*ms)
				}
				w.always("b", chat)
			})
		})
	}
}

// A batch that is promised an end weighs cost against it as any endpoint does.
func TestBatchWithALayer(t *testing.T) {
	night := budget.Batch()
	night.Total = budget.Layers{99: 10 * time.Second}
	in(t, batch(night), func(w world) {
		for range 50 {
			w.stream("a", chat, 30*time.Second, 5*ms)
			w.stream("b", chat, 200*ms, 5*ms)
		}
		w.always("b", chat)
	})
}

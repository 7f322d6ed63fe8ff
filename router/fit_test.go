package router_test

import (
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// cap starts an attempt on target a and returns what it may write.
func (w world) cap(req router.Request) int {
	w.t.Helper()
	f := w.start("a", req)
	w.Report(router.Report{Flight: f, Outcome: router.Lost})
	return f.MaxTokens()
}

// A route has brought its first token after 1 s and then one every 20 ms. A cap
// is what fits into the time that is left: 1 + (left - 1s)/20ms.
func TestFit(t *testing.T) {
	fit := budget.MaxTokens{Fit: true}
	for name, test := range map[string]struct {
		budget   budget.Budget
		cap      int // of the request
		thinking int
		age      time.Duration
		deadline time.Duration // from now
		want     int
		within   float64 // 0: exactly
	}{
		"p50 total 5s: (5-1)/0.02":         {budget: budget.Budget{Total: budget.Layers{50: 5 * time.Second}, MaxTokens: fit}, cap: 4096, want: 201, within: 0.08},
		"p90 total 5s":                     {budget: budget.Budget{Total: budget.Layers{90: 5 * time.Second}, MaxTokens: fit}, cap: 4096, want: 201, within: 0.08},
		"the strictest layer: (3-1)/0.02":  {budget: budget.Budget{Total: budget.Layers{50: 3 * time.Second, 90: 20 * time.Second}, MaxTokens: fit}, cap: 4096, want: 101, within: 0.08},
		"a cap that is lower stays":        {budget: budget.Budget{Total: budget.Layers{50: 5 * time.Second}, MaxTokens: fit}, cap: 100, want: 100},
		"no cap gets one":                  {budget: budget.Budget{Total: budget.Layers{50: 5 * time.Second}, MaxTokens: fit}, want: 201, within: 0.08},
		"not asked for":                    {budget: budget.Budget{Total: budget.Layers{50: 5 * time.Second}}, cap: 4096, want: 4096},
		"nothing to fit into":              {budget: budget.Budget{TTFT: budget.Layers{50: time.Second}, MaxTokens: fit}, cap: 4096, want: 4096},
		"nothing to fit into, no cap":      {budget: budget.Budget{MaxTokens: fit}, want: 0},
		"no less than 64: 1+(1.5-1)/0.02":  {budget: budget.Budget{Total: budget.Layers{50: 1500 * ms}, MaxTokens: fit}, cap: 4096, want: 64},
		"what no cap keeps has no say":     {budget: budget.Budget{Total: budget.Layers{50: 700 * ms}, MaxTokens: fit}, cap: 4096, want: 4096},
		"and leaves it to the others":      {budget: budget.Budget{Total: budget.Layers{50: 700 * ms, 90: 5 * time.Second}, MaxTokens: fit}, cap: 4096, want: 201, within: 0.08},
		"2s have passed: (5-2-1)/0.02":     {budget: budget.Budget{Total: budget.Layers{50: 5 * time.Second}, MaxTokens: fit}, cap: 4096, age: 2 * time.Second, want: 101, within: 0.08},
		"a deadline in 5s":                 {budget: budget.Budget{MaxTokens: fit}, cap: 4096, deadline: 5 * time.Second, want: 201, within: 0.08},
		"a deadline before the layer":      {budget: budget.Budget{Total: budget.Layers{50: 9 * time.Second}, MaxTokens: fit}, cap: 4096, deadline: 5 * time.Second, want: 201, within: 0.08},
		"a deadline that is all but there": {budget: budget.Budget{MaxTokens: fit}, cap: 4096, deadline: 500 * ms, want: 64},
		"thinking: 30/0.02":                {budget: budget.Budget{Total: budget.Layers{50: 30 * time.Second}, MaxTokens: fit}, cap: 32768, thinking: 1024, want: 1501, within: 0.08},
		"room for thinking: 1024+64":       {budget: budget.Budget{Total: budget.Layers{50: 5 * time.Second}, MaxTokens: fit}, cap: 32768, thinking: 1024, want: 1088},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, two(test.budget), func(w world) {
				for range 100 {
					w.stream("a", chat, time.Second, 20*ms)
				}
				time.Sleep(time.Second)
				req := chat
				req.MaxTokens, req.Thinking, req.Since = test.cap, test.thinking, time.Now().Add(-test.age)
				if test.deadline > 0 {
					req.Deadline = time.Now().Add(test.deadline)
				}
				if got := w.cap(req); !about(got, test.want, test.within) {
					t.Errorf("cap is %d, want %d", got, test.want)
				}
			})
		})
	}
}

func about(got, want int, within float64) bool {
	return float64(got) >= float64(want)*(1-within) && float64(got) <= float64(want)*(1+within)
}

// Whole answers of 101 tokens took 3 s: that many fit into 3 s, and into 6 s as many
// more as 3 s are at the pace that is reckoned with (0.5 s and 20 ms a token at
// first, so that 2*(0.5+100*0.02) = 0.5 + 225*0.02).
func TestFitOfWholeAnswers(t *testing.T) {
	for limit, want := range map[time.Duration]int{3 * time.Second: 101, 6 * time.Second: 226} {
		in(t, two(budget.Budget{Total: budget.Layers{50: limit}, MaxTokens: budget.MaxTokens{Fit: true}}), func(w world) {
			for range 100 {
				w.whole("a", chat, 3*time.Second, 101)
			}
			time.Sleep(time.Second)
			req := chat
			req.Streamed, req.MaxTokens = false, 4096
			if got := w.cap(req); !about(got, want, 0.08) {
				t.Errorf("cap is %d in %v, want %d", got, limit, want)
			}
		})
	}
}

// Before anything has been seen the cap fits what is expected of any route: a
// median of 0.5 s, then 20 ms a token.
func TestFitOfAColdRoute(t *testing.T) {
	in(t, two(budget.Budget{Total: budget.Layers{50: 4500 * ms}, MaxTokens: budget.MaxTokens{Fit: true}}), func(w world) {
		req := chat
		req.MaxTokens = 4096
		if got := w.cap(req); !about(got, 201, 0.08) {
			t.Errorf("cap is %d, want 201", got)
		}
	})
}

// Each attempt is fitted to its own route: the other one is twice as fast.
func TestFitIsTheRoutes(t *testing.T) {
	in(t, two(budget.Budget{Total: budget.Layers{50: 5 * time.Second}, MaxTokens: budget.MaxTokens{Fit: true}}), func(w world) {
		for range 100 {
			w.stream("a", chat, time.Second, 20*ms)
			w.stream("b", chat, time.Second, 10*ms)
		}
		time.Sleep(time.Second)
		req := chat
		req.MaxTokens = 4096
		f := w.start("b", req)
		if got := f.MaxTokens(); !about(got, 401, 0.08) { // (5-1)/0.01
			t.Errorf("cap is %d, want 401", got)
		}
		w.Report(router.Report{Flight: f, Outcome: router.Lost})
		if got := w.cap(req); !about(got, 201, 0.08) {
			t.Errorf("cap is %d, want 201", got)
		}
	})
}

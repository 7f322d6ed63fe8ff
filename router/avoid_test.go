package router_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// three returns a config with targets a1 and a2 of one provider and b of another.
func three() router.Config {
	return router.Config{
		Targets: []router.Target{
			{Name: "a1", Provider: "x", Models: []string{"m"}},
			{Name: "a2", Provider: "x", Models: []string{"m"}},
			{Name: "b", Provider: "y", Models: []string{"m"}},
			{Name: "own", Models: []string{"m", "n"}},
		},
		Budgets: map[string]budget.Budget{"chat": {}, "x": {Targets: []string{"a1", "a2"}}},
	}
}

func TestPlanAvoidsAProvider(t *testing.T) {
	in(t, three(), func(w world) {
		for _, test := range []struct {
			name string
			req  router.Request
			want []string
		}{
			{"none", router.Request{Model: "m"}, []string{"a1", "a2", "b", "own"}},
			{"all of its targets", router.Request{Model: "m", Avoid: "x"}, []string{"b", "own"}},
			{"an unknown one", router.Request{Model: "m", Avoid: "z"}, []string{"a1", "a2", "b", "own"}},
			{"a pin to it will not do", router.Request{Model: "m", Pin: "a1", Avoid: "x"}, nil},
			{"a pin elsewhere will", router.Request{Model: "m", Pin: "b", Avoid: "x"}, []string{"b"}},
			{"the endpoint has no other", router.Request{Endpoint: "x", Model: "m", Avoid: "x"}, nil},
		} {
			got := targets(w.Plan(test.req))
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.name, diff)
			}
		}
	})
}

// What is avoided is neither refused nor waited for; the others are.
func TestWaitAvoidsAProvider(t *testing.T) {
	c := three()
	c.Targets = c.Targets[:3]
	in(t, c, func(w world) {
		cool := func(target string, wait time.Duration) {
			w.Report(router.Report{Flight: w.start(target, chat), Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: wait})
		}
		cool("a1", time.Second)
		cool("b", 5*time.Second)
		req := chat
		req.Avoid = "x"
		start := time.Now()
		p, err := w.Wait(context.Background(), req)
		if took := time.Since(start); err != nil || took != 5*time.Second || p.Choices[0].Target != "b" {
			t.Errorf("after %v: %v, %v; want b after its 5s", took, targets(p), err)
		}
		if len(p.Choices) != 1 || len(p.Refused) != 0 {
			t.Errorf("choices %v, refused %v; want b alone", targets(p), p.Refused)
		}
	})
}

func TestNoRouteSaysWhatIsAvoided(t *testing.T) {
	in(t, three(), func(w world) {
		req := router.Request{Endpoint: "x", Model: "m", Avoid: "x"}
		_, err := w.Wait(context.Background(), req)
		var none *router.NoRouteError
		if !errors.As(err, &none) || none.Avoid != "x" || len(none.Refused) != 0 || !matches(`other than "x"`, err.Error()) {
			t.Errorf("error %v, want a NoRouteError that says what is avoided", err)
		}
		if got := w.Plan(req).Reason(); !matches(`^none: .*other than "x"`, got) {
			t.Errorf("reason %q", got)
		}
	})
}

// Calls that want the same but for what they avoid do not stand in for each other.
func TestQueueTellsWhatIsAvoided(t *testing.T) {
	c := three()
	c.Targets = []router.Target{c.Targets[0], c.Targets[2]}
	c.Budgets = nil
	c.Targets[0].Limits.Concurrent, c.Targets[1].Limits.Concurrent = 1, 1
	in(t, c, func(w world) {
		ctx := context.Background()
		a, b := w.start("a1", chat), w.start("b", chat)
		served := make(chan string, 2)
		for _, avoid := range []string{"x", ""} {
			req := chat
			req.Avoid = avoid
			go func() {
				f, err := w.take(ctx, req)
				served <- avoid
				if err == nil {
					w.Report(router.Report{Flight: f})
				}
			}()
			time.Sleep(time.Second)
		}
		w.Report(router.Report{Flight: a}) // of no use to the first
		if got := <-served; got != "" {
			t.Errorf("served first: the call that avoids %q", got)
		}
		w.Report(router.Report{Flight: b})
		if got := <-served; got != "x" {
			t.Errorf("served second: the call that avoids %q", got)
		}
	})
}

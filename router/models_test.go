package router_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// threeModels has one target for each of the models m, n and o, which "chat" prefers
// in this order.
func threeModels(b budget.Budget) router.Config {
	b.Models = []string{"m", "n", "o"}
	return router.Config{
		Targets: []router.Target{
			{Name: "a", Provider: "x", Models: []string{"m"}},
			{Name: "b", Provider: "y", Models: []string{"n"}},
			{Name: "c", Provider: "z", Models: []string{"o"}},
		},
		Budgets: map[string]budget.Budget{"chat": b},
	}
}

func asking(change func(*router.Request)) router.Request {
	req := chat
	change(&req)
	return req
}

func TestPlanOfTheFirstHealthyModel(t *testing.T) {
	after := func(model string) router.Request { return asking(func(r *router.Request) { r.After = model }) }
	for name, test := range map[string]struct {
		out  []string // targets that cool down
		req  router.Request
		want []string
	}{
		"all well":            {nil, chat, []string{"a"}},
		"not the first":       {[]string{"a"}, chat, []string{"b"}},
		"only the last":       {[]string{"a", "b"}, chat, []string{"c"}},
		"none":                {[]string{"a", "b", "c"}, chat, nil},
		"no going back":       {[]string{"b", "c"}, asking(func(r *router.Request) { r.Model = "n" }), nil},
		"not listed":          {[]string{"a"}, asking(func(r *router.Request) { r.Model = "else" }), []string{"b"}},
		"its own alone":       {[]string{"a"}, asking(func(r *router.Request) { r.KeepModel = true }), nil},
		"behind the first":    {nil, after("m"), []string{"b"}},
		"behind the second":   {nil, after("n"), []string{"c"}},
		"behind the last":     {nil, after("o"), nil},
		"another endpoint's":  {[]string{"a"}, asking(func(r *router.Request) { r.Endpoint = "" }), nil},
		"pinned to a later's": {nil, asking(func(r *router.Request) { r.Pin = "b" }), []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, threeModels(p95), func(w world) {
				for i, target := range []string{"a", "b", "c"} {
					if slices.Contains(test.out, target) {
						model := []string{"m", "n", "o"}[i]
						w.limited(time.Duration(10*(i+1))*time.Second, w.start(target, asking(func(r *router.Request) { r.Model = model })))
					}
				}
				p := w.Plan(test.req)
				if got := targets(p); !slices.Equal(got, test.want) {
					t.Errorf("choices %v, want %v", got, test.want)
				}
				for _, c := range p.Choices {
					if c.Model != p.Model() {
						t.Errorf("a choice of %s in a plan of %s", c.Model, p.Model())
					}
				}
			})
		})
	}
}

func TestReasonOfAnOnlyTarget(t *testing.T) {
	in(t, threeModels(p95), func(w world) {
		for _, test := range []struct {
			req  router.Request
			want string
		}{
			{chat, "a: the only target for this model; the next model is n"},
			{asking(func(r *router.Request) { r.Model = "o" }), "c: the only target for this model"},
			{asking(func(r *router.Request) { r.KeepModel = true }), "a: the only target for this model"},
			{asking(func(r *router.Request) { r.Endpoint = "" }), "a: the only target for this model"},
		} {
			if got := w.Plan(test.req).Reason(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		}
	})
}

// A call for which no model can be had waits for the first that comes back.
func TestWaitForAnyModel(t *testing.T) {
	in(t, threeModels(p95), func(w world) {
		for i, model := range []string{"m", "n", "o"} {
			req := asking(func(r *router.Request) { r.Model = model })
			w.limited(time.Duration(30-10*i)*time.Second, w.start(string("abc"[i]), req))
		}
		start := time.Now()
		p, err := w.Wait(context.Background(), chat)
		if err != nil || p.Model() != "o" || time.Since(start) != 10*time.Second {
			t.Errorf("plan of %q after %v, error %v; want o after 10s", p.Model(), time.Since(start), err)
		}
		if len(p.Refused) != 2 {
			t.Errorf("refused %v, want those of m and n", p.Refused)
		}
		const want = `o in place of m, which has no healthy route: c: the only one available; ` +
			`target "a" is not available for model "m": cooling down`
		if got := p.Reason(); len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("reason %q, want it to begin with %q", got, want)
		}
	})
}

// A route that is only slow opens too where another model is left, and is used again
// when that cannot be had.
func TestASlowModelOpens(t *testing.T) {
	in(t, threeModels(p95), func(w world) {
		w.slow("a")
		w.state("a", router.StateOpen)
		w.always("b", chat)
		for i, model := range []string{"n", "o"} {
			req := asking(func(r *router.Request) { r.Model = model })
			w.limited(time.Hour, w.start(string("bc"[i]), req))
		}
		w.always("a", chat)
	})
}

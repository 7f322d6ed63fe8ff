package metrics_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/metrics"
	"github.com/ontime-llm/ontime/router"
)

// routed returns a router of two targets, of which the second serves any model.
func routed(t testing.TB) func() *router.Router {
	t.Helper()
	r, err := router.New(router.Config{
		Targets: []router.Target{
			{Name: "one", Provider: "azure", Region: "eu", Models: []string{"m"}},
			{Name: "two", Provider: "openai", Keys: 2},
		},
		Budgets: map[string]budget.Budget{"chat": {
			TTFT:  budget.Layers{50: 300 * ms, 95: 600 * ms},
			Total: budget.Layers{99.9: time.Minute},
		}},
		Shared: new(store),
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() *router.Router { return r }
}

func TestState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		current := routed(t)
		_, reg := observed(t, metrics.State(current))
		r := current()

		req := router.Request{Endpoint: "chat", Model: "m", Streamed: true}
		plan := r.Plan(req)
		for _, c := range plan.Choices {
			flight, err := r.Start(c, req)
			if err != nil {
				t.Fatal(err)
			}
			if c.Target == "two" { // its key has to wait; the other one's attempt stays under way
				r.Report(router.Report{Flight: flight, Outcome: router.Failed, Cause: router.CauseRateLimit, RetryAfter: 30 * time.Second})
			}
		}
		plan.Release()
		tally := r.Ledger("chat").Tally(true)
		tally.Waiting(400 * ms) // misses the p50
		tally.Content(400 * ms)
		tally.Completed(20*ms, time.Second)
		time.Sleep(10 * time.Second)

		s := scraped(t, reg)
		for name, want := range map[string]map[string]string{
			"ontime_target_info":           {"provider=azure region=eu target=one": "1", "provider=openai target=two": "1"},
			"ontime_route_in_flight":       {"model=m target=one": "1", "model=m target=two": "0"},
			"ontime_key_refused":           {"key=0 model=m target=one": "0", "key=0 model=m target=two": "0", "key=1 model=m target=two": "0"},
			"ontime_key_headroom_ratio":    {"key=0 model=m target=one": "1", "key=0 model=m target=two": "1", "key=1 model=m target=two": "1"},
			"ontime_route_openings_total":  {"model=m target=one": "0", "model=m target=two": "0"},
			"ontime_route_cooldowns_total": {"model=m target=one": "0", "model=m target=two": "1"},
			"ontime_layer_limit_seconds": {
				"endpoint=chat layer=ttft_p50": "0.3", "endpoint=chat layer=ttft_p95": "0.6", "endpoint=chat layer=total_p99.9": "60",
			},
			"ontime_layer_calls_total": {
				"endpoint=chat layer=ttft_p50": "1", "endpoint=chat layer=ttft_p95": "1", "endpoint=chat layer=total_p99.9": "1",
				"endpoint=chat layer=answered": "1", "endpoint=default layer=answered": "0",
			},
			"ontime_layer_misses_total": {
				"endpoint=chat layer=ttft_p50": "1", "endpoint=chat layer=ttft_p95": "0", "endpoint=chat layer=total_p99.9": "0",
				"endpoint=chat layer=answered": "0", "endpoint=default layer=answered": "0",
			},
			"ontime_layer_burn_ratio": {
				"endpoint=chat layer=ttft_p50": "2", "endpoint=chat layer=ttft_p95": "0", "endpoint=chat layer=total_p99.9": "0",
				"endpoint=chat layer=answered": "0", "endpoint=default layer=answered": "0",
			},
			"ontime_hedge_share_ratio":    {"endpoint=chat": "0.05", "endpoint=default": "0.05"},
			"ontime_hedges_refused_total": {"endpoint=chat": "0", "endpoint=default": "0"},
			"ontime_hedge_tokens":         {"endpoint=chat": "20", "endpoint=default": "20"},
			// 0.05 * (1 - 0.8*0.5)
			"ontime_layer_debt": {
				"endpoint=chat layer=ttft_p50": "0.03", "endpoint=chat layer=ttft_p95": "0", "endpoint=chat layer=total_p99.9": "0",
				"endpoint=chat layer=answered": "0", "endpoint=default layer=answered": "0",
			},
		} {
			if diff := cmp.Diff(want, s.values(name)); diff != "" {
				t.Errorf("%s: -want +got\n%s", name, diff)
			}
		}
		cooling := 0
		for labels, v := range s.values("ontime_key_cooldown_seconds") {
			if v == "20" { // 30 s, 10 s ago
				cooling++
			} else if v != "0" {
				t.Errorf("%s cools down for %s s, want 20 or 0", labels, v)
			}
		}
		if cooling != 1 {
			t.Errorf("%d keys cool down, want one", cooling)
		}
		if n := len(s["ontime_route_state"].GetMetric()); n != 2*7 {
			t.Errorf("%d series of states, want 7 for each route", n)
		}
		inState := map[string]string{}
		for labels, v := range s.values("ontime_route_state") {
			if v == "1" {
				inState[labels] = v
			}
		}
		if want := map[string]string{"model=m state=no_data target=one": "1", "model=m state=ok target=two": "1"}; !cmp.Equal(inState, want) {
			t.Errorf("states: %v, want %v", inState, want)
		}
	})
}

// attempt has the router plan a call, and report what came of it.
func attempt(t *testing.T, r *router.Router, req router.Request, came router.Report) {
	t.Helper()
	plan := r.Plan(req)
	defer plan.Release()
	var err error
	if came.Flight, err = r.Start(plan.Choices[0], req); err != nil {
		t.Fatal(err)
	}
	r.Report(came)
}

// A route has no calibration before its first attempt. One of two that comes in far less
// time than was predicted, the other in far more, is half of them; whole answers are none.
func TestCalibration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		current := routed(t)
		_, reg := observed(t, metrics.State(current))
		if got := scraped(t, reg).values("ontime_route_coverage_ratio"); len(got) != 0 {
			t.Errorf("before the first attempt: %v", got)
		}
		for _, ttft := range []time.Duration{1 * ms, 10 * time.Minute} {
			req := router.Request{Endpoint: "chat", Model: "m", Streamed: true, Pin: "one"}
			attempt(t, current(), req, router.Report{TTFT: ttft, Elapsed: ttft + ms})
		}
		want := map[string]string{
			"metric=ttft model=m percentile=p50 target=one": "0.5",
			"metric=ttft model=m percentile=p95 target=one": "0.5",
			"metric=ttft model=m percentile=p99 target=one": "0.5",
		}
		s := scraped(t, reg)
		if diff := cmp.Diff(want, s.values("ontime_route_coverage_ratio")); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		want = map[string]string{"model=m target=one": "0.5", "model=m target=two": "0.5"} // none was seen
		if diff := cmp.Diff(want, s.values("ontime_route_cache_hit_ratio")); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

func TestPercentilesMayBeInfinite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		current := routed(t)
		_, reg := observed(t, metrics.State(current))
		r := current()
		req := router.Request{Endpoint: "chat", Model: "m", Streamed: true, Pin: "one"}
		for range 200 { // all of them hang
			plan := r.Plan(req)
			if _, err := r.Start(plan.Choices[0], req); err != nil {
				t.Fatal(err)
			}
			plan.Release()
		}
		time.Sleep(time.Hour)
		if got := scraped(t, reg).values("ontime_route_ttft_seconds")["model=m percentile=p99 target=one"]; got != "+Inf" {
			t.Errorf("p99 is %s, want +Inf", got)
		}
	})
}

func TestLabelsAreThoseOfTheRouter(t *testing.T) {
	current := routed(t)
	m, reg := observed(t, metrics.State(current))
	for _, model := range []string{"m", "asked-for", "never-seen", "\xff"} {
		if model == "asked-for" {
			plan := current().Plan(router.Request{Model: model})
			plan.Release()
		}
		m.ObserveCall(middleware.Call{Endpoint: "chat", Model: model, Outcome: middleware.Failed})
	}
	m.ObserveCall(middleware.Call{Endpoint: "nobody's", Model: "m", Outcome: middleware.Failed})
	want := map[string]string{
		"endpoint=chat model=m outcome=failed":         "1",
		"endpoint=chat model=asked-for outcome=failed": "1",
		"endpoint=chat model=other outcome=failed":     "2",
		"endpoint=other model=m outcome=failed":        "1",
	}
	if diff := cmp.Diff(want, scraped(t, reg).values("ontime_calls_total")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

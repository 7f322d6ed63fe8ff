package metrics_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/middleware/metrics"
	"github.com/ontime-llm/ontime/router"
)

func TestChangesOfRoutes(t *testing.T) {
	current := routed(t)
	_, reg := observed(t, metrics.State(current))
	r, req := current(), router.Request{Model: "m", Streamed: true, Pin: "one"}
	for _, served := range []string{"m-1", "m-2", "m-1", "m-3"} {
		plan := r.Plan(req)
		flight, err := r.Start(plan.Choices[0], req)
		if err != nil {
			t.Fatal(err)
		}
		plan.Release()
		r.Report(router.Report{Flight: flight, TTFT: 300 * ms, ServedModel: served})
	}
	want := map[string]string{
		"kind=model model=m target=one": "2", "kind=ttft model=m target=one": "0", "kind=tpot model=m target=one": "0",
		"kind=model model=m target=two": "0", "kind=ttft model=m target=two": "0", "kind=tpot model=m target=two": "0",
	}
	if diff := cmp.Diff(want, scraped(t, reg).values("ontime_route_changes_total")); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

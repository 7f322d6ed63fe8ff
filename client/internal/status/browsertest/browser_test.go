package browsertest_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client/internal/status"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

const (
	ms      = time.Millisecond
	hostile = `<img src=x onerror="harmed=1">'"&` + "\u202egnp.\u202d" + "</script><script>harmed=2</script>"
	endless = "a-name-without-any-place-where-it-could-be-broken-into-two-lines-of-a-telephone-that-is-narrow"
)

// TestBrowser opens the page in Chromium: see check.mjs for what has to hold.
func TestBrowser(t *testing.T) {
	modules := os.Getenv("ONTIME_BROWSER")
	if modules == "" {
		t.Skip("ONTIME_BROWSER names no folder with playwright-core: `.ci/run browser` makes one")
	}
	var page atomic.Pointer[status.Page]
	page.Store(opened())
	mux := http.NewServeMux()
	mux.HandleFunc("/some/prefix/", func(w http.ResponseWriter, r *http.Request) { page.Load().ServeHTTP(w, r) })
	mux.HandleFunc("/restart", func(http.ResponseWriter, *http.Request) { page.Swap(opened()).Close() })
	server := httptest.NewServer(mux)
	defer server.Close()
	defer func() { page.Load().Close() }()
	stop := make(chan struct{})
	defer close(stop)
	go busy(&page, stop)
	// Chromium's own time to start is the machine's: the test's is what go test allows.
	cmd := exec.CommandContext(t.Context(), "node", "check.mjs", server.URL+"/some/prefix/", server.URL+"/restart")
	cmd.Env = append(os.Environ(), "ONTIME_BROWSER="+modules)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

func opened() *status.Page {
	p := status.New(snapshot)
	p.Open()
	return p
}

// busy ends calls of every kind until it is stopped.
func busy(page *atomic.Pointer[status.Page], stop <-chan struct{}) {
	for n := 0; ; n++ {
		for _, c := range calls() {
			c.Start, c.Total = time.Now(), c.Total+time.Duration(n)*ms
			page.Load().ObserveCall(c)
		}
		select {
		case <-time.After(700 * ms):
		case <-stop:
			return
		}
	}
}

func calls() []middleware.Call {
	refused := &middleware.ProviderError{Target: "eu", Status: 429, Type: "rate_limit_exceeded"}
	return []middleware.Call{
		{
			Endpoint: "chat", Model: hostile, Target: "us", Outcome: middleware.Completed, FinishReason: "length", Starved: true,
			Streamed: true, Hedged: true, TTFT: 700 * ms, TPOT: 12 * ms, Total: time.Second, Waited: 20 * ms,
			Reason: "eu: keeps best p95 TTFT 600ms (misses 2.1% of 5%); then us; hedge to us at 400ms",
			Usage:  middleware.Usage{Input: 900, Output: 30}, Cost: 0.0012,
			Attempts: []middleware.Attempt{
				{Target: "eu", Model: hostile, Outcome: middleware.Lost, Status: 200, Headers: 90 * ms, Total: 700 * ms, Cost: 0.0001},
				{Target: "us", Model: hostile, ServedModel: hostile, Hedge: true, Outcome: middleware.Completed, Status: 200,
					Start: 400 * ms, Headers: 200 * ms, TTFT: 300 * ms, Total: 600 * ms, Warning: "answer ran past its token cap"},
			},
		},
		{
			Endpoint: "chat", Model: endless, Target: endless, Outcome: middleware.Failed, Total: 300 * ms,
			Attempts: []middleware.Attempt{
				{Target: endless, Outcome: middleware.TimedOut, Total: 200 * ms, Err: middleware.ErrAbandoned},
				{Target: "eu", Start: 200 * ms, Outcome: middleware.Failed, Status: 429, Headers: 90 * ms, Total: 100 * ms, Err: refused},
			},
			Err: &middleware.Error{Err: refused},
		},
		{Endpoint: "batch", Model: "gpt-4o", Outcome: middleware.Cancelled, Total: 80 * ms, Cost: 1.5e-7,
			Attempts: []middleware.Attempt{{Target: "eu", Outcome: middleware.Cancelled, Total: 80 * ms}}},
		{Endpoint: "batch", Outcome: middleware.Failed, Err: &middleware.Error{Err: middleware.ErrNoTarget}},
	}
}

func snapshot() router.Snapshot {
	now := time.Now()
	layer := func(m budget.Metric, p float64, limit time.Duration, missed uint64, debt float64) budget.LayerStatus {
		return budget.LayerStatus{Layer: budget.Layer{Metric: m, Percentile: p, Limit: limit}, Calls: 1000, Missed: missed, Debt: debt}
	}
	s := router.Snapshot{At: now, Endpoints: []router.EndpointStatus{
		{Name: "batch", Layers: []budget.LayerStatus{layer(budget.Answered, 99.9, 0, 4, 1.2)}},
		{Name: "chat", Layers: []budget.LayerStatus{
			layer(budget.TTFT, 50, 300*ms, 100, 0), layer(budget.TTFT, 95, 600*ms, 100, 12.25), layer(budget.TTFT, 99.9, 4*time.Second, 0, 0),
			layer(budget.TPOT, 95, 40*ms, 2, 0.15), layer(budget.Total, 99, 30*time.Second, 2, 0), layer(budget.Answered, 99.9, 0, 1, 0),
		}, Truncated: 12, Starved: 3, Hedge: router.HedgeStatus{Share: 0.05, Tokens: 18, Burst: 20, Price: 0.03, Started: 9, Won: 4, Refused: 1},
			Advice: []router.Advice{{Kind: "prompt", Text: "Prompts are long.", Saves: 120 * ms, Low: 90 * ms, High: 150 * ms, Calls: 800}}},
		{Name: "quiet"},
	}, Pairs: []router.PairStatus{{Pair: "same region", Factor: 0.5}}}
	for i, state := range []string{
		router.StateOK, router.StateNoData, router.StateDegraded, router.StateCooling, router.StateHalfOpen, router.StateOpen, router.StateKeyRefused,
	} {
		s.Routes = append(s.Routes, router.RouteStatus{
			Target: state, Provider: "azure", Region: "westeurope", Model: "gpt-4o", State: state, Why: "429 rate_limit_exceeded",
			Until: now.Add(time.Minute), InFlight: i, PromptTokens: 900, Failures: 0.01, Attempts: router.Attempts{Completed: 1000, Lost: 3},
			TTFT: router.Percentiles{P50: 230 * ms, P95: 612 * ms, P99: router.Unbounded, N: 100},
			TPOT: router.Percentiles{P50: 14 * ms, P95: 22 * ms, P99: 31 * ms, N: 100},
			Keys: []router.KeyStatus{{State: router.StateOK, Left: 1}, {State: router.StateKeyRefused, Why: "401 invalid_api_key", Left: 0}},
		})
	}
	s.Routes[1].Target, s.Routes[1].Model = endless, hostile
	s.Routes[0].Changes = []router.Change{{At: now, Kind: "model", From: hostile, To: endless}}
	return s
}

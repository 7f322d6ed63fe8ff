package status_test

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client/internal/status"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

const ms = time.Millisecond

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// snapshot has one of everything.
func snapshot() router.Snapshot {
	return router.Snapshot{
		At: noon,
		Endpoints: []router.EndpointStatus{{
			Name: "chat",
			Layers: []budget.LayerStatus{
				{Layer: budget.Layer{Metric: budget.TTFT, Percentile: 95, Limit: 600 * ms}, Calls: 100, Missed: 10, Debt: 0.5},
				{Layer: budget.Layer{Metric: budget.Answered, Percentile: 99.9}, Calls: 100},
			},
			Truncated: 2, Starved: 1,
			Hedge:  router.HedgeStatus{Share: 0.05, Tokens: 18.5, Burst: 20, Price: 0.031, Started: 5, Won: 3, Refused: 1},
			Advice: []router.Advice{{Kind: "prompt", Text: "Prompts are long.", Saves: 120 * ms, Low: 100 * ms, High: 140 * ms, Calls: 80}},
		}},
		Routes: []router.RouteStatus{{
			Target: "eu", Provider: "azure", Region: "westeurope", Model: "gpt-4o",
			State: router.StateCooling, Why: "429 rate_limit_exceeded", Until: noon.Add(time.Minute), InFlight: 3,
			Attempts:     router.Attempts{Completed: 5, Failed: 1, TimedOut: 2, Cancelled: 3, Lost: 4},
			Keys:         []router.KeyStatus{{State: router.StateCooling, Until: noon.Add(time.Minute), InFlight: 3, Left: 0.25}},
			PromptTokens: 900, Failures: 0.0625, Fixed: 180 * ms, PerToken: 60 * time.Microsecond, BytesPerToken: 4, CacheHits: 0.5,
			TTFT:        router.Percentiles{P50: 231500 * time.Microsecond, P95: 612 * ms, P99: router.Unbounded, N: 12.5},
			TPOT:        router.Percentiles{P50: 14 * ms, P95: 20 * ms, P99: 31 * ms, N: 11},
			Total:       router.Percentiles{P50: 3 * time.Second, P95: 5 * time.Second, P99: 9 * time.Second, N: 1},
			Calibration: router.Calibration{TTFT: router.Coverage{P50: 0.5, P95: 0.94, P99: 0.99, N: 10}},
			Changes:     []router.Change{{At: noon.Add(-time.Hour), Kind: "model", From: "gpt-4o-1", To: "gpt-4o-2"}},
		}},
		Pairs: []router.PairStatus{{Pair: "same region", Factor: 0.5, Won: 1, Predicted: 2}},
	}
}

// call is a hedged one: the first attempt lost to the second.
func call() middleware.Call {
	return middleware.Call{
		Endpoint: "chat", Model: "gpt-4o", Target: "us", Region: "eastus", Reason: "eu: keeps best p95 TTFT 600ms; then us",
		Outcome: middleware.Completed, Start: noon, TraceID: "t1", FinishReason: "stop",
		Usage: middleware.Usage{Input: 900, CachedInput: 100, Output: 21}, Cost: 0.003,
		Streamed: true, Hedged: true, Capped: true, MaxTokens: 4096,
		TTFT: 700 * ms, TTFA: 700 * ms, TPOT: 15 * ms, Total: time.Second, Stall: 20 * ms,
		Attempts: []middleware.Attempt{
			{Target: "eu", Region: "westeurope", Model: "gpt-4o-eu", Outcome: middleware.Lost, Status: 200, Headers: 100 * ms,
				Total: 700 * ms, Usage: middleware.Usage{Input: 900, Estimated: true}, Cost: 0.001},
			{Target: "us", Region: "eastus", Model: "gpt-4o", Fallback: "small", ServedModel: "gpt-4o-2", Hedge: true, Outcome: middleware.Completed, Status: 200,
				Start: 400 * ms, Timing: middleware.Timing{Conn: ms}, Headers: 250 * ms, FirstByte: 260 * ms, TTFT: 300 * ms, TTFA: 300 * ms,
				LastContent: 590 * ms, TPOT: 15 * ms, Total: 600 * ms, Stall: 20 * ms,
				Usage: middleware.Usage{Input: 900, CachedInput: 100, Output: 21}, Cost: 0.002},
		},
	}
}

// failed is a call that ended in what a provider said.
func failed() middleware.Call {
	cause := &middleware.ProviderError{Target: "eu", Status: 503, Type: "server_error", Message: "canary"}
	return middleware.Call{
		Endpoint: "chat", Model: "gpt-4o", Target: "eu", Outcome: middleware.Failed, Start: noon, Total: 50 * ms,
		Attempts: []middleware.Attempt{{Target: "eu", Outcome: middleware.Failed, Status: 503, Total: 50 * ms, Err: cause}},
		Err:      &middleware.Error{Endpoint: "chat", Model: "gpt-4o", Target: "eu", Err: cause},
	}
}

// opened is a page that notes calls.
func opened() *status.Page {
	p := status.New(snapshot)
	p.Open()
	return p
}

// openedNow is one whose snapshots are of the time at which they are asked for.
func openedNow() *status.Page {
	p := status.New(func() router.Snapshot {
		s := snapshot()
		s.At = time.Now()
		return s
	})
	p.Open()
	return p
}

func get(t *testing.T, p *status.Page, query string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest("GET", "/status"+query, nil))
	if w.Code != 200 {
		t.Fatalf("GET %s: %d %s", query, w.Code, fmt.Sprint(w.Body))
	}
	return w
}

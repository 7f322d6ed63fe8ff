package middleware_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/middleware"
)

func logged(t *testing.T, c middleware.Call) map[string]any {
	t.Helper()
	var out bytes.Buffer
	middleware.Log(slog.New(slog.NewJSONHandler(&out, nil))).ObserveCall(c)
	record := map[string]any{}
	if err := json.Unmarshal(out.Bytes(), &record); err != nil {
		t.Fatal(err)
	}
	delete(record, "time")
	return record
}

func TestLogRecord(t *testing.T) {
	got := logged(t, middleware.Call{
		Endpoint: "chat", Model: "gpt-4o", Target: "azure-eu", Region: "swedencentral",
		Outcome: middleware.Completed, Streamed: true, Capped: true, MaxTokens: 4096, FinishReason: "stop",
		TTFT: 300 * ms, TTFA: 400 * ms, TPOT: 20 * ms, Total: time.Second, Stall: 50 * ms,
		Usage: middleware.Usage{Input: 100, CachedInput: 60, Reasoning: 10, Output: 40}, Cost: 0.25,
		Attempts: []middleware.Attempt{{Target: "azure-eu", Status: 200}},
	})
	want := map[string]any{
		"level": "INFO", "msg": "llm call", "fallback": "", "endpoint": "chat", "model": "gpt-4o", "target": "azure-eu", "region": "swedencentral",
		"outcome": "completed", "status": 200.0, "streamed": true, "capped": true, "hedged": false, "max_tokens": 4096.0,
		"ttft": 300e6, "ttfa": 400e6, "tpot": 20e6, "total": 1e9, "stall": 50e6, "attempts": 1.0, "waited": 0.0,
		"input_tokens": 100.0, "cached_input_tokens": 60.0, "reasoning_tokens": 10.0, "output_tokens": 40.0,
		"estimated": false, "starved": false, "finish_reason": "stop", "cost_usd": 0.25,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestLogLevels(t *testing.T) {
	attempts := make([]middleware.Attempt, 2)
	for _, tt := range []struct {
		call middleware.Call
		want string
	}{
		{middleware.Call{Outcome: middleware.Completed, Attempts: attempts[:1]}, "INFO"},
		{middleware.Call{Outcome: middleware.Completed, Attempts: attempts}, "WARN"},
		{middleware.Call{Outcome: middleware.Cancelled}, "WARN"},
		{middleware.Call{Outcome: middleware.TimedOut}, "ERROR"},
		{middleware.Call{Outcome: middleware.Failed}, "ERROR"},
	} {
		if got := logged(t, tt.call)["level"]; got != tt.want {
			t.Errorf("%v after %d attempts is logged as %v, want %v", tt.call.Outcome, len(tt.call.Attempts), got, tt.want)
		}
	}
}

// A provider's message may quote the prompt: neither the error's text nor the
// log has it.
func TestAProvidersMessageIsNotLogged(t *testing.T) {
	provider := &middleware.ProviderError{Target: "one", Status: 400, Type: "invalid_request_error", Message: "your prompt was: SECRET"}
	attempt := middleware.Attempt{Target: "one", Outcome: middleware.Failed, Err: provider}
	err := &middleware.Error{Endpoint: "chat", Target: "one", Attempts: []middleware.Attempt{attempt}, Err: provider}
	record := logged(t, middleware.Call{Outcome: middleware.Failed, Attempts: err.Attempts, Err: err})
	text := record["error"].(string)
	if strings.Contains(text, "SECRET") {
		t.Errorf("the log quotes the provider: %s", text)
	}
	if want := "ontime: endpoint chat: provider reported 400 Bad Request, type invalid_request_error (tried one: provider reported 400 Bad Request, type invalid_request_error after 0s)"; text != want {
		t.Errorf("the error is\n%s\nwant\n%s", text, want)
	}
	if found, ok := errors.AsType[*middleware.ProviderError](err); !ok || found.Message == "" {
		t.Error("the caller cannot get at the provider's message")
	}
}

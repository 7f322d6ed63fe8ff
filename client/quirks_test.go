package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// quirk is one oddity that a provider really sent, with what has to come of it.
type quirk struct {
	ID, API, Title string
	Response       *struct {
		Status  int
		Headers map[string]string
		Body    string
		Close   string
		Split   string
	}
	Expect struct {
		Outcome       string
		PayloadEvents *int    `json:"payload_events"`
		OutputTokens  *int    `json:"output_tokens"`
		Finish        *string `json:"finish"`
		Retryable     bool
		ErrorClass    string `json:"error_class"`
	}
}

func quirks(t *testing.T) []quirk {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "quirks.json"))
	if err != nil {
		t.Skipf("no collection of quirks here: %v", err)
	}
	var all []quirk
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func (q *quirk) step() upstream.Step {
	raw := &upstream.Raw{Status: q.Response.Status, Headers: q.Response.Headers}
	if q.Response.Close == "hang" {
		raw.End = upstream.Stall
	}
	size := len(q.Response.Body)
	if q.Response.Split != "" {
		size = 1
	}
	for body := q.Response.Body; body != ""; {
		n := min(max(size, 1), len(body))
		raw.Parts = append(raw.Parts, upstream.Part{Data: body[:n], After: time.Nanosecond})
		body = body[n:]
	}
	return upstream.Step{Raw: raw}
}

var quirkPaths = map[string][2]string{
	"chat":      {"chat/completions", `{"model":"m","stream":true,"messages":[]}`},
	"responses": {"responses", `{"model":"m","stream":true,"input":"hi"}`},
	"anthropic": {"messages", `{"model":"m","stream":true,"messages":[],"max_tokens":100}`},
}

// Every oddity ends as it should for the application: an answer, whole; another
// target's answer, where nothing was seen of the first; or an error that says
// so. None is lost in silence.
func TestQuirksThroughTheClient(t *testing.T) {
	played := 0
	for _, q := range quirks(t) {
		path, known := quirkPaths[q.API]
		if q.Response == nil || !known {
			continue
		}
		played++
		t.Run(q.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playQuirk(t, &q, path[0], path[1]) })
		})
	}
	t.Logf("%d cases were played", played)
}

func playQuirk(t *testing.T, q *quirk, path, body string) {
	var call middleware.Call
	first, second := upstream.New("first", quick, 1), upstream.New("second", quick, 2)
	first.Script(q.step())
	c, err := client.New(client.Config{
		Targets: []client.Target{
			{Name: "first", BaseURL: "https://first.test/v1", Price: router.Price{Input: 1, Output: 1}},
			{Name: "second", BaseURL: "https://second.test/v1", Price: router.Price{Input: 9, Output: 9}},
		},
		// While a promise is kept the cheapest target is the first.
		Endpoints: map[string]budget.Budget{"default": {TTFT: budget.Layers{50: time.Minute}}},
		Transport: upstream.Network{"first.test": first, "second.test": second},
		Observers: []middleware.Observer{middleware.CallFunc(func(c middleware.Call) { call = c })},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, _ := http.NewRequestWithContext(t.Context(), "POST", client.BaseURL+path, strings.NewReader(body))
	resp, err := c.HTTPClient().Do(r)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}
	a := call.Attempts[0]
	if a.Target != "first" {
		t.Fatalf("the first attempt went to %s", a.Target)
	}
	switch e := &q.Expect; {
	case e.Outcome == "complete":
		if err != nil || call.Target != "first" || call.Outcome != middleware.Completed {
			t.Errorf("%s: %v by %s, error %v; want completed by first", q.Title, call.Outcome, call.Target, err)
		}
		if e.PayloadEvents != nil && a.Events != *e.PayloadEvents {
			t.Errorf("%d content events, want %d", a.Events, *e.PayloadEvents)
		}
		if e.OutputTokens != nil && a.Usage.Output != *e.OutputTokens {
			t.Errorf("%d output tokens, want %d", a.Usage.Output, *e.OutputTokens)
		}
	case e.Outcome == "http_error":
		fault, ok := errors.AsType[*middleware.ProviderError](a.Err)
		if a.Outcome == middleware.Completed {
			break // a parameter of ours was refused, and swapped
		}
		if !ok || fault.Status != q.Response.Status {
			t.Errorf("the attempt ended in %v, want the provider's %d", a.Err, q.Response.Status)
		}
		elsewhere := e.Retryable || e.ErrorClass == "quota" // another key may have some left
		if retried := call.Target == "second"; retried != elsewhere {
			t.Errorf("another target was tried: %v, want %v", retried, elsewhere)
		}
	case e.PayloadEvents != nil && *e.PayloadEvents > 0:
		if _, ok := errors.AsType[*middleware.Error](err); !ok || a.Outcome == middleware.Completed || a.Events != *e.PayloadEvents {
			t.Errorf("error %v, %v after %d content events; want a typed error after %d", err, a.Outcome, a.Events, *e.PayloadEvents)
		}
	default:
		if a.Outcome != middleware.Failed || (call.Target == "second" && err == nil) != e.Retryable {
			t.Errorf("%v, then %v by %s, error %v; want failed, another target: %v", a.Outcome, call.Outcome, call.Target, err, e.Retryable)
		}
	}
	_ = c.Close() // what drains is done
	if open := first.Stats().OpenBodies; open != 0 {
		t.Errorf("%d bodies are open", open)
	}
}

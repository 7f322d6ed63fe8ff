package status_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/client/internal/status"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

var update = flag.Bool("update", false, "write testdata/state.json anew")

// The names of all fields are what scripts rely on: a change of this file is a change
// of the API.
func TestJSONIsStable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openedNow()
		p.ObserveCall(call())
		p.ObserveCall(failed())
		w := get(t, p, "?format=json")
		if ct := w.Header().Get("Content-Type"); ct != "application/json" {
			t.Errorf("content type %q", ct)
		}
		var got bytes.Buffer
		if err := json.Indent(&got, w.Body.Bytes(), "", "\t"); err != nil {
			t.Fatal(err)
		}
		const file = "testdata/state.json"
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("JSON (-want +got):\n%s", diff)
		}
	})
}

// state is what a script would read of it.
type state struct {
	Endpoints []struct {
		Layers []struct {
			Name          string
			Measured      any     `json:"measured_ms"`
			MeasuredCalls int     `json:"measured_calls"`
			Limit         any     `json:"limit_ms"`
			Burn          float64 `json:"burn"`
		}
		Cost   float64 `json:"cost_usd"`
		Lost   float64 `json:"lost_cost_usd"`
		Choice *struct{ Reason string }
	}
	Routes []struct {
		Target  string
		History *struct {
			At  []int64 `json:"at_unix_s"`
			P99 []any   `json:"ttft_p95_ms"`
		}
	}
	Calls []struct {
		ID       int
		Model    string
		Error    string
		Attempts []struct{ Error string }
		LeftOut  int `json:"attempts_left_out"`
	}
}

func read(t *testing.T, p *status.Page) (s state) {
	t.Helper()
	if err := json.Unmarshal(get(t, p, "?format=json").Body.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// What a layer measured is the calls' own percentile, with those that got no content
// as at least so long.
func TestMeasured(t *testing.T) {
	tests := []struct {
		name  string
		calls []middleware.Call
		want  any // of p95 TTFT
		n     int
	}{
		{"nothing", nil, nil, 0},
		{"not streamed", []middleware.Call{{Total: time.Second, Outcome: middleware.Completed}}, nil, 0},
		{"one", []middleware.Call{{Streamed: true, TTFT: 300 * ms}}, 300.0, 1},
		{"hung", []middleware.Call{{Streamed: true, TTFT: 300 * ms}, {Streamed: true, Outcome: middleware.TimedOut, Total: time.Minute}}, "unbounded", 2},
		// The one that was cancelled early says nothing: of those that went on all took 300 ms.
		{"cancelled early", []middleware.Call{{Streamed: true, TTFT: 300 * ms}, {Streamed: true, Outcome: middleware.Cancelled, Total: ms}}, 300.0, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := openedNow()
				for _, c := range tt.calls {
					c.Endpoint = "chat"
					p.ObserveCall(c)
				}
				l := read(t, p).Endpoints[0].Layers[0]
				if l.Measured != tt.want || l.MeasuredCalls != tt.n {
					t.Errorf("measured %v of %d, want %v of %d", l.Measured, l.MeasuredCalls, tt.want, tt.n)
				}
			})
		})
	}
}

// 1 to 1000 ms twice over, of which the latest thousand count: then p95 is 950 ms. An
// hour later there is nothing.
func TestMeasuredIsRecent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openedNow()
		for i := range 2000 {
			p.ObserveCall(middleware.Call{Endpoint: "chat", Streamed: true, TTFT: time.Duration(1+(i*617)%1000) * ms})
		}
		if l := read(t, p).Endpoints[0].Layers[0]; l.Measured != 950.0 || l.MeasuredCalls != 1000 {
			t.Errorf("measured %v of %d, want 950 of 1000", l.Measured, l.MeasuredCalls)
		}
		time.Sleep(time.Hour + time.Second)
		if l := read(t, p).Endpoints[0].Layers[0]; l.Measured != nil {
			t.Errorf("measured %v an hour later, want nothing", l.Measured)
		}
	})
}

func TestCallsAreBounded(t *testing.T) {
	p := opened()
	c := failed()
	c.Model = strings.Repeat("é", 10_000)
	for range 20 {
		c.Attempts = append(c.Attempts, c.Attempts[0])
	}
	for range 450 {
		p.ObserveCall(c)
	}
	s := read(t, p)
	if n := len(s.Calls); n != 200 || s.Calls[0].ID != 450 || s.Calls[199].ID != 251 {
		t.Fatalf("%d calls, from %d to %d; want the latest 200, the last first", n, s.Calls[0].ID, s.Calls[n-1].ID)
	}
	if got := s.Calls[0]; len(got.Attempts) != 8 || got.LeftOut != 13 || len(got.Model) > 128 || !strings.HasSuffix(got.Model, "é…") {
		t.Errorf("%d attempts and %d left out, model %q", len(got.Attempts), got.LeftOut, got.Model)
	}
}

// Nothing is noted before Open, nor of endpoints that do not exist.
func TestNotNoted(t *testing.T) {
	p := status.New(snapshot)
	p.ObserveCall(call())
	if p.Wants("chat") {
		t.Error("reasons are wanted before Open")
	}
	p.Open()
	if n := len(read(t, p).Calls); n != 0 {
		t.Errorf("%d calls, want none", n)
	}
	p.ObserveCall(middleware.Call{Endpoint: "nobody's", Err: &middleware.Error{Err: middleware.ErrUnknownEndpoint}})
	if s := read(t, p); len(s.Endpoints) != 1 || len(s.Calls) != 1 {
		t.Errorf("%d endpoints and %d calls, want 1 and 1", len(s.Endpoints), len(s.Calls))
	}
}

// Errors are told in our words: not a provider's, and not what a request says.
func TestErrorsQuoteNobody(t *testing.T) {
	p := opened()
	p.ObserveCall(failed())
	p.ObserveCall(middleware.Call{Endpoint: "chat", Outcome: middleware.Failed,
		Err: &middleware.Error{Err: fmt.Errorf("%w: %w", middleware.ErrBadRequest, fmt.Errorf("member %q", "canary"))}})
	if text := get(t, p, "?format=json").Body.String(); strings.Contains(text, "canary") {
		t.Errorf("it is quoted: %s", text)
	}
	s := read(t, p)
	if got := s.Calls[0].Error; got != "request cannot be read" {
		t.Errorf("error %q", got)
	}
	if got := s.Calls[1]; got.Error != "provider reported 503 Service Unavailable, type server_error" || got.Attempts[0].Error != got.Error {
		t.Errorf("error %q, of its attempt %q", got.Error, got.Attempts[0].Error)
	}
}

// One call of an endpoint in a second is asked for its reason.
func TestWantsOneReasonASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := opened()
		var got []bool
		for range 3 {
			got = append(got, p.Wants("chat"), p.Wants("chat"), p.Wants("batch"))
			time.Sleep(600 * ms)
		}
		want := []bool{true, false, true, false, false, false, true, false, true}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("wanted (-want +got):\n%s", diff)
		}
	})
}

// A sample is taken every 10 s as long as calls end, 90 are kept, and a route that is
// gone has none.
func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := false
		p := status.New(func() router.Snapshot {
			s := snapshot()
			s.At = time.Now()
			if gone {
				s.Routes = nil
			}
			return s
		})
		p.Open()
		for range 2 * 100 {
			p.ObserveCall(call())
			time.Sleep(5 * time.Second)
		}
		h := read(t, p).Routes[0].History
		if len(h.At) != 90 || h.At[89]-h.At[0] != 890 || h.P99[0] != 612.0 {
			t.Errorf("history is %+v, want 90 samples of 612 ms over 890 s", h)
		}
		gone = true
		if n := len(read(t, p).Routes); n != 0 {
			t.Errorf("%d routes, want none", n)
		}
	})
}

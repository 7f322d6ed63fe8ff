package client_test

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
)

// page returns the JSON of the status page.
func (f *fleet) page(t *testing.T) string {
	t.Helper()
	w := httptest.NewRecorder()
	f.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/status?format=json", nil))
	if w.Code != 200 {
		t.Fatalf("the status page: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// shown is what a script would read of it.
type shown struct {
	Endpoints []struct {
		Name   string
		Choice *struct{ Reason string }
		Calls  struct{ Completed int }
	}
	Routes []struct{ Target string }
	Calls  []struct {
		Target, Outcome, Reason, Planned string
		Attempts                         []struct {
			Target, Outcome, Error string
			Hedge                  bool
			Start                  float64 `json:"start_ms"`
		}
	}
}

func (f *fleet) shown(t *testing.T) (s shown) {
	t.Helper()
	if err := json.Unmarshal([]byte(f.page(t)), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// A call that failed over is on the page with both attempts, and why it went where it
// did. What came before the first Handler is not.
func TestHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		f.answers(t, stream, f.chat(), "one")
		f.Handler()
		f.servers["one"].Script(upstream.Step{Fault: upstream.HTTPError})
		f.answers(t, stream, f.chat(), "two")
		s := f.shown(t)
		if len(s.Calls) != 1 || len(s.Calls[0].Attempts) != 2 {
			t.Fatalf("calls are %+v, want one of two attempts", s.Calls)
		}
		c := s.Calls[0]
		if c.Target != "two" || c.Outcome != "completed" || !strings.HasPrefix(c.Reason, "one: ") {
			t.Errorf("the call is %+v", c)
		}
		if a := c.Attempts[0]; a.Target != "one" || a.Outcome != "failed" || !strings.HasPrefix(a.Error, "provider reported 503") {
			t.Errorf("the first attempt is %+v", a)
		}
		if e := s.Endpoints[0]; e.Name != "chat" || e.Calls.Completed != 1 || e.Choice == nil || e.Choice.Reason != c.Reason {
			t.Errorf("the endpoint is %+v", e)
		}
		f.answers(t, stream, f.chat(), "one")
		if c := f.shown(t).Calls[0]; c.Reason != "" { // there was one in this second
			t.Errorf("a second reason: %s", c.Reason)
		}
	})
}

// The hedge that was first, and the loser that was cancelled for it.
func TestHandlerShowsHedges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		f.Handler()
		for range 30 {
			f.answers(t, stream, f.chat(), "one")
		}
		f.servers["one"].Script(upstream.Step{Fault: upstream.Hang})
		f.answers(t, stream, f.chat(), "two")
		a := f.shown(t).Calls[0].Attempts
		if len(a) != 2 || a[0].Outcome != "lost" || !a[1].Hedge || a[1].Start == 0 || a[1].Outcome != "completed" {
			t.Errorf("attempts are %+v, want a loser and a later hedge", a)
		}
	})
}

// In shadow mode the reason is that of the plan which was not followed.
func TestHandlerInShadow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Targets: inOrder("one", "two"), Endpoints: chatBudget(), Shadow: true, Home: "two"}, "one", "two")
		f.Handler()
		f.answers(t, stream, f.chat(), "two")
		if c := f.shown(t).Calls[0]; c.Planned != "one" || !strings.HasPrefix(c.Reason, "one: ") {
			t.Errorf("planned %q, because %q", c.Planned, c.Reason)
		}
	})
}

func TestHandlerSurvivesReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := client.Config{Targets: inOrder("one", "two"), Endpoints: chatBudget()}
		f := newFleet(t, quick, cfg, "one", "two")
		f.Handler()
		f.answers(t, stream, f.chat(), "one")
		next := client.Config{Endpoints: chatBudget(), Targets: withTarget(nil, "two")}
		if err := f.Reload(next); err != nil {
			t.Fatal(err)
		}
		f.answers(t, stream, f.chat(), "two")
		s := f.shown(t)
		if len(s.Calls) != 2 || s.Endpoints[0].Calls.Completed != 2 {
			t.Errorf("%d calls, %+v; want those from before as well", len(s.Calls), s.Endpoints[0])
		}
		for _, r := range s.Routes {
			if r.Target == "one" {
				t.Error("a target that is gone is shown")
			}
		}
	})
}

// Close ends the streams of those who look, at once, and the page can still be read.
func TestCloseEndsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		w, done := httptest.NewRecorder(), make(chan struct{})
		go func() {
			defer close(done)
			f.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/?format=stream", nil))
		}()
		synctest.Wait()
		start := time.Now()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		<-done
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v, want nothing", took)
		}
		if body, _ := io.ReadAll(w.Body); !strings.HasSuffix(string(body), "event: closed\ndata: {}\n\n") {
			t.Errorf("the last event is %q", body[max(0, len(body)-60):])
		}
		f.shown(t)
	})
}

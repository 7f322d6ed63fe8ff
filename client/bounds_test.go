package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// The bounds that SECURITY.md tells.

const mib = 1 << 20

// blanks are so many bytes of white space, without being held.
func blanks(n int64) io.Reader { return io.LimitReader(whitespace{}, n) }

type whitespace struct{}

var block = strings.Repeat(" ", 64<<10)

func (whitespace) Read(p []byte) (int, error) { return copy(p, block), nil }

func TestRequestBeyondItsBound(t *testing.T) {
	for name, length := range map[string]int64{"told": 64*mib + 1, "untold": -1} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, quick, client.Config{}, "one")
			r := newRequest(t, nil, client.BaseURL+"chat/completions", io.NopCloser(blanks(64*mib+1)))
			r.ContentLength = length
			_, err := f.HTTPClient().Transport.RoundTrip(r)
			mustBe(t, err, middleware.ErrTooLarge)
			if f.allRequests() != 0 {
				t.Errorf("%s: %d requests were sent, want none", name, f.allRequests())
			}
		})
	}
}

// oversized is a server whose answers have no end.
func oversized(t *testing.T, contentType, start string, status int) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, start)
		_, _ = io.Copy(w, whitespace{}) // until the client has had enough
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

func TestEventBeyondItsBound(t *testing.T) {
	c, err := client.New(client.Config{Targets: []client.Target{{Name: "one", BaseURL: oversized(t, "text/event-stream", "data: ", 200)}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = stream(t.Context(), &c.Client, question("hello"))
	mustBe(t, err, middleware.ErrTooLarge)
	if e := ours(t, err); len(e.Attempts) != 1 {
		t.Errorf("%d attempts, want 1", len(e.Attempts))
	}
}

func TestErrorBeyondItsBound(t *testing.T) {
	c, err := client.New(client.Config{Targets: []client.Target{{Name: "one", BaseURL: oversized(t, "text/plain", "too long", 400)}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = ask(t.Context(), &c.Client, question("hello"))
	if e := theirs(t, err, 400); !strings.HasPrefix(e.Message, "too long") || len(e.DumpResponse(true)) > 2*mib {
		t.Errorf("the error has %d bytes", len(e.DumpResponse(true)))
	}
}

// A response whose headers have no end is a failed attempt.
func TestHeadersBeyondTheirBound(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range 40 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 64<<10))
		}
	}))
	defer srv.Close()
	c, err := client.New(client.Config{
		Targets:   []client.Target{{Name: "one", BaseURL: srv.URL + "/v1"}},
		Endpoints: map[string]budget.Budget{"default": {Deadline: 400 * ms}}, // in the pause before it is tried again
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = ask(t.Context(), &c.Client, question("hello"))
	mustBe(t, err, middleware.ErrDeadline)
	a := ours(t, err).Attempts[0]
	if _, ok := errors.AsType[*middleware.ConnectError](a.Err); !ok || a.Outcome != middleware.Failed {
		t.Errorf("the attempt is %v: %v, want it failed", a.Outcome, a.Err)
	}
}

// A stream that goes on without content is not held back beyond 1 MiB: it is
// given to the caller.
func TestAStreamHeldBackBeyondItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		ping := upstream.Part{After: time.Second, Data: ":" + strings.Repeat(" ", 64<<10) + "\n\n"}
		step := events()
		for range 40 { // 2.5 MiB in 40 s
			step.Raw.Parts = append(step.Raw.Parts, ping)
		}
		step.Raw.End = upstream.Stall
		f.servers["one"].Script(step)
		start := time.Now()
		resp, err := f.HTTPClient().Transport.RoundTrip(newRequest(t, nil, client.BaseURL+"chat/completions", io.NopCloser(strings.NewReader(streamBody))))
		if err != nil {
			t.Fatal(err)
		}
		// 16 pings of 64 KiB and three bytes are the first 1 MiB.
		if took := time.Since(start); took != 16*time.Second {
			t.Errorf("it was given to the caller after %v, want 16s", took)
		}
		resp.Body.Close()
	})
}

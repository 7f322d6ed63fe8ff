package status_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/client/internal/status"
)

// viewer reads a stream as it comes.
type viewer struct {
	header http.Header
	code   int
	to     *io.PipeWriter
	lines  *bufio.Scanner
	cancel context.CancelFunc
	done   chan struct{} // closed when the handler has returned
}

func (v *viewer) Header() http.Header         { return v.header }
func (v *viewer) WriteHeader(code int)        { v.code = code }
func (v *viewer) Write(b []byte) (int, error) { return v.to.Write(b) }
func (v *viewer) FlushError() error           { return nil }

func look(t *testing.T, p *status.Page) *viewer {
	t.Helper()
	from, to := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	v := &viewer{header: http.Header{}, code: 200, to: to, lines: bufio.NewScanner(from), cancel: cancel, done: make(chan struct{})}
	v.lines.Buffer(nil, 1<<20)
	go func() {
		defer close(v.done)
		defer to.Close()
		p.ServeHTTP(v, httptest.NewRequestWithContext(ctx, "GET", "/?format=stream", nil))
	}()
	return v
}

// next returns the kind of the next event, and its data.
func (v *viewer) next(t *testing.T) (kind, data string) {
	t.Helper()
	for v.lines.Scan() {
		line := v.lines.Text()
		if line == "" {
			return kind, data
		}
		kind += strings.TrimPrefix(line, "event: ")
		if d, ok := strings.CutPrefix(line, "data: "); ok {
			kind, data = strings.TrimSuffix(kind, line), d
		}
	}
	return "end", ""
}

// calls returns the ids of the calls that the next event tells of.
func (v *viewer) calls(t *testing.T) (ids []int) {
	t.Helper()
	kind, data := v.next(t)
	var s state
	if err := json.Unmarshal([]byte(data), &s); err != nil || kind != "state" {
		t.Fatalf("event %s %.100s: %v", kind, data, err)
	}
	for _, c := range s.Calls {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestStreamTellsWhatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := opened()
		p.ObserveCall(call())
		p.ObserveCall(call())
		start := time.Now()
		v := look(t, p)
		if ids := v.calls(t); len(ids) != 2 || ids[0] != 2 {
			t.Errorf("calls %v at first, want 2 and 1", ids)
		}
		if ids := v.calls(t); ids != nil { // those are no news
			t.Errorf("calls %v then, want none", ids)
		}
		if kind, data := v.next(t); kind != "beat" || !strings.Contains(data, `"at":"2026`) {
			t.Errorf("%s %s when nothing has changed, want a beat", kind, data)
		}
		p.ObserveCall(call())
		if ids := v.calls(t); len(ids) != 1 || ids[0] != 3 {
			t.Errorf("calls %v, want 3", ids)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("four events took %v, want 3s", took)
		}
		p.Close()
		if kind, _ := v.next(t); kind != "closed" {
			t.Errorf("%s, want closed", kind)
		}
		<-v.done
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("it ended after %v, want at once", took)
		}
	})
}

func TestStreamEndsWithItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := opened()
		v := look(t, p)
		v.next(t)
		start := time.Now()
		v.cancel()
		<-v.done
		if took := time.Since(start); took != 0 {
			t.Errorf("it ended after %v, want at once", took)
		}
	})
}

// A viewer comes again now and then, past the application's authentication.
func TestStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		v := look(t, opened())
		for kind := ""; kind != "end"; {
			kind, _ = v.next(t)
		}
		<-v.done
		if took := time.Since(start); took != 10*time.Minute {
			t.Errorf("it ended after %v, want 10m", took)
		}
	})
}

func TestViewersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := opened()
		var all []*viewer
		for range 16 {
			v := look(t, p)
			v.next(t)
			all = append(all, v)
		}
		late := look(t, p)
		late.next(t)
		<-late.done
		if late.code != 503 || late.header.Get("Retry-After") == "" {
			t.Errorf("the 17th gets %d", late.code)
		}
		all[0].cancel()
		<-all[0].done
		again := look(t, p)
		if kind, _ := again.next(t); kind != "state" {
			t.Errorf("%s once there is room, want a state", kind)
		}
		p.Close()
		for _, v := range append(all[1:], again) {
			for kind := ""; kind != "end"; {
				kind, _ = v.next(t)
			}
			<-v.done
		}
	})
}

// Over a real socket, behind a server whose own timeout is shorter than a stream.
func TestStreamOutlivesWriteTimeout(t *testing.T) {
	p := openedNow()
	server := httptest.NewUnstartedServer(p)
	server.Config.WriteTimeout = 300 * ms
	server.Start()
	defer server.Close()
	resp, err := server.Client().Get(server.URL + "?format=stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines, events := bufio.NewScanner(resp.Body), 0
	lines.Buffer(nil, 1<<20)
	for events < 2 && lines.Scan() {
		if strings.HasPrefix(lines.Text(), "event: ") {
			events++
		}
	}
	p.Close()
	if events < 2 {
		t.Errorf("it broke after %d events: %v", events, lines.Err())
	}
}

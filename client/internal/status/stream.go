package status

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	mostViewers = 16
	tellEvery   = time.Second
	// A viewer that takes nothing for so long is gone.
	writeTimeout = 10 * time.Second
	// After so long the browser has to come again, past the application's own
	// authentication.
	longestStream = 10 * time.Minute
)

// serveStream sends the state once a second as server-sent events:
//
//	event: state    the data is a State; the first has all, the others what is new
//	event: beat     nothing has changed
//	event: closed   the client was closed
//
// It returns when the request ends, the client is closed, or after 10 minutes.
func (p *Page) serveStream(w http.ResponseWriter, r *http.Request) {
	if p.viewers.Add(1) > mostViewers {
		p.viewers.Add(-1)
		w.Header().Set("Retry-After", "10")
		http.Error(w, "Too many are looking already.", http.StatusServiceUnavailable)
		return
	}
	defer p.viewers.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	if r.Method == http.MethodHead {
		return
	}
	s := &stream{page: p, to: w, control: http.NewResponseController(w)}
	// Otherwise the deadline of the last write would be that of the connection's next request.
	defer func() { _ = s.control.SetWriteDeadline(time.Time{}) }()
	ctx, cancel := context.WithTimeout(r.Context(), longestStream)
	defer cancel()
	s.run(ctx)
}

// stream is one viewer's.
type stream struct {
	page    *Page
	to      http.ResponseWriter
	control *http.ResponseController
	view    view
	last    []byte // state that was sent, without its time
}

func (s *stream) run(ctx context.Context) {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		if err := s.tell(); err != nil {
			return // the viewer is gone
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-s.page.closed:
			_ = s.send("closed", []byte("{}"))
			return
		}
	}
}

// tell sends what is new.
func (s *stream) tell() error {
	state := s.page.state(&s.view)
	at := state.At
	state.At = time.Time{}
	now, err := json.Marshal(state)
	if err != nil {
		return err
	}
	if bytes.Equal(now, s.last) {
		return s.send("beat", fmt.Appendf(nil, `{"at":%q}`, at.Format(time.RFC3339Nano)))
	}
	s.last = now
	state.At = at
	if now, err = json.Marshal(state); err != nil {
		return err
	}
	return s.send("state", now)
}

func (s *stream) send(event string, data []byte) error {
	// Not every ResponseWriter can: then the server's own timeouts hold.
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := fmt.Fprintf(s.to, "event: %s\ndata: %s\n\n", event, data); err != nil {
		return err
	}
	return s.control.Flush()
}

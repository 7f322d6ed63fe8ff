package transporttest

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
)

// passingChecks are for what passes through without being looked at.
var passingChecks = []check{
	{name: "methods and bodies", run: methods, on: passing},
	{name: "no interpretation", run: interpretation, on: passing},
	{name: "answer before the upload", run: answerFirst, on: passing},
	{name: "trailers", run: trailers, on: passing},
	{name: "large answer left unread", run: large, on: passing},
	{name: "upgrade", run: upgrade, on: upgrades},
}

// methods: a response without content has an empty body, not none.
func methods(t *testing.T, s *Subject) {
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Method", r.Method)
		switch r.Method {
		case http.MethodHead:
			w.Header().Set("Content-Length", "7")
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case http.MethodGet:
			w.WriteHeader(http.StatusNotModified)
		default:
			_, _ = w.Write(got)
		}
	})
	for method, want := range map[string]string{
		http.MethodHead: "", http.MethodDelete: "", http.MethodGet: "",
		http.MethodPut: anything.Body, http.MethodPost: anything.Body, http.MethodPatch: anything.Body,
	} {
		r, u := tr.request(t.Context())
		r.Method = method
		if want == "" {
			r.Body, r.ContentLength = nil, 0
			u.Close()
		}
		resp, body, err := tr.fetch(r)
		if err != nil {
			t.Errorf("%s: %v", method, err)
		} else if body != want || resp.Header.Get("X-Method") != method {
			t.Errorf("%s: got %q as %s, want %q", method, body, resp.Header.Get("X-Method"), want)
		}
		u.mustBeClosed(t)
	}
}

// interpretation: a redirect, a question for a password and a cookie are the
// caller's to act on.
func interpretation(t *testing.T, s *Subject) {
	var asked atomic.Int32
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Cookie") != "" {
			t.Error("a cookie was sent")
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Set-Cookie", "a=b; Path=/")
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Www-Authenticate", "Basic")
		w.Header().Set("Retry-After", "1")
		status := map[int32]int{1: 301, 2: 302, 3: 303, 4: 307, 5: 308, 6: 401, 7: 429}[asked.Load()]
		w.WriteHeader(status)
	})
	for i, status := range []int{301, 302, 303, 307, 308, 401, 429} {
		r, u := tr.request(t.Context())
		resp, _, err := tr.fetch(r)
		if err != nil {
			t.Errorf("%d: %v", status, err)
		} else if resp.StatusCode != status || resp.Header.Get("Location") != "/elsewhere" || int(asked.Load()) != i+1 {
			t.Errorf("%d: got %d after %d requests, headers %v", status, resp.StatusCode, asked.Load(), resp.Header)
		}
		u.mustBeClosed(t)
	}
}

// answerFirst: a server answers without having read the upload.
func answerFirst(t *testing.T, s *Subject) {
	tr := s.start(t, func(w http.ResponseWriter, _ *http.Request) { s.say(w, len(anything.Answer)) })
	const size = 300 << 10 // more than net/http's server reads for nothing
	r, u := tr.requestWith(t.Context(), bytes.NewReader(make([]byte, size)))
	r.ContentLength = size
	if _, body, err := tr.fetch(r); err != nil || body != s.whole() {
		t.Errorf("%q, %v", body, err)
	}
	u.mustBeClosed(t)
}

// trailers: they are there once the body has been read.
func trailers(t *testing.T, s *Subject) {
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		s.answering(w, r)
		w.Header().Set("X-Sum", "42")
	})
	r, _ := tr.request(t.Context())
	if resp, _, err := tr.fetch(r); err != nil {
		t.Error(err)
	} else if resp.Trailer.Get("X-Sum") != "42" {
		t.Errorf("the trailers are %v", resp.Trailer)
	}
}

// large: more than any buffer holds is left unread, and leaves nothing.
func large(t *testing.T, s *Subject) {
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		piece := make([]byte, 64<<10)
		for range 256 {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})
	for range 3 {
		r, u := tr.request(t.Context())
		resp, err := tr.send(r)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := resp.Body.Read(make([]byte, 10)); n == 0 || err != nil {
			t.Errorf("the first bytes are %d, %v", n, err)
		}
		closeTwice(t, resp)
		u.mustBeClosed(t)
	}
}

// upgrade: both directions of an upgraded connection are the caller's.
func upgrade(t *testing.T, s *Subject) {
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "echo" || r.Header.Get("Connection") != "Upgrade" {
			http.Error(w, "no upgrade", http.StatusBadRequest)
			return
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		line, _ := buffered.ReadString('\n')
		_, _ = io.WriteString(conn, "you said "+line)
		_, _ = buffered.ReadByte() // the caller hangs up
	})
	r, u := tr.request(t.Context())
	u.Close()
	r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	resp, err := tr.send(r)
	if err != nil {
		t.Fatal(err)
	}
	both, ok := resp.Body.(io.ReadWriteCloser)
	if resp.StatusCode != http.StatusSwitchingProtocols || !ok {
		t.Fatalf("status %d with a body of type %T, want 101 with one that can be written to", resp.StatusCode, resp.Body)
	}
	if _, err := io.WriteString(both, "hello\n"); err != nil {
		t.Error(err)
	}
	if line, err := bufio.NewReader(both).ReadString('\n'); err != nil || line != "you said hello\n" {
		t.Errorf("%q, %v", line, err)
	}
	if err := both.Close(); err != nil {
		t.Error(err)
	}
}

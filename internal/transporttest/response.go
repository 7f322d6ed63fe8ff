package transporttest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

var responseChecks = []check{
	{name: "answer", run: answer},
	{name: "error status", run: errorStatus},
	{name: "unread answer", run: unread},
	{name: "closed half way", run: closedHalfWay, on: streams},
	{name: "closed while it is read", run: closedWhileRead, on: streams},
	{name: "cut answer", run: cut},
	{name: "compressed answer", run: compressed},
	{name: "early hints", run: earlyHints},
}

// answer: the response is what the server said, and its body behaves.
func answer(t *testing.T, s *Subject) {
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("X-Said", "a")
		w.Header().Add("X-Said", "b")
		s.answering(w, r)
	})
	r, _ := tr.request(t.Context())
	resp, err := tr.send(r)
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(resp.Header["X-Said"], ","); resp.StatusCode != http.StatusOK || said != "a,b" ||
		!strings.HasPrefix(resp.Status, "200") || resp.ProtoMajor < 1 || resp.Request != r {
		t.Errorf("the response is %+v", resp)
	}
	body, err := tr.readAll(resp.Body)
	if err != nil || body != s.whole() {
		t.Errorf("the body is %q, %v, want %q", body, err, s.whole())
	}
	honest(t, resp, body)
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("Read after the end is %d, %v, want io.EOF again", n, err)
	}
	closeTwice(t, resp)
}

// honest: what a response says of its body is true.
func honest(t *testing.T, resp *http.Response, body string) {
	t.Helper()
	if resp.ContentLength >= 0 && resp.ContentLength != int64(len(body)) {
		t.Errorf("ContentLength is %d, the body has %d bytes", resp.ContentLength, len(body))
	}
	if told := resp.Header.Get("Content-Length"); told != "" && told != strconv.Itoa(len(body)) {
		t.Errorf("Content-Length is %s, the body has %d bytes", told, len(body))
	}
	if resp.Uncompressed && (resp.ContentLength != -1 || resp.Header.Get("Content-Length") != "" || resp.Header.Get("Content-Encoding") != "") {
		t.Errorf("an uncompressed response has ContentLength %d and headers %v", resp.ContentLength, resp.Header)
	}
}

// closeTwice closes a body, which may be done again, and is read in vain then.
func closeTwice(t *testing.T, resp *http.Response) {
	t.Helper()
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range 2 {
			_ = resp.Body.Close()
		}
	}()
	await(t, over, "Close hangs")
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("Read after Close is %d, %v, want an error", n, err)
	}
}

// errorStatus: a server that says no has answered. Told not to be asked again, a
// transport that retries passes that on at once.
func errorStatus(t *testing.T, s *Subject) {
	for _, status := range []int{400, 404, 422, 500, 503} {
		const said = `{"error":{"message":"no","type":"t","code":"c"}}`
		tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Should-Retry", "false")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, said)
		})
		r, u := tr.request(t.Context())
		resp, err := tr.send(r)
		if err != nil {
			t.Errorf("%d: %v", status, err)
			continue
		}
		body, err := tr.readAll(resp.Body)
		if err != nil || resp.StatusCode != status || body != said {
			t.Errorf("%d: the response is %d %q, %v", status, resp.StatusCode, body, err)
		}
		honest(t, resp, body)
		closeTwice(t, resp)
		u.mustBeClosed(t)
		r, _ = tr.request(t.Context())
		if resp, err = tr.send(r); err == nil {
			closeTwice(t, resp) // unread
		}
	}
}

// unread: an answer of which nothing is wanted is closed, and the next request
// is served.
func unread(t *testing.T, s *Subject) {
	tr := s.start(t, s.answering)
	for range 3 {
		r, u := tr.request(t.Context())
		resp, err := tr.send(r)
		if err != nil {
			t.Fatal(err)
		}
		closeTwice(t, resp)
		u.mustBeClosed(t)
	}
	tr.answered()
}

// half is a server that says half of its answer the first time, and tells when
// its caller is gone.
func (s *Subject) half(gone chan<- struct{}) http.HandlerFunc {
	first := make(chan struct{}, 1)
	first <- struct{}{}
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-first:
		default:
			s.answering(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		s.say(w, (len(s.exchange().Answer)+1)/2)
		<-r.Context().Done()
		close(gone)
		panic(http.ErrAbortHandler)
	}
}

// closedHalfWay: Close does not wait for what is still to come, and the server
// learns of it.
func closedHalfWay(t *testing.T, s *Subject) {
	gone := make(chan struct{})
	tr := s.start(t, s.half(gone))
	r, u := tr.request(t.Context())
	resp, err := tr.send(r)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := resp.Body.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("the first byte is %d, %v", n, err)
	}
	closeTwice(t, resp)
	await(t, gone, "the server does not learn that nobody listens")
	u.mustBeClosed(t)
	tr.answered()
}

// closedWhileRead: Close ends a Read that waits.
func closedWhileRead(t *testing.T, s *Subject) {
	gone := make(chan struct{})
	tr := s.start(t, s.half(gone))
	r, _ := tr.request(t.Context())
	resp, err := tr.send(r)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = io.Copy(io.Discard, resp.Body)
	}()
	time.Sleep(20 * time.Millisecond) // most likely it waits by now; either way it has to end
	closeTwice(t, resp)
	await(t, over, "Read hangs after Close")
	await(t, gone, "the server does not learn that nobody listens")
}

// cut: half an answer is not taken for a whole one. A transport that asks again
// has the whole one.
func cut(t *testing.T, s *Subject) {
	first := make(chan struct{}, 1)
	first <- struct{}{}
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-first:
			_, _ = io.Copy(io.Discard, r.Body)
			s.say(w, (len(s.exchange().Answer)+1)/2)
			panic(http.ErrAbortHandler)
		default:
			s.answering(w, r)
		}
	})
	r, u := tr.request(t.Context())
	if _, body, err := tr.fetch(r); err == nil && body != s.whole() {
		t.Errorf("half an answer is %q without an error", body)
	}
	u.mustBeClosed(t)
}

// compressed: whether or not the transport unpacks it, the answer is said to be
// what it is.
func compressed(t *testing.T, s *Subject) {
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", s.exchange().ContentType)
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			_, _ = io.WriteString(w, s.whole())
			return
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = io.WriteString(z, s.whole())
		_ = z.Close()
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", strconv.Itoa(packed.Len()))
		_, _ = w.Write(packed.Bytes())
	})
	for _, asked := range []string{"", "gzip", "identity"} {
		r, _ := tr.request(t.Context())
		if asked != "" {
			r.Header.Set("Accept-Encoding", asked)
		}
		resp, body, err := tr.fetch(r)
		if err != nil {
			t.Fatal(err)
		}
		honest(t, resp, body)
		if resp.Header.Get("Content-Encoding") == "gzip" {
			body, err = unpack(body)
		}
		if err != nil || body != s.whole() {
			t.Errorf("asked for %q: %q, %v, want %q; headers %v", asked, body, err, s.whole(), resp.Header)
		}
	}
}

func unpack(packed string) (string, error) {
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(z)
	return string(plain), errors.Join(err, z.Close())
}

// earlyHints: an informational response is not the response.
func earlyHints(t *testing.T, s *Subject) {
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		s.answering(w, r)
	})
	tr.answered()
}

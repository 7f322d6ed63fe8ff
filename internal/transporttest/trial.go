package transporttest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// trial is a transport with a server behind it, for one check.
type trial struct {
	*testing.T
	*Subject
	transport http.RoundTripper
	base      string
}

func (s *Subject) start(t *testing.T, h http.HandlerFunc) *trial {
	t.Helper()
	rt, base := s.New(t, h)
	return &trial{t, s, rt, strings.TrimSuffix(base, "/")}
}

// answering is a server that reads the request and gives the good answer.
func (s *Subject) answering(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	s.say(w, len(s.exchange().Answer))
}

// say sends so many pieces of the good answer.
func (s *Subject) say(w http.ResponseWriter, pieces int) {
	w.Header().Set("Content-Type", s.exchange().ContentType)
	for _, piece := range s.exchange().Answer[:pieces] {
		_, _ = io.WriteString(w, piece)
		_ = http.NewResponseController(w).Flush()
	}
}

// request is the exchange's own, with a body that is watched.
func (tr *trial) request(ctx context.Context) (*http.Request, *upload) {
	return tr.requestWith(ctx, strings.NewReader(tr.exchange().Body))
}

func (tr *trial) requestWith(ctx context.Context, body io.Reader) (*http.Request, *upload) {
	tr.Helper()
	u := &upload{Reader: body, closed: make(chan struct{})}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, tr.base+tr.exchange().Path, u)
	if err != nil {
		tr.Fatal(err)
	}
	r.ContentLength = int64(len(tr.exchange().Body))
	for name, values := range tr.Header {
		r.Header[name] = values
	}
	r.Header["X-Two"] = []string{"a", "b"}
	return r, u
}

// upload is a request's body that tells when it is closed.
type upload struct {
	io.Reader
	once   sync.Once
	closed chan struct{}
}

// Close closes the reader too, if it can be.
func (u *upload) Close() error {
	u.once.Do(func() {
		if c, ok := u.Reader.(io.Closer); ok {
			c.Close()
		}
		close(u.closed)
	})
	return nil
}

// mustBeClosed waits: a transport may close the body after it has returned.
func (u *upload) mustBeClosed(t testing.TB) {
	t.Helper()
	await(t, u.closed, "the request's body was not closed")
}

// await fails a test that waits for something which does not come.
func await(t testing.TB, c <-chan struct{}, otherwise string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Error(otherwise)
	}
}

// send is a RoundTrip that has to come to an end.
func (tr *trial) send(r *http.Request) (*http.Response, error) {
	tr.Helper()
	var (
		resp *http.Response
		err  error
		over = make(chan struct{})
	)
	go func() {
		defer close(over)
		resp, err = tr.transport.RoundTrip(r)
	}()
	select {
	case <-over:
	case <-time.After(patience):
		tr.Fatal("RoundTrip hangs")
	}
	tr.judge(resp, err)
	return resp, err
}

// judge makes sure that there is a response or an error.
func (tr *trial) judge(resp *http.Response, err error) {
	tr.Helper()
	switch {
	case (resp == nil) == (err == nil):
		tr.Errorf("response %v and error %v, want one of them", resp, err)
	case resp != nil && resp.Body == nil:
		tr.Error("the response has no body; without content it has to be an empty one")
		resp.Body = http.NoBody
	}
}

// fetch sends a request and reads what comes to its end. The error is that of
// whatever failed.
func (tr *trial) fetch(r *http.Request) (*http.Response, string, error) {
	tr.Helper()
	resp, err := tr.send(r)
	if err != nil {
		return nil, "", err
	}
	body, err := tr.readAll(resp.Body)
	if err := resp.Body.Close(); err != nil {
		tr.Errorf("Close after the end: %v", err)
	}
	return resp, body, err
}

// readAll reads a body, which has to come to an end.
func (tr *trial) readAll(body io.Reader) (string, error) {
	tr.Helper()
	var (
		all  []byte
		err  error
		over = make(chan struct{})
	)
	go func() {
		defer close(over)
		all, err = io.ReadAll(body)
	}()
	select {
	case <-over:
	case <-time.After(patience):
		tr.Fatal("Read hangs")
	}
	return string(all), err
}

// answered makes a request that has to be answered well.
func (tr *trial) answered() {
	tr.Helper()
	r, u := tr.request(tr.Context())
	resp, body, err := tr.fetch(r)
	if err != nil {
		tr.Error(err)
	} else if resp.StatusCode != http.StatusOK || body != tr.whole() {
		tr.Errorf("the answer is %d %q, want 200 %q", resp.StatusCode, body, tr.whole())
	}
	u.mustBeClosed(tr)
}

package transporttest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

var requestChecks = []check{
	{name: "request untouched", run: untouched},
	{name: "request is the caller's again", run: reused},
	{name: "body of unknown length", run: unknownLength},
	{name: "expect continue", run: expectContinue},
	{name: "body fails", run: bodyFails},
	{name: "no answer", run: noAnswer},
	{name: "invalid request", run: invalid},
	{name: "concurrent use", run: concurrent},
}

// untouched: the request is the same after the call as before.
func untouched(t *testing.T, s *Subject) {
	tr := s.start(t, s.answering)
	r, u := tr.request(tr.Context())
	r.Header["X-None"] = nil
	before := photograph(r)
	resp, err := tr.send(r)
	if err != nil {
		t.Fatal(err)
	}
	before.compare(t, r)
	_, _ = tr.readAll(resp.Body)
	resp.Body.Close()
	before.compare(t, r)
	u.mustBeClosed(t)
}

// photo is what a request was like.
type photo struct {
	request *http.Request // a copy
	url     url.URL
	header  http.Header
}

func photograph(r *http.Request) photo {
	return photo{r.WithContext(r.Context()), *r.URL, r.Header.Clone()}
}

func (p photo) compare(t *testing.T, r *http.Request) {
	t.Helper()
	if *r.URL != p.url {
		t.Errorf("the URL is %s, was %s", r.URL, &p.url)
	}
	if !reflect.DeepEqual(r.Header, p.header) {
		t.Errorf("the headers are %v, were %v", r.Header, p.header)
	}
	was := p.request
	same := r.Method == was.Method && r.URL == was.URL && r.Host == was.Host && r.Body == was.Body &&
		r.ContentLength == was.ContentLength && r.Close == was.Close && r.RequestURI == was.RequestURI &&
		r.Proto == was.Proto && r.Response == was.Response && r.Form == nil && r.PostForm == nil && r.MultipartForm == nil &&
		len(r.TransferEncoding) == 0 && len(r.Trailer) == 0 && (r.GetBody == nil) == (was.GetBody == nil) &&
		r.Context() == was.Context()
	if !same {
		t.Errorf("the request is\n%+v, was\n%+v", r, was)
	}
}

// reused: once the body of the response is closed, the request may be changed.
// That nobody reads it any more is for the race detector to see.
func reused(t *testing.T, s *Subject) {
	tr := s.start(t, s.answering)
	for range 10 {
		r, u := tr.request(tr.Context())
		if _, _, err := tr.fetch(r); err != nil {
			t.Fatal(err)
		}
		u.mustBeClosed(t)
		r.Header.Set("X-Two", "c")
		r.URL.Path = ""
		r.Host, r.Body, r.ContentLength, r.GetBody = "", nil, 0, nil
	}
}

// unknownLength: a body whose length is not told arrives all the same.
func unknownLength(t *testing.T, s *Subject) {
	arrived := make(chan string, 1)
	tr := s.start(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- string(body)
		s.say(w, len(s.exchange().Answer))
	})
	r, u := tr.requestWith(t.Context(), io.MultiReader(strings.NewReader(s.exchange().Body), strings.NewReader("")))
	r.ContentLength = -1
	if _, body, err := tr.fetch(r); err != nil || body != s.whole() {
		t.Errorf("%q, %v", body, err)
	}
	if got := <-arrived; s.Exchange == nil && got != s.exchange().Body || got == "" {
		t.Errorf("the server got %q, want %q", got, s.exchange().Body)
	}
	u.mustBeClosed(t)
}

// expectContinue: who asks whether the body is wanted is answered, whether or
// not the question is passed on.
func expectContinue(t *testing.T, s *Subject) {
	tr := s.start(t, s.answering)
	r, u := tr.request(t.Context())
	r.Header.Set("Expect", "100-continue")
	if resp, body, err := tr.fetch(r); err != nil || resp.StatusCode != http.StatusOK || body != s.whole() {
		t.Errorf("%q, %v", body, err)
	}
	u.mustBeClosed(t)
}

var errUpload = errors.New("the application's body failed")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errUpload }

// bodyFails: the reason why a body cannot be read reaches the caller.
func bodyFails(t *testing.T, s *Subject) {
	tr := s.start(t, s.answering)
	r, u := tr.requestWith(t.Context(), brokenReader{})
	if _, _, err := tr.fetch(r); !errors.Is(err, errUpload) {
		t.Errorf("error is %v, want the body's own", err)
	}
	u.mustBeClosed(t)
	tr.answered()
}

// noAnswer: the server hangs up.
func noAnswer(t *testing.T, s *Subject) {
	tr := s.start(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	r, u := tr.request(t.Context())
	if _, _, err := tr.fetch(r); err == nil {
		t.Error("there is no error")
	}
	u.mustBeClosed(t)
}

// invalid: what cannot be sent is an error, and its body is closed too.
func invalid(t *testing.T, s *Subject) {
	for name, spoil := range map[string]func(*http.Request){
		"no URL":             func(r *http.Request) { r.URL = nil },
		"no host":            func(r *http.Request) { r.URL.Host, r.Host = "", "" },
		"odd scheme":         func(r *http.Request) { r.URL.Scheme = "gopher" },
		"method":             func(r *http.Request) { r.Method = "BAD METHOD" },
		"header name":        func(r *http.Request) { r.Header["bad name"] = []string{"x"} },
		"header value":       func(r *http.Request) { r.Header["X-Bad"] = []string{"line\nend"} },
		"header, in the end": func(r *http.Request) { r.Header["X-Bad"] = []string{"good", "nul\x00"} },
	} {
		t.Run(name, func(t *testing.T) {
			tr := s.start(t, s.answering)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, u := tr.request(ctx)
			spoil(r)
			if _, _, err := tr.fetch(r); err == nil {
				t.Error("it was sent")
			}
			u.mustBeClosed(t)
		})
	}
}

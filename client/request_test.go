package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// watched is a request body that counts how often it is closed.
type watched struct {
	io.Reader
	closed atomic.Int32
}

func (w *watched) Close() error { w.closed.Add(1); return nil }

var errBody = errors.New("the application's body failed")

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, errBody }

const (
	askBody    = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	streamBody = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
)

// The contract of an http.RoundTripper: the request stays as it is, and its body
// is closed, however the request ends.
func TestRoundTripperContract(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, test := range map[string]struct {
		url, body string
		reader    io.Reader // in place of body
		ctx       context.Context
		header    [2]string
		fault     upstream.Fault
		closed    bool // the client is
		fails     bool
	}{
		"whole":              {url: "https://ontime.invalid/v1/chat/completions", body: askBody},
		"streamed":           {url: "https://ontime.invalid/v1/chat/completions?a=b", body: streamBody},
		"a target's URL":     {url: "https://one.test/v1/chat/completions", body: streamBody},
		"capped and mapped":  {url: "https://ontime.invalid/v1/chat/completions", body: strings.Replace(askBody, "{", `{"max_tokens":900000,`, 1)},
		"other request":      {url: "https://one.test/v1/files", body: "anything"},
		"all fail":           {url: "https://ontime.invalid/v1/chat/completions", body: streamBody, fault: upstream.Refused, fails: true},
		"HTTP errors":        {url: "https://ontime.invalid/v1/chat/completions", body: streamBody, fault: upstream.HTTPError},
		"foreign origin":     {url: "https://elsewhere.test/v1/chat/completions", body: askBody, fails: true},
		"foreign credential": {url: "https://ontime.invalid/v1/chat/completions", body: askBody, header: [2]string{"Api-Key", "x"}, fails: true},
		"unknown endpoint":   {url: "https://ontime.invalid/v1/chat/completions", body: askBody, ctx: budget.With(context.Background(), "nope"), fails: true},
		"not JSON":           {url: "https://ontime.invalid/v1/chat/completions", body: "model=m", fails: true},
		"no body":            {url: "https://ontime.invalid/v1/chat/completions", fails: true},
		"body fails":         {url: "https://ontime.invalid/v1/chat/completions", reader: badReader{}, fails: true},
		"over the cap":       {url: "https://ontime.invalid/v1/chat/completions", body: strings.Replace(askBody, "{", `{"max_tokens":9,`, 1), ctx: budget.With(context.Background(), "strict"), fails: true},
		"canceled":           {url: "https://ontime.invalid/v1/chat/completions", body: streamBody, ctx: canceled, fails: true},
		"admin call":         {url: "https://one.test/v1/organization/users", body: "x", fails: true},
		"after Close":        {url: "https://ontime.invalid/v1/chat/completions", body: askBody, closed: true, fails: true},
		"other after Close":  {url: "https://one.test/v1/files", body: "x", closed: true, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, quick, client.Config{
					Targets: []client.Target{{Name: "one", Models: map[string]string{"m": "own-name"}}},
					Endpoints: map[string]budget.Budget{
						"default": {MaxTokens: budget.MaxTokens{Limit: 100}}, "strict": {MaxTokens: budget.MaxTokens{Limit: 8, Strict: true}},
					},
				}, "one")
				for range 3 {
					f.servers["one"].Script(upstream.Step{Fault: test.fault})
				}
				if test.closed {
					f.Close()
				}
				body := &watched{Reader: test.reader}
				if body.Reader == nil {
					body.Reader = strings.NewReader(test.body)
				}
				r := newRequest(t, test.ctx, test.url, body)
				if test.header[0] != "" {
					r.Header.Set(test.header[0], test.header[1])
				}
				before := *r
				url, header := *r.URL, r.Header.Clone()
				resp, err := f.HTTPClient().Transport.RoundTrip(r)
				if (err != nil) != test.fails || (err == nil) != (resp != nil) {
					t.Errorf("response %v and error %v", resp, err)
				}
				if resp != nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				if body.closed.Load() == 0 {
					t.Error("the request's body was not closed")
				}
				checkSame(t, r, &before, url, header)
			})
		})
	}
}

func newRequest(t *testing.T, ctx context.Context, url string, body io.ReadCloser) *http.Request {
	t.Helper()
	if ctx == nil {
		ctx = t.Context()
	}
	r, err := http.NewRequestWithContext(ctx, "POST", url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ontime")
	r.Header["X-Two"] = []string{"a", "b"}
	r.ContentLength = -1
	return r
}

// checkSame compares a request with what it was.
func checkSame(t *testing.T, r, before *http.Request, url url.URL, header http.Header) {
	t.Helper()
	if d := cmp.Diff(url, *r.URL); d != "" {
		t.Errorf("the URL changed:\n%s", d)
	}
	if d := cmp.Diff(header, r.Header); d != "" {
		t.Errorf("the headers changed:\n%s", d)
	}
	if r.Body != before.Body || r.Host != before.Host || r.Method != before.Method || r.URL != before.URL ||
		r.ContentLength != before.ContentLength || r.Response != nil || r.Context() != before.Context() {
		t.Errorf("the request changed: %+v", r)
	}
}

// What is sent is the caller's body, byte by byte, unless the cap, the model or
// usage ask for an edit.
func TestBodyTravelsUntouched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		f.servers["one"].Script(upstream.Step{Fault: upstream.Refused})
		const odd = "{ \"model\" : \"m\",\n\"max_tokens\":7, \"messages\":[ ], \"x\": 1.50, \"é\":\"\\u0041\" }"
		r := newRequest(t, nil, "https://ontime.invalid/v1/chat/completions", io.NopCloser(strings.NewReader(odd)))
		r = r.WithContext(budget.With(r.Context(), "chat"))
		resp, err := f.HTTPClient().Transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		for _, name := range []string{"one", "two"} {
			if _, body := f.last(t, name); body != odd {
				t.Errorf("%s got %s, want %s", name, body, odd)
			}
		}
	})
}

// A caller that holds a Request still may cancel it at any time.
func TestRequestErrorsAreTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		for body, want := range map[string]error{
			"model=m":                             middleware.ErrBadRequest,
			`{"messages":[]}`:                     middleware.ErrBadRequest,
			`{"model":"m","model":"n"}`:           middleware.ErrBadRequest,
			`{"model":"m","stream":"yes please"}`: middleware.ErrBadRequest,
		} {
			_, err := f.HTTPClient().Transport.RoundTrip(newRequest(t, nil, client.BaseURL+"chat/completions", io.NopCloser(strings.NewReader(body))))
			mustBe(t, err, want)
			ours(t, err)
		}
		if n := f.allRequests(); n != 0 {
			t.Errorf("the target got %d requests, want none", n)
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
		defer cancel()
		f.servers["one"].Script(upstream.Step{Fault: upstream.Hang})
		_, err := f.HTTPClient().Transport.RoundTrip(newRequest(t, ctx, client.BaseURL+"chat/completions", io.NopCloser(strings.NewReader(askBody))))
		mustBe(t, err, context.DeadlineExceeded)
		if took := time.Since(start); took != 50*ms {
			t.Errorf("it took %v, want 50ms", took)
		}
	})
}

package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// secret tells whether a text has something in it that belongs to one target:
// its key, its organisation, or a cookie that it set.
func secret(text string) bool {
	return strings.Contains(text, "-of-") || strings.Contains(text, "sid=")
}

// checkNoSecret walks over everything that an application can reach from v:
// exported fields, elements, Unwrap, Error, String and what the SDK can dump.
func checkNoSecret(t *testing.T, what string, v any) {
	t.Helper()
	w := walker{seen: map[uintptr]bool{}, secret: secret, found: func(path, text string) {
		t.Errorf("%s tells a secret at %s: %q", what, path, text)
	}}
	w.walkAny(v)
}

type walker struct {
	seen   map[uintptr]bool
	secret func(text string) bool
	found  func(path, text string)
}

func (w *walker) walkAny(v any) { w.walk("", reflect.ValueOf(v)) }

func (w *walker) text(path, text string) {
	if w.secret(text) {
		w.found(path, text)
	}
}

func (w *walker) walk(path string, v reflect.Value) {
	if !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || w.seen[v.Pointer()] {
			return
		}
		w.seen[v.Pointer()] = true
		w.methods(path, v)
		w.walk(path, v.Elem())
	case reflect.Interface:
		w.walk(path, v.Elem())
	case reflect.Struct:
		w.methods(path, v)
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				w.walk(path+"."+field.Name, v.Field(i))
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			w.walk(path+".key", it.Key())
			w.walk(fmt.Sprintf("%s[%v]", path, it.Key()), it.Value())
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			w.text(path, string(v.Bytes()))
			return
		}
		for i := range v.Len() {
			w.walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.String:
		w.text(path, v.String())
	}
}

// methods calls those that tell something.
func (w *walker) methods(path string, v reflect.Value) {
	if !v.CanInterface() {
		return
	}
	v0 := v.Interface()
	if s, ok := v0.(fmt.Stringer); ok {
		w.text(path+".String()", s.String())
	}
	if e, ok := v0.(error); ok {
		w.text(path+".Error()", e.Error())
		w.text(path+" as %#v", fmt.Sprintf("%+v %#v", e, e.Error()))
		w.walk(path+".Unwrap()", reflect.ValueOf(errors.Unwrap(e)))
	}
	if d, ok := v0.(interface {
		DumpRequest(bool) []byte
		DumpResponse(bool) []byte
	}); ok {
		w.text(path+".DumpRequest()", string(d.DumpRequest(true)))
		w.text(path+".DumpResponse()", string(d.DumpResponse(true)))
	}
}

// noisy are headers of an upstream, some of which nobody else may see.
var noisy = map[string]string{
	"OpenAI-Organization":       "org-of-one",
	"OpenAI-Project":            "proj-of-one",
	"Anthropic-Organization-Id": "org-of-one",
	"Set-Cookie":                "sid=cookie",
	"X-Ontime-Target":           "spoofed",
	"X-Ontime-Attempts":         "99",
	"X-Ontime-Other":            "spoofed",
	"X-Should-Retry":            "true",
	"X-Request-Id":              "req_1",
	"Openai-Processing-Ms":      "12",
	"X-Ratelimit-Limit-Tokens":  "1000",
}

func withHeaders(s upstream.Step, headers map[string]string) upstream.Step {
	all := map[string]string{}
	for name, value := range s.Raw.Headers {
		all[name] = value
	}
	for name, value := range headers {
		all[name] = value
	}
	s.Raw.Headers = all
	return s
}

func checkHeaders(t *testing.T, h http.Header, target, attempts string) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Ontime-Target": target, "X-Ontime-Attempts": attempts, "X-Ontime-Other": "",
		"OpenAI-Organization": "", "OpenAI-Project": "", "Anthropic-Organization-Id": "", "Set-Cookie": "",
		"X-Should-Retry": "false", "X-Request-Id": "req_1", "Openai-Processing-Ms": "12", "X-Ratelimit-Limit-Tokens": "1000",
	} {
		if got := strings.Join(h.Values(name), ","); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestResponseShowsNothingOfTheTargetsAccount(t *testing.T) {
	good := map[string]upstream.Step{
		"streamed": events(delta("hi"), finish, done),
		"whole":    raw(200, "application/json", wholeAnswer),
		"error":    raw(400, "application/json", `{"error":{"message":"no","type":"invalid_request_error","code":"bad"}}`),
	}
	for name, step := range good {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two")
				f.Handler()
				f.servers["one"].Script(withHeaders(step, noisy))
				var resp *http.Response
				say := ask
				if name == "streamed" {
					say = stream
				}
				ctx, call := middleware.WithCall(t.Context())
				_, err := say(ctx, f.chat(), question("hello"), option.WithResponseInto(&resp))
				if (name == "error") != (err != nil) {
					t.Fatal(err)
				}
				checkHeaders(t, resp.Header, "one", "1")
				checkCallersRequest(t, resp.Request)
				checkNoSecret(t, "response", resp)
				checkNoSecret(t, "call", call)
				checkNoSecret(t, "status page", f.page(t))
				if err != nil {
					e := theirs(t, err, 400)
					checkCallersRequest(t, e.Request)
					checkCallersRequest(t, e.Response.Request)
					checkNoSecret(t, "error", err)
				}
			})
		})
	}
}

// Also what is not routed.
func TestHomeResponseShowsNothingOfItsAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		for _, status := range []int{200, 404, 503} {
			f.servers["one"].Script(withHeaders(raw(status, "application/json", `{"data":[]}`), noisy))
			var resp *http.Response
			_, err := f.Models.List(t.Context(), option.WithResponseInto(&resp))
			if (status == 200) != (err == nil) {
				t.Fatal(err)
			}
			checkHeaders(t, resp.Header, "one", "1")
			checkCallersRequest(t, resp.Request)
			checkNoSecret(t, "response", resp)
			checkNoSecret(t, "error", err)
		}
	})
}

// What an application can read after every attempt has failed in its own way.
func TestErrorsTellNoSecret(t *testing.T) {
	redirect := withHeaders(raw(302, "text/html", "moved"), map[string]string{"Location": "https://elsewhere.test/v1"})
	for name, step := range map[string]upstream.Step{
		"refused":     {Fault: upstream.Refused},
		"HTTP":        withHeaders(raw(503, "application/json", `{"error":{"message":"down"}}`), noisy),
		"error event": {Fault: upstream.ErrorEvent},
		"reset":       {Fault: upstream.Reset, Events: 2},
		"late error":  {Fault: upstream.LateError, Events: 2},
		"page":        {Fault: upstream.HTML},
		"redirect":    redirect,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two")
				f.Handler()
				for range 3 {
					f.servers["one"].Script(step)
					f.servers["two"].Script(step)
				}
				ctx, call := middleware.WithCall(t.Context())
				_, err := stream(ctx, f.chat(), question("hello"))
				if err == nil {
					t.Fatal("the call succeeded")
				}
				checkNoSecret(t, "error", err)
				checkNoSecret(t, "call", call)
				checkNoSecret(t, "status page", f.page(t))
			})
		})
	}
}

// The status page has no prompt, no answer, no credential, and nothing of what a
// provider or a broken request says, however a call ended.
func TestStatusPageQuotesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		f.Handler()
		const said = `{"error":{"message":"canary, as Bearer key-of-one","type":"server_error","code":"overloaded","param":"canary"}}`
		refused := withHeaders(raw(400, "application/json", strings.Replace(said, "overloaded", "bad", 1)), noisy)
		down := withHeaders(raw(503, "application/json", said), noisy)
		late := events(delta("canary"), "data: "+strings.Replace(said, "overloaded", "late", 1)+"\n\n")
		f.servers["one"].Script(withHeaders(events(delta("canary"), finish, done), noisy), refused, down, late, down)
		f.servers["two"].Script(down, down)
		for range 5 {
			_, _ = stream(t.Context(), f.chat(), question("canary"))
		}
		body := `{"model":"m","stream":"canary","canary":"canary"}`
		r, err := http.NewRequestWithContext(t.Context(), "POST", client.BaseURL+"chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.HTTPClient().Do(r); err == nil {
			t.Error("a broken request was taken")
		}
		page := f.page(t)
		if strings.Contains(page, "canary") || secret(page) {
			t.Errorf("the status page tells it: %s", page)
		}
		if calls := f.shown(t).Calls; len(calls) != 6 {
			t.Errorf("%d calls, want 6", len(calls))
		}
		for _, word := range []string{"503 Service Unavailable", "code overloaded", "request cannot be read"} {
			if !strings.Contains(page, word) {
				t.Errorf("the status page does not say %q: %s", word, page)
			}
		}
	})
}

// checkCallersRequest makes sure that a request is the application's own and
// not the attempt's.
func checkCallersRequest(t *testing.T, r *http.Request) {
	t.Helper()
	if r == nil || r.URL.Host != "ontime.invalid" || r.Header.Get("Authorization") != "Bearer ontime" {
		t.Errorf("request is %+v, want the caller's", r)
	}
}

// A RoundTripper's own caller gets back the very request that it sent.
func TestResponseRequestIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		for _, path := range []string{"chat/completions", "responses"} {
			r, err := http.NewRequestWithContext(t.Context(), "POST", "https://ontime.invalid/v1/"+path,
				strings.NewReader(`{"model":"m","input":"hi","messages":[]}`))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := f.HTTPClient().Transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.Request != r {
				t.Errorf("%s: Response.Request is another one", path)
			}
		}
	})
}

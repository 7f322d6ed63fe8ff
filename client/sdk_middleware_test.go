package client_test

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// noting is a middleware that writes down when it is passed.
func noting(notes *[]string, name string) option.RequestOption {
	return option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		*notes = append(*notes, name+" in")
		resp, err := next(r)
		if err == nil {
			*notes = append(*notes, name+" out "+resp.Header.Get("X-Ontime-Target")+resp.Header.Get("X-Ontime-Attempts"))
		}
		return resp, err
	})
}

// The application's middleware is passed in its order, the client's before the
// call's. Different: it is passed once for a call, whatever attempts that takes;
// the SDK's is passed for each of its retries.
func TestSDKMiddlewareIsPassedOnceInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		var notes []string
		c := f.another(t, noting(&notes, "client"))
		f.servers["one"].Script(httpError(503, "down"), httpError(503, "down"))
		if _, err := ask(t.Context(), &c.Client, question("hello"), noting(&notes, "first"), noting(&notes, "second")); err != nil {
			t.Fatal(err)
		}
		want := []string{"client in", "first in", "second in", "second out one3", "first out one3", "client out one3"}
		if diff := cmp.Diff(want, notes); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

// What middleware answers by itself is the answer, and its error is the error.
func TestSDKMiddlewareAnswersByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		text, err := ask(t.Context(), &f.Client.Client, question("hello"), option.WithMiddleware(
			func(r *http.Request, _ option.MiddlewareNext) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(strings.NewReader(wholeAnswer)), Request: r}, nil
			}))
		if text != "all at once" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		refused := errors.New("not today")
		_, err = ask(t.Context(), &f.Client.Client, question("hello"), option.WithMiddleware(
			func(*http.Request, option.MiddlewareNext) (*http.Response, error) { return nil, refused }))
		mustBe(t, err, refused)
		if f.allRequests() != 0 || len(f.observed()) != 0 {
			t.Errorf("%d requests were sent and %d calls observed, want none", f.allRequests(), len(f.observed()))
		}
	})
}

// What middleware changes of a request is what is read of it, and sent.
func TestSDKMiddlewareChangesTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := inOrder("one", "two")
		targets[0].Models = map[string]string{"other": "other"}
		targets[1].Models = map[string]string{"mine": "mine"}
		f := newFleet(t, quick, client.Config{Targets: targets, Endpoints: chatBudget()}, "one", "two")
		_, err := ask(t.Context(), f.chat(), question("hello"), option.WithMiddleware(
			func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
				body, _ := io.ReadAll(r.Body)
				body = bytes.Replace(body, []byte("gpt-4o-mini"), []byte("mine"), 1)
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				r.Header.Set("X-Added", "here")
				return next(r)
			}))
		if err != nil {
			t.Fatal(err)
		}
		r, body := f.last(t, "two")
		if r.Header.Get("X-Added") != "here" || !strings.Contains(body, `"model":"mine"`) || f.lastCall(t).Model != "mine" {
			t.Errorf("the target got %v %s", r.Header, body)
		}
	})
}

// Middleware that asks again makes a call of its own each time.
func TestSDKMiddlewareThatAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		_, err := ask(t.Context(), &f.Client.Client, question("hello"), option.WithMiddleware(
			func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
				resp, err := next(r)
				if err != nil {
					return nil, err
				}
				resp.Body.Close()
				r.Body, err = r.GetBody()
				if err != nil {
					return nil, err
				}
				return next(r)
			}))
		if err != nil || len(f.observed()) != 2 || f.requests("one") != 2 {
			t.Errorf("%v, %d calls, %d requests; want 2 and 2", err, len(f.observed()), f.requests("one"))
		}
	})
}

// The SDK's debug log has the placeholder to hide, never a target's key.
func TestSDKDebugLogTellsNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		var written bytes.Buffer
		f.servers["one"].Script(httpError(503, "down"))
		_, err := ask(t.Context(), f.chat(), question("hello"), option.WithDebugLog(log.New(&written, "", 0)))
		if err != nil || written.Len() == 0 || secret(written.String()) {
			t.Errorf("%v, the log is\n%s", err, &written)
		}
	})
}

// The SDK's own types keep working around the client: it can be copied, its
// services too, and each of them is used by many at once.
func TestSDKClientCanBeCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one")
		copied := *f.chat()
		completions := copied.Chat.Completions
		done := make(chan error, 20)
		for range cap(done) {
			go func() {
				_, err := completions.New(t.Context(), question("hello"))
				done <- err
			}()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if calls := f.observed(); len(calls) != 20 || !slices.ContainsFunc(calls, func(c middleware.Call) bool { return c.Endpoint == "chat" }) {
			t.Errorf("%d calls were observed, want 20 of chat", len(calls))
		}
	})
}

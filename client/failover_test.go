package client_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// status is a fault with that HTTP status.
func status(code int) upstream.Step {
	return upstream.Step{Fault: upstream.HTTPError, Set: func(b *upstream.Behaviour) { b.Faults.Status = code }}
}

// connects tells whether an attempt's error is that it got no response.
func connects(err error) bool {
	_, ok := errors.AsType[*middleware.ConnectError](err)
	return ok
}

func is(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }

// told tells whether a provider reported an error of that status.
func told(code int) func(error) bool {
	return func(err error) bool {
		e, ok := errors.AsType[*middleware.ProviderError](err)
		return ok && e.Status == code && e.Target == "one"
	}
}

// What happens before the first content is made good in silence, by another
// target and at once.
func TestFailoverBeforeContent(t *testing.T) {
	redirect := raw(307, "text/plain", "")
	redirect.Raw.Headers["Location"] = "https://two.test/v1/chat/completions"
	const errorBody = `{"error":{"message":"down","type":"server_error","code":"server_error"}}`
	for name, test := range map[string]struct {
		step   upstream.Step
		status int
		err    func(error) bool
	}{
		"connection refused":  {upstream.Step{Fault: upstream.Refused}, 0, connects},
		"401":                 {status(401), 401, told(401)},
		"402":                 {status(402), 402, told(402)},
		"403":                 {status(403), 403, told(403)},
		"404":                 {status(404), 404, told(404)},
		"408":                 {status(408), 408, told(408)},
		"409":                 {status(409), 409, told(409)},
		"429":                 {status(429), 429, told(429)},
		"500":                 {status(500), 500, told(500)},
		"502":                 {status(502), 502, told(502)},
		"503":                 {status(503), 503, told(503)},
		"529":                 {status(529), 529, told(529)},
		"redirect":            {redirect, 307, is(middleware.ErrRedirect)},
		"error event":         {upstream.Step{Fault: upstream.ErrorEvent}, 200, told(500)},
		"error object in 200": {raw(200, "application/json", errorBody), 200, told(500)},
		"empty":               {upstream.Step{Fault: upstream.Empty}, 200, is(middleware.ErrEmpty)},
		"no content":          {raw(204, "", ""), 204, is(middleware.ErrEmpty)},
		"page":                {upstream.Step{Fault: upstream.HTML}, 200, is(middleware.ErrNotAnswer)},
		"other JSON":          {raw(200, "application/json", `{"hello":"world"}`), 200, is(middleware.ErrNotAnswer)},
		"cut before content":  {upstream.Step{Fault: upstream.Cut, Events: -1}, 200, nil},
		"reset before any":    {upstream.Step{Fault: upstream.Reset, Events: -1}, 200, connects},
	} {
		for way, say := range ways {
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newOrdered(t, quick, "one", "two", "three")
					f.servers["one"].Script(test.step)
					start := time.Now()
					f.answers(t, say, f.chat(), "two")
					if took := time.Since(start); took != 0 {
						t.Errorf("it took %v: there was another target left, so nothing had to be waited for", took)
					}
					call := f.lastCall(t)
					if call.Outcome != middleware.Completed || call.Err != nil || call.Target != "two" || len(call.Attempts) != 2 {
						t.Fatalf("call is %+v, want it completed by the second of two attempts", call)
					}
					first, second := call.Attempts[0], call.Attempts[1]
					if first.Target != "one" || first.Outcome != middleware.Failed || first.Status != test.status ||
						first.Err == nil || test.err != nil && !test.err(first.Err) {
						t.Errorf("the first attempt is %+v (%v)", first, first.Err)
					}
					if second.Target != "two" || second.Outcome != middleware.Completed || second.Status != 200 || second.Err != nil {
						t.Errorf("the second attempt is %+v (%v)", second, second.Err)
					}
					if f.requests("one") != 1 || f.requests("two") != 1 || f.requests("three") != 0 {
						t.Errorf("requests %d, %d, %d; want 1, 1, 0", f.requests("one"), f.requests("two"), f.requests("three"))
					}
				})
			})
		}
	}
}

// The caller's own mistake is nobody's failure: it is told at once.
func TestCallersMistakeIsNotRetried(t *testing.T) {
	for _, code := range []int{400, 413, 422} {
		for way, say := range ways {
			t.Run(http.StatusText(code)+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newOrdered(t, quick, "one", "two")
					f.servers["one"].Script(status(code))
					_, err := say(t.Context(), f.chat(), question("hello"), option.WithMaxRetries(3))
					if e := theirs(t, err, code); e.Message == "" || e.Type != "invalid_request_error" {
						t.Errorf("error is %+v", e)
					}
					if f.allRequests() != 1 {
						t.Errorf("%d requests were sent, want 1", f.allRequests())
					}
				})
			})
		}
	}
}

// Where every target fails the call ends with what the last one said, after
// three attempts at least: with fewer targets one is tried again, later.
func TestLastErrorReachesTheCaller(t *testing.T) {
	for way, say := range ways {
		for _, test := range []struct {
			name     string
			targets  []string
			attempts int
			took     time.Duration
		}{
			{"three targets", []string{"one", "two", "three"}, 3, 0},
			{"two targets", []string{"one", "two"}, 3, 500 * ms},
			{"one target", []string{"one"}, 3, 1500 * ms},
		} {
			t.Run(test.name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newOrdered(t, quick, test.targets...)
					f.down(503)
					start := time.Now()
					ctx, call := middleware.WithCall(t.Context())
					_, err := say(ctx, f.chat(), question("hello"))
					if e := theirs(t, err, 503); e.Code != "server_error" || e.Response.Header.Get("X-Ontime-Attempts") != "3" {
						t.Errorf("error is %+v", e)
					}
					if took := time.Since(start); took != test.took || f.allRequests() != test.attempts {
						t.Errorf("%d attempts in %v, want %d in %v", f.allRequests(), took, test.attempts, test.took)
					}
					last, _ := errors.AsType[*middleware.ProviderError](call.Err)
					if call.Outcome != middleware.Failed || len(call.Attempts) != 3 || last == nil || last.Status != 503 {
						t.Errorf("call is %+v", call)
					}
				})
			})
		}
	}
}

// A last attempt without an HTTP status ends in our error, with the trail.
func TestLastErrorWithoutStatus(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two", "three")
				f.servers["one"].Script(status(503))
				f.servers["two"].Script(upstream.Step{Fault: upstream.HTML})
				f.servers["three"].Script(upstream.Step{Fault: upstream.Refused})
				_, err := say(t.Context(), f.chat(), question("hello"))
				e := ours(t, err)
				if !connects(e) || e.Target != "three" || len(e.Attempts) != 3 || e.Endpoint != "chat" || e.Model != "gpt-4o-mini" {
					t.Fatalf("error is %+v", e)
				}
				for i, want := range []func(error) bool{told(503), is(middleware.ErrNotAnswer), connects} {
					if !want(e.Attempts[i].Err) {
						t.Errorf("attempt %d ended with %v", i, e.Attempts[i].Err)
					}
				}
			})
		})
	}
}

// Budget.Targets bounds every attempt.
func TestFailoverStaysWithinTheEndpointsTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{Endpoints: map[string]budget.Budget{
			"eu": {Targets: []string{"two", "three"}},
		}}, "one", "two", "three")
		f.down(503)
		for _, say := range ways {
			_, err := say(t.Context(), f.Endpoint("eu"), question("hello"))
			theirs(t, err, 503)
		}
		if f.requests("one") != 0 || f.allRequests() != 6 {
			t.Errorf("%d requests, %d to a target that the endpoint does not name; want 6 and 0", f.allRequests(), f.requests("one"))
		}
	})
}

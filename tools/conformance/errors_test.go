package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// errorOf is a provider's error in its own format.
func errorOf(format string, status int, kind string) upstream.Step {
	body := fmt.Sprintf(`{"error":{"message":"no\nsuch thing","type":%q,"param":"messages","code":"a_code"}}`, kind)
	if format == "messages" {
		body = fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"no\nsuch thing"},"request_id":"req_1"}`, kind)
	}
	return reply(status, "application/json", body)
}

var errorKinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 503: "api_error", 529: "overloaded_error",
}

// Where no target answers, the application has the SDK's own error, as the last provider wrote it.
func TestErrorsAreTheSDKsOwn(t *testing.T) {
	for status, kind := range errorKinds {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			everywhere(t, steady, func(t *testing.T, s sdk, p *pair) {
				step := errorOf(s.format, status, kind)
				p.script(step)
				p.two.Script(step)
				_, err := p.direct(t, s, question{prompt: "hello"})
				want, ok := s.read(err)
				if !ok || want.Status != status || want.Type != kind || want.Message != "no\nsuch thing" {
					t.Fatalf("without the client: %+v, %v", want, err)
				}
				_, err = p.ours(t, s, question{prompt: "hello"})
				got, ok := s.read(err)
				if diff := cmp.Diff(want, got); !ok || diff != "" {
					t.Errorf("%v:\n%s", err, diff)
				}
				if call := p.call(t); call.Outcome != middleware.Failed {
					t.Errorf("the call is %+v", call)
				}
			})
		})
	}
}

// An SDK that tries again by itself does not: each of its tries would be a call of ours with attempts of its own.
func TestRetriesAreOurs(t *testing.T) {
	bubble(t, upstream.Behaviour{Faults: upstream.Faults{HTTPError: 1}}, func(t *testing.T, s sdk, p *pair) {
		_, err := p.ours(t, s, question{prompt: "hello"})
		if got, ok := s.read(err); !ok || got.Status != http.StatusServiceUnavailable {
			t.Errorf("%+v, %v, want status 503", got, err)
		}
		requests := p.one.Stats().Requests + p.two.Stats().Requests
		if call := p.call(t); len(call.Attempts) != requests {
			t.Errorf("%d attempts, %d requests", len(call.Attempts), requests)
		}
	})
}

// faults are what goes wrong before there is any content.
var faults = map[string]upstream.Step{
	"refused":     {Fault: upstream.Refused},
	"503":         {Fault: upstream.HTTPError},
	"529":         {Fault: upstream.HTTPError, Set: func(b *upstream.Behaviour) { b.Faults.Status = 529 }},
	"429":         {Fault: upstream.HTTPError, Set: func(b *upstream.Behaviour) { b.Faults.Status = 429 }},
	"error event": {Fault: upstream.ErrorEvent},
	"empty":       {Fault: upstream.Empty},
	"page":        {Fault: upstream.HTML},
	"cut":         {Fault: upstream.Cut, Events: -1},
	"reset":       {Fault: upstream.Reset, Events: -1},
}

// What fails before there is content is never seen.
func TestFailover(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			everywhere(t, steady, func(t *testing.T, s sdk, p *pair) { failsOver(t, s, p, fault) })
		})
	}
}

// Nor is what does not come at all, which takes its time.
func TestFailoverFromSilence(t *testing.T) {
	for name, fault := range map[string]upstream.Step{
		"hang":               {Fault: upstream.Hang},
		"hang after headers": {Fault: upstream.Hang, Set: func(b *upstream.Behaviour) { b.EarlyHeaders = 1 }},
		"only keep-alives":   {Fault: upstream.Hang, Set: func(b *upstream.Behaviour) { b.EarlyHeaders, b.KeepAlive = 1, time.Second }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, steady, func(t *testing.T, s sdk, p *pair) { failsOver(t, s, p, fault) })
		})
	}
}

func failsOver(t *testing.T, s sdk, p *pair, fault upstream.Step) {
	t.Helper()
	p.one.Script(fault)
	got, err := p.ours(t, s, question{prompt: "hello"})
	if want := p.two.Text(16); err != nil || got.Text != want {
		t.Errorf("%q, %v, want %q", got.Text, err, want)
	}
	call := p.call(t)
	if len(call.Attempts) != 2 || call.Target != "two" || call.Outcome != middleware.Completed {
		t.Errorf("the call is %+v, want a second attempt that completed", call)
	}
}

// What fails after the first content is our error, inside the SDK's where it wraps one: nothing of ours is lost in between.
func TestBrokenStreams(t *testing.T) {
	for name, test := range map[string]struct {
		fault    upstream.Fault
		provider bool // it said what was wrong
	}{
		"cut":         {upstream.Cut, false},
		"reset":       {upstream.Reset, false},
		"error event": {upstream.LateError, true},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, steady, func(t *testing.T, s sdk, p *pair) {
				p.one.Script(upstream.Step{Fault: test.fault, Events: 3})
				if !s.streamed { // what came of it has been given to nobody
					got, err := p.ours(t, s, question{prompt: "hello"})
					if err != nil || got.Text != p.two.Text(16) {
						t.Errorf("%q, %v", got.Text, err)
					}
					return
				}
				got, err := p.ours(t, s, question{prompt: "hello"})
				if want := "one 2 3"; got.Text != want {
					t.Errorf("%q came, want %q", got.Text, want)
				}
				if ours, ok := errors.AsType[*middleware.Error](err); !ok || ours.Target != "one" || len(ours.Attempts) != 1 {
					t.Errorf("%v (%T), want an error of ours", err, err)
				}
				if _, said := errors.AsType[*middleware.ProviderError](err); said != test.provider {
					t.Errorf("%v: the provider's own words: %t, want %t", err, said, test.provider)
				}
			})
		})
	}
}

// The caller's own cancel is its context's error, and ends the attempt.
func TestCancel(t *testing.T) {
	for name, after := range map[string]time.Duration{"before content": 10 * ms, "after content": 25 * ms} {
		t.Run(name, func(t *testing.T) {
			bubble(t, steady, func(t *testing.T, s sdk, p *pair) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(after, cancel)
				_, err := s.ask(ctx, p.HTTPClient(), s.base(), question{prompt: "hello"})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%v, want the context's error", err)
				}
				if call := p.call(t); call.Outcome != middleware.Cancelled || len(call.Attempts) != 1 {
					t.Errorf("the call is %+v, want one attempt and a cancel", call)
				}
			})
		})
	}
}

// So it is over sockets, where the connection has to go.
func TestCancelOverSockets(t *testing.T) {
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			p := newPair(t, upstream.Behaviour{Faults: upstream.Faults{Hang: 1}, EarlyHeaders: 1}, overSockets)
			ctx, cancel := context.WithCancel(t.Context())
			p.one.OnRequest(func(*http.Request, []byte) { cancel() })
			_, err := s.ask(ctx, p.HTTPClient(), s.base(), question{prompt: "hello"})
			if call := p.call(t); !errors.Is(err, context.Canceled) || call.Outcome != middleware.Cancelled {
				t.Errorf("%v, and the call is %+v", err, call)
			}
		})
	}
}

package client_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// seen is what a user can see of the SDK's own error.
type seen struct {
	Status                          int
	Message, Type, Code, Param, Raw string
	Text                            string
	Body                            string
}

func seenOf(t *testing.T, err error) seen {
	t.Helper()
	e, ok := errors.AsType[*openai.Error](err)
	if !ok {
		t.Fatalf("error is %v (%T), want an *openai.Error", err, err)
	}
	_, body, _ := strings.Cut(string(e.DumpResponse(true)), "\r\n\r\n")
	return seen{
		Status: e.StatusCode, Message: e.Message, Type: e.Type, Code: e.Code, Param: e.Param, Raw: e.RawJSON(),
		Text: strings.ReplaceAll(e.Error(), "ontime.invalid", "one.test"), Body: body,
	}
}

// An HTTP error that OpenAI could have written is the same *openai.Error, but
// for the base URL in its text. Only one of another shape is put into OpenAI's,
// so that it can be read at all: TestHTTPErrorBecomesTheSDKsError.
func TestSDKErrorIsTheSame(t *testing.T) {
	const object = `{"error": {"message": "no\nsuch thing", "type": "invalid_request_error", "param": "messages[0].content", "code": "bad", "extra": [1]}}`
	for _, status := range []int{400, 401, 403, 404, 409, 413, 422, 429, 451, 500, 503} {
		for way, say := range ways {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, quick)
				step := raw(status, "application/json", object)
				step.Raw.Headers["X-Should-Retry"] = "false" // else it is tried again on the only target
				p.script(step)
				same(t, p, way, func(c *openai.Client) seen {
					_, err := say(t.Context(), c, question("hello"))
					return seenOf(t, err)
				})
				p.script(step)
				same(t, p, "not inference", func(c *openai.Client) seen {
					_, err := c.Files.Get(t.Context(), "file-1")
					return seenOf(t, err)
				})
			})
		}
	}
}

// Where there is no response, what the network said is found in the error by
// errors.Is and errors.As, as ever; the error itself is ours, with the trail.
func TestSDKTransportErrorIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, quick)
		for range 3 { // tries of the only target
			p.script(upstream.Step{Fault: upstream.Refused})
		}
		same(t, p, "refused", func(c *openai.Client) [3]bool {
			_, err := ask(t.Context(), c, question("hello"))
			_, isURL := errors.AsType[*url.Error](err)
			_, isNet := errors.AsType[*net.OpError](err)
			return [3]bool{errors.Is(err, syscall.ECONNREFUSED), isURL, isNet}
		})
	})
}

// The caller's own cancel is the bare error of its context.
func TestSDKContextErrorIsBare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, upstream.Behaviour{TTFT: upstream.Latency{Median: 1e9}})
		same(t, p, "canceled", func(c *openai.Client) bool {
			ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
			defer cancel()
			_, err := ask(ctx, c, question("hello"))
			return err == context.DeadlineExceeded
		})
	})
}

// Different on purpose: the SDK takes a cut stream for a whole one, and gives an
// error event as text. Here both are typed errors, and before the first content
// neither is seen at all.
func TestSDKStreamErrorsAreTyped(t *testing.T) {
	for name, test := range map[string]struct {
		step   upstream.Step
		silent bool  // to the plain SDK
		typed  error // nil: a *ProviderError
	}{
		"cut":         {step: upstream.Step{Fault: upstream.Cut, Events: 2}, silent: true, typed: middleware.ErrTruncated},
		"error event": {step: upstream.Step{Fault: upstream.LateError, Events: 2}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, quick)
			p.script(test.step)
			if text, err := stream(t.Context(), &p.plain, question("hello")); text != "one 2" || (err == nil) != test.silent {
				t.Errorf("%s: the plain SDK has %q, %v", name, text, err)
			}
			text, err := stream(t.Context(), &p.Client.Client, question("hello"))
			if text != "one 2" || ours(t, err).Target != "one" {
				t.Errorf("%s: %q, %v", name, text, err)
			}
			if test.typed != nil {
				mustBe(t, err, test.typed)
			} else if e, ok := errors.AsType[*middleware.ProviderError](err); !ok || e.Status != 500 || e.Type != "server_error" {
				t.Errorf("%s: %v, want the provider's error", name, err)
			}
		})
	}
}

package client_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// steady has its first content after 200 ms and 16 tokens 20 ms apart.
var steady = upstream.Behaviour{
	TTFT: upstream.Latency{Median: 200 * ms}, Pace: upstream.Latency{Median: 20 * ms}, EarlyHeaders: 1,
}

// After the first content a stream is the caller's: what goes wrong then is
// told, with what was measured, and nothing is tried again.
func TestFailureAfterContent(t *testing.T) {
	for name, test := range map[string]struct {
		step upstream.Step
		err  func(error) bool
		took time.Duration // until the failure
	}{
		// Three tokens come after 200, 220 and 240 ms.
		"cut":        {upstream.Step{Fault: upstream.Cut, Events: 3}, is(middleware.ErrTruncated), 240 * ms},
		"reset":      {upstream.Step{Fault: upstream.Reset, Events: 3}, is(middleware.ErrTruncated), 240 * ms},
		"late error": {upstream.Step{Fault: upstream.LateError, Events: 3}, told(500), 260 * ms},
		"error object": {events(delta("one"), delta(" 2"), delta(" 3"),
			`data: {"error":{"message":"Simulated: secret prompt","code":429}}`+"\n\n"), told(429), 0},
		"error event": {events(delta("one"), delta(" 2"), delta(" 3"),
			"event: error\ndata: {\"message\":\"Simulated: secret prompt\",\"code\":\"server_error\"}\n\n"), told(500), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, steady, "one", "two")
				f.servers["one"].Script(test.step)
				start := time.Now()
				ctx, call := middleware.WithCall(t.Context())
				text, err := stream(ctx, f.chat(), question("hello"), option.WithMaxRetries(3))
				if took := time.Since(start); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				if text != "one 2 3" {
					t.Errorf("what had come is %q, want the three tokens", text)
				}
				e := ours(t, err)
				if !test.err(e) || e.Target != "one" || len(e.Attempts) != 1 {
					t.Fatalf("error is %+v", e)
				}
				a := e.Attempts[0]
				if a.Outcome != middleware.Failed || a.Status != 200 || a.Events != 3 || a.Total != test.took {
					t.Errorf("the attempt is %+v", a)
				}
				if test.took > 0 && (a.TTFT != 200*ms || a.Stall != 20*ms || call.TTFT != 200*ms) {
					t.Errorf("TTFT %v, stall %v, the call's TTFT %v; want 200ms, 20ms, 200ms", a.TTFT, a.Stall, call.TTFT)
				}
				checkProvider(t, err)
				if call.Outcome != middleware.Failed || call.Target != "one" || f.allRequests() != 1 {
					t.Errorf("call is %+v after %d requests", call, f.allRequests())
				}
			})
		})
	}
}

// A stream that stops without an end, with no deadline to end it.
func TestStallAfterContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, steady, "one", "two")
		f.servers["one"].Script(upstream.Step{Fault: upstream.Stall, Events: 3, Set: func(b *upstream.Behaviour) { b.KeepAlive = time.Second }})
		start := time.Now()
		text, err := stream(t.Context(), f.chat(), question("hello"))
		mustBe(t, err, middleware.ErrStalled)
		if e := ours(t, err); text != "one 2 3" || e.Attempts[0].Events != 3 || f.allRequests() != 1 {
			t.Errorf("answer is %q, %+v", text, e)
		}
		if took := time.Since(start); took < 5*time.Minute || took > 5*time.Minute+2*time.Second {
			t.Errorf("it took %v, want five minutes from the last content", took)
		}
	})
}

// checkProvider makes sure that a provider's own words are in ProviderError
// alone.
func checkProvider(t *testing.T, err error) {
	t.Helper()
	if strings.Contains(err.Error(), "Simulated") {
		t.Errorf("the error tells the provider's message: %v", err)
	}
	if p, ok := errors.AsType[*middleware.ProviderError](err); ok && !strings.HasPrefix(p.Message, "Simulated: ") {
		t.Errorf("the provider's message is %q", p.Message)
	}
}

// The SDK sees no end to such a stream, and no error; we do.
func TestStreamWithoutAnEnd(t *testing.T) {
	for name, test := range map[string]struct {
		parts []string
		whole bool
	}{
		"neither finish nor DONE": {[]string{delta("a"), delta("b")}, false},
		"half an event":           {[]string{delta("a"), delta("b"), delta("c")[:40]}, false},
		"half a DONE":             {[]string{delta("a"), delta("b"), "data: [DO"}, false},
		"finish without DONE":     {[]string{delta("a"), delta("b"), finish}, true},
		"DONE without finish":     {[]string{delta("a"), delta("b"), done}, true},
		"DONE without a blank":    {[]string{delta("a"), delta("b"), finish, "data: [DONE]"}, true},
		"finish, unterminated":    {[]string{delta("a"), delta("b"), strings.TrimRight(finish, "\n")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two")
				f.servers["one"].Script(events(test.parts...))
				text, err := stream(t.Context(), f.chat(), question("hello"))
				if text != "ab" || (err == nil) != test.whole {
					t.Errorf("answer is %q, %v", text, err)
				}
				if !test.whole {
					mustBe(t, err, middleware.ErrTruncated)
					ours(t, err)
				}
				if call := f.lastCall(t); (call.Outcome == middleware.Completed) != test.whole {
					t.Errorf("call is %+v", call)
				}
			})
		})
	}
}

// What openai-go would clip or abort comes whole.
func TestStreamIsMended(t *testing.T) {
	chunk := delta("b")
	for name, parts := range map[string][]string{
		"as it is":        {delta("a"), chunk, delta("c"), finish, done},
		"bare CR":         {delta("a"), strings.ReplaceAll(chunk, "\n", "\r"), delta("c"), finish, done},
		"CRLF":            {delta("a"), strings.ReplaceAll(chunk, "\n", "\r\n"), delta("c"), finish, done},
		"byte order mark": {"\ufeff" + delta("a"), chunk, delta("c"), finish, done},
		"error null":      {delta("a"), strings.Replace(chunk, `"id"`, `"error":null,"id"`, 1), delta("c"), finish, done},
		"not JSON":        {delta("a"), chunk, "data: : OPENROUTER PROCESSING\n\n", delta("c"), finish, done},
		"comments":        {": hello\n\n", delta("a"), ": ping\n\n", chunk, delta("c"), ":\n", finish, done},
		"torn":            append(strings.SplitAfter(delta("a")+chunk+delta("c")+finish, `"`), done),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one")
				f.servers["one"].Script(events(parts...))
				if text, err := stream(t.Context(), f.chat(), question("hello")); text != "abc" || err != nil {
					t.Errorf("answer is %q, %v, want all of it", text, err)
				}
			})
		})
	}
}

// A server that does not stream answers a call for a stream all the same.
func TestWholeAnswerToACallForAStream(t *testing.T) {
	for name, contentType := range map[string]string{"as JSON": "application/json", "as a stream": "text/event-stream"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two")
				f.servers["one"].Script(raw(200, contentType, wholeAnswer))
				var resp *http.Response
				s := f.chat().Chat.Completions.NewStreaming(t.Context(), question("hello"), option.WithResponseInto(&resp))
				text, finished := "", ""
				for s.Next() {
					for _, choice := range s.Current().Choices {
						text += choice.Delta.Content
						finished += choice.FinishReason
					}
				}
				if text != "all at once" || finished != "stop" || s.Err() != nil || resp.Header.Get("Content-Type") != "text/event-stream" {
					t.Errorf("answer is %q, finished %q, %v, as %s", text, finished, s.Err(), resp.Header.Get("Content-Type"))
				}
				if call := f.lastCall(t); !call.Streamed || call.Outcome != middleware.Completed || call.Usage.Output != 3 {
					t.Errorf("call is %+v", call)
				}
			})
		})
	}
}

// A whole answer under another content type is one that openai-go would not read, though it
// was checked, counted and paid for.
func TestWholeAnswerUnderAnotherContentType(t *testing.T) {
	for contentType, want := range map[string]string{
		"text/plain; charset=utf-8":       "application/json",
		"text/json":                       "application/json",
		"":                                "application/json",
		"application/json; charset=utf-8": "application/json; charset=utf-8",
		"application/problem+json":        "application/problem+json",
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newOrdered(t, quick, "one")
			f.servers["one"].Script(raw(200, contentType, wholeAnswer))
			var resp *http.Response
			answer, err := f.chat().Chat.Completions.New(t.Context(), question("hello"), option.WithResponseInto(&resp))
			if err != nil || answer.Choices[0].Message.Content != "all at once" || resp.Header.Get("Content-Type") != want {
				t.Errorf("%q: answer is %+v, %v, want it as %s", contentType, answer, err, want)
			}
		})
	}
}

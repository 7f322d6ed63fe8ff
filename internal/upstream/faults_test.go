package upstream_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/tidwall/gjson"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// Every fault, streamed and whole, as it looks to a plain reader who gives up after a second.
func TestFaults(t *testing.T) {
	const html, sse, object = "text/html; charset=utf-8", "text/event-stream; charset=utf-8", "application/json"
	type seen struct {
		Status  int
		Type    string
		Text    string // content that came
		Error   bool   // in an event or a body
		End     time.Duration
		Broken  bool // no clean end
		GaveUp  bool // it took the whole second
		NoReply bool
	}
	stats := func(s upstream.Stats) [4]int {
		return [4]int{s.Answered, s.Failed, s.CancelledBefore, s.CancelledAfter}
	}
	failed, before, after := [4]int{0, 1, 0, 0}, [4]int{0, 0, 1, 0}, [4]int{0, 0, 0, 1}
	// 5 tokens at 100, 110 .. 140 ms; faults midway come after two of them.
	for name, test := range map[string]struct {
		fault  upstream.Fault
		events int
		early  float64
		body   string
		want   seen
		stats  [4]int
	}{
		"none":                {upstream.None, 0, 0, streamed, seen{200, sse, "eu 2 3 4 5", false, 140 * ms, false, false, false}, [4]int{1, 0, 0, 0}},
		"refused":             {upstream.Refused, 0, 1, streamed, seen{NoReply: true}, failed},
		"error":               {upstream.HTTPError, 0, 0, streamed, seen{503, object, "", true, 7 * ms, false, false, false}, failed},
		"hang":                {upstream.Hang, 0, 0, streamed, seen{NoReply: true, GaveUp: true, End: time.Second}, before},
		"hang, headers early": {upstream.Hang, 0, 1, streamed, seen{200, sse, "", false, time.Second, true, true, false}, before},
		"stall":               {upstream.Stall, 2, 0, streamed, seen{200, sse, "eu 2", false, time.Second, true, true, false}, after},
		"stall at once":       {upstream.Stall, -1, 1, streamed, seen{200, sse, "", false, time.Second, true, true, false}, before},
		"cut":                 {upstream.Cut, 2, 0, streamed, seen{200, sse, "eu 2", false, 110 * ms, false, false, false}, failed},
		"cut at once":         {upstream.Cut, -1, 0, streamed, seen{200, sse, "", false, 100 * ms, false, false, false}, failed},
		"cut before the end":  {upstream.Cut, 5, 0, streamed, seen{200, sse, "eu 2 3 4 5", false, 140 * ms, false, false, false}, failed},
		"reset":               {upstream.Reset, 2, 0, streamed, seen{200, sse, "eu 2", false, 110 * ms, true, false, false}, failed},
		"error event":         {upstream.ErrorEvent, 0, 1, streamed, seen{200, sse, "", true, 100 * ms, false, false, false}, failed},
		"late error":          {upstream.LateError, 2, 0, streamed, seen{200, sse, "eu 2", true, 120 * ms, false, false, false}, failed},
		"empty":               {upstream.Empty, 0, 0, streamed, seen{200, sse, "", false, 100 * ms, false, false, false}, failed},
		"html":                {upstream.HTML, 0, 0, streamed, seen{200, html, "", false, 7 * ms, false, false, false}, failed},

		"whole: error":               {upstream.HTTPError, 0, 0, plain, seen{503, object, "", true, 7 * ms, false, false, false}, failed},
		"whole: hang":                {upstream.Hang, 0, 0, plain, seen{NoReply: true, GaveUp: true, End: time.Second}, before},
		"whole: hang, headers early": {upstream.Hang, 0, 1, plain, seen{200, object, "", false, time.Second, true, true, false}, before},
		"whole: stall":               {upstream.Stall, 0, 0, plain, seen{200, object, "", false, time.Second, true, true, false}, after},
		"whole: cut":                 {upstream.Cut, 0, 0, plain, seen{200, object, "", false, 140 * ms, false, false, false}, failed},
		"whole: reset":               {upstream.Reset, 0, 0, plain, seen{200, object, "", false, 140 * ms, true, false, false}, failed},
		"whole: error event":         {upstream.ErrorEvent, 0, 0, plain, seen{200, object, "", true, 140 * ms, false, false, false}, failed},
		"whole: empty":               {upstream.Empty, 0, 0, plain, seen{200, object, "", false, 140 * ms, false, false, false}, failed},
		"whole: html":                {upstream.HTML, 0, 0, plain, seen{200, html, "", false, 7 * ms, false, false, false}, failed},
	} {
		t.Run(name, func(t *testing.T) {
			b := upstream.Behaviour{
				TTFT: median(100 * ms), Pace: median(10 * ms), Output: upstream.Length{Median: 5},
				EarlyHeaders: test.early, Faults: upstream.Faults{After: 7 * ms},
			}
			both(t, b, func(r rig) {
				r.server.Script(upstream.Step{Fault: test.fault, Events: test.events})
				ctx, cancel := context.WithTimeout(r.Context(), time.Second)
				defer cancel()
				g, err := r.post(ctx, "/v1/chat/completions", test.body)
				s := seen{Status: g.status, Type: g.header.Get("Content-Type"), End: g.end, Broken: g.err != nil, NoReply: err != nil,
					GaveUp: errors.Is(errors.Join(err, g.err), context.DeadlineExceeded)}
				if err != nil {
					s.End = g.headers
				}
				for _, l := range g.lines {
					j := strings.TrimPrefix(l.Text, "data: ")
					s.Text += gjson.Get(j, "choices.0.delta.content").Str
					s.Error = s.Error || gjson.Get(j, "error.message").Exists()
				}
				if d := cmp.Diff(test.want, s); d != "" {
					r.Error(d)
				}
				if d := cmp.Diff(test.stats, stats(r.settled())); d != "" {
					r.Error(d)
				}
				if open := r.server.Stats(); open.InFlight != 0 || open.OpenBodies != 0 {
					r.Errorf("left: %+v", open)
				}
			})
		})
	}
}

// What the SDK makes of an error inside a stream, in each format.
func TestErrorEventThroughSDK(t *testing.T) {
	both(t, upstream.Behaviour{Faults: upstream.Faults{LateError: 1}}, func(r rig) {
		stream := r.openai.Chat.Completions.NewStreaming(r.Context(), hello())
		n := 0
		for stream.Next() {
			n++
		}
		var e *ssestream.StreamError
		if !errors.As(stream.Err(), &e) || n < 2 {
			r.Errorf("%d events, then %v", n, stream.Err())
		}
		rs := r.openai.Responses.NewStreaming(r.Context(), ask("x"))
		last := ""
		for rs.Next() {
			last = rs.Current().Type + string(rs.Current().Response.Error.Code)
		}
		if last != "response.failedserver_error" {
			r.Errorf("responses end with %q, %v", last, rs.Err())
		}
		lines := r.must("/v1/messages", streamed).lines
		if last := lines[len(lines)-1].Text; !strings.Contains(last, "overloaded_error") {
			r.Errorf("messages end with %s", last)
		}
		lines = r.must("/v1/completions", streamed).lines
		if last := lines[len(lines)-1].Text; !strings.Contains(last, "server_error") {
			r.Errorf("completions end with %s", last)
		}
	})
}

func TestErrorStatus(t *testing.T) {
	for status, code := range map[int]string{401: "invalid_api_key", 403: "", 408: "timeout", 429: "rate_limit_exceeded", 500: "server_error", 529: "overloaded"} {
		both(t, upstream.Behaviour{Faults: upstream.Faults{HTTPError: 1, Status: status}}, func(r rig) {
			_, err := r.openai.Chat.Completions.New(r.Context(), openai.ChatCompletionNewParams{Model: "m"})
			wantError(r.T, err, status, code)
		})
	}
}

// The keep-alive comments go on while a stream is stalled.
func TestStallWithKeepAlive(t *testing.T) {
	both(t, upstream.Behaviour{KeepAlive: 300 * ms, Faults: upstream.Faults{Stall: 1}, Output: upstream.Length{Median: 2}}, func(r rig) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		g, _ := r.post(ctx, "/v1/chat/completions", streamed)
		var comments []time.Duration
		for _, l := range g.lines {
			if strings.HasPrefix(l.Text, ":") {
				comments = append(comments, l.At)
			}
		}
		if d := cmp.Diff([]time.Duration{300 * ms, 600 * ms, 900 * ms}, comments); d != "" {
			r.Error(d)
		}
	})
}

package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/middleware"
)

// result is one call as the application saw it.
type result struct {
	text string
	err  error
	call *middleware.Call
	why  string // what the application did to it; empty: nothing
}

var errEnough = errors.New("the application has read enough")

// someOf reads so many chunks of a stream and closes it.
func someOf(ctx context.Context, c *openai.Client, chunks int) (string, error) {
	s := c.Chat.Completions.NewStreaming(ctx, question("hello"))
	defer s.Close()
	var text strings.Builder
	for range chunks {
		if !s.Next() {
			return text.String(), s.Err()
		}
		for _, choice := range s.Current().Choices {
			text.WriteString(choice.Delta.Content)
		}
	}
	return text.String(), errEnough
}

// checkResult holds what the application saw against the call's books.
func (s *fleet) checkResult(t *testing.T, r result) {
	t.Helper()
	c := r.call
	if c.Start.IsZero() || len(c.Attempts) == 0 {
		t.Errorf("a call was not recorded: %+v", r)
		return
	}
	words := strings.Fields(r.text)
	if r.text != "" {
		if whole := s.servers[c.Target].Text(len(words)); r.text != whole {
			t.Errorf("the answer of %s is %q: not its own, or not in order", c.Target, r.text)
		}
	}
	switch {
	case r.err == nil:
		// A connection may break between the end of the answer and its usage.
		if c.Outcome != middleware.Completed || c.Err != nil || c.Usage.Output != len(words) && !c.Usage.Estimated {
			t.Errorf("the application has a whole answer of %d tokens, the call is %+v", len(words), c)
		}
	case errors.Is(r.err, errEnough):
		// What it did not read may have ended in any way.
		if (c.Outcome == middleware.Completed) != (c.Err == nil) {
			t.Errorf("the application closed the stream, the call is %v: %v", c.Outcome, c.Err)
		}
	case c.Outcome == middleware.Completed:
		// All of it came at the instant at which the application went away.
		if r.why == "" || r.why == "close" {
			t.Errorf("the application has %v, the call is completed", r.err)
		}
	default:
		checkErrors(t, r)
	}
	for i, a := range c.Attempts {
		if a.Outcome == middleware.Lost && !c.Hedged || a.Total < 0 || a.TTFT > a.Total {
			t.Errorf("attempt %d of %d is %+v", i, len(c.Attempts), a)
		}
	}
}

// checkErrors makes sure that the application's error is typed and says what
// the call's does.
func checkErrors(t *testing.T, r result) {
	t.Helper()
	trail, ok := errors.AsType[*middleware.Error](r.call.Err)
	if !ok || len(trail.Attempts) != len(r.call.Attempts) {
		t.Errorf("the call's error is %v", r.call.Err)
		return
	}
	_, http := errors.AsType[*openai.Error](r.err)
	_, own := errors.AsType[*middleware.Error](r.err)
	gone := r.err == context.Canceled || r.err == context.DeadlineExceeded
	if !http && !own && !gone || gone && r.why != "cancel" && r.why != "deadline" {
		t.Errorf("the application has %v (%T), after %q", r.err, r.err, r.why)
	}
}

package middleware_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// seer keeps what it is told under the context of a call.
type seer struct {
	t    *testing.T
	ctxs []context.Context
	seen []middleware.Call
}

func (s *seer) ObserveAttempt(middleware.Attempt) {}
func (s *seer) ObserveCall(middleware.Call)       { s.t.Error("told without a context") }
func (s *seer) ObserveCallContext(ctx context.Context, c middleware.Call) {
	s.ctxs, s.seen = append(s.ctxs, ctx), append(s.seen, c)
}

type spanKey struct{}

// The context is the application's own, and the call tells what it was and where it went.
func TestContextObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &seer{t: t}
		network := upstream.Network{"one.test": upstream.New("one", steady(), 1)}
		llm := openai.NewClient(
			option.WithBaseURL("https://one.test/v1/"), option.WithAPIKey("k"), option.WithMaxRetries(0),
			option.WithHTTPClient(&http.Client{Transport: network}),
			option.WithMiddleware(middleware.Meter(middleware.Observe(s))),
		)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), spanKey{}, "mine"))
		cancel()
		for _, ctx := range []context.Context{t.Context(), ctx} {
			_, _ = llm.Chat.Completions.New(ctx, params())
		}
		if len(s.seen) != 2 {
			t.Fatalf("told of %d calls, want 2", len(s.seen))
		}
		if s.ctxs[0].Value(spanKey{}) != nil || s.ctxs[1].Value(spanKey{}) != "mine" {
			t.Error("a call's context is not the one that it was made with")
		}
		if got := s.seen[0]; got.Format != "chat" || got.Attempts[0].Address != "one.test:443" {
			t.Errorf("format %q, to %q; want chat, to one.test:443", got.Format, got.Attempts[0].Address)
		}
	})
}

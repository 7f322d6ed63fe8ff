package middleware

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// nobody owns a stream whose end is all that matters.
type nobody struct{}

func (nobody) content()                               {}
func (nobody) end(error)                              {}
func (nobody) providerError(*dialect.ErrorInfo) error { return io.ErrUnexpectedEOF }
func (nobody) broken(err error) error                 { return err }

// Nothing listens for more of an answer that has ended, with content or without.
func TestAnEndedStreamIsNotListenedTo(t *testing.T) {
	for name, body := range map[string]string{
		"content":    `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`,
		"no content": `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`,
	} {
		s := newStream(strings.NewReader(body+"\n\ndata: [DONE]\n\n"), &inference{dialect: dialect.Chat}, time.Now(), nobody{})
		ctx, cancel := context.WithCancelCause(t.Context())
		s.stop, s.done = cancel, ctx.Done()
		if err := s.pump(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s.quiet.timer != nil {
			t.Errorf("%s: the silence is still watched", name)
		}
		cancel(nil)
	}
}

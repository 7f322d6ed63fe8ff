package middleware

import (
	"io"
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// An answer that is too large for a Meter to keep is not held against its target: it came
// whole, or its caller did not want the rest.
func TestWholeTapOfALargeAnswer(t *testing.T) {
	for want, read := range map[Outcome]func(io.ReadCloser) error{
		Completed: func(b io.ReadCloser) error { _, err := io.Copy(io.Discard, b); return err },
		Cancelled: io.ReadCloser.Close,
	} {
		call := &meteredCall{gauge: new(gauge), ctx: t.Context(), in: &inference{dialect: dialect.Chat}, out: new(Call)}
		body := &wholeTap{
			ReadCloser: io.NopCloser(strings.NewReader("the rest")),
			call:       call, copy: make([]byte, maxAnswer+1),
		}
		if err := read(body); err != nil {
			t.Fatal(err)
		}
		if call.out.Outcome != want {
			t.Errorf("%v, %v, want %v", call.out.Outcome, call.out.Err, want)
		}
		if len(body.copy) > maxAnswer+1 {
			t.Errorf("%d bytes are kept", len(body.copy))
		}
	}
}

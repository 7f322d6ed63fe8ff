package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// describe puts an event into words: answer, reasoning (text that is no answer) or
// both; tokens and bytes; finish; usage as input/cached/reasoning/output; and so on.
func describe(ev *dialect.Event) string {
	var w []string
	say := func(is bool, format string, args ...any) {
		if is {
			w = append(w, fmt.Sprintf(format, args...))
		}
	}
	say(ev.Content && ev.ReasoningText, "reasoning")
	say(ev.Answer, "answer")
	say(ev.Content && !ev.Answer && !ev.ReasoningText, "content")
	say(ev.TextBytes > 0, "%dB", ev.TextBytes)
	say(ev.Tokens > 0, "%dt", ev.Tokens)
	say(ev.Finish != "", "finish=%s(%s)", ev.Finish, ev.FinishRaw)
	u := ev.Usage
	say(ev.HasUsage, "usage=%d/%d/%d/%d", u.Input, u.CachedInput, u.Reasoning, u.Output)
	say(ev.UsageOnly, "only")
	say(ev.Terminal, "end")
	say(ev.Noise, "noise")
	say(ev.Err.Present, "error=%d", ev.Err.Status)
	say(ev.ErrorNull, "null-error")
	return strings.Join(w, " ")
}

// eventCase is a stream and what each of its events brings.
type eventCase struct {
	name   string
	events []string
	want   []string
}

// runEvents reads each case's events. One that begins with a word and a blank has
// that word for a name.
func runEvents(t *testing.T, d dialect.Dialect, cases []eventCase) {
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			r := d.NewReader()
			var ev dialect.Event
			var got []string
			for _, e := range test.events {
				name, data, ok := strings.Cut(e, " ")
				if !ok || strings.ContainsAny(name, `{[":,`) {
					name, data = "", e
				}
				r.Read([]byte(name), []byte(data), &ev)
				got = append(got, describe(&ev))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

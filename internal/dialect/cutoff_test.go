package dialect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// cutAfter reads the first n events of a stream and returns what ends it there.
func cutAfter(d dialect.Dialect, c dialect.CutOff, events ...string) string {
	r := d.NewReader()
	var ev dialect.Event
	for _, data := range events {
		r.Read(nil, []byte(data), &ev)
		c.Last = []byte(data)
	}
	return string(r.CutOff(c))
}

func TestCutOff(t *testing.T) {
	for name, tt := range map[string]struct {
		dialect dialect.Dialect
		cut     dialect.CutOff
		events  []string
		want    []string
	}{
		"chat: a chunk like the last one": {dialect.Chat, dialect.CutOff{Choices: 1}, []string{
			`{"id":"c1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],"usage":null}`,
		}, []string{
			`data: {"choices":[{"delta":{},"finish_reason":"length","index":0,"logprobs":null}],"created":5,"id":"c1","model":"m","object":"chat.completion.chunk","usage":null}`,
			`data: [DONE]`,
		}},
		"chat: usage so far, no error": {dialect.Chat, dialect.CutOff{Choices: 1}, []string{
			`{"id":"c1","error":null,"choices":[{"index":0,"delta":{"content":"Hi"}}],"usage":{"completion_tokens":9}}`,
		}, []string{
			`data: {"choices":[{"delta":{},"finish_reason":"length","index":0,"logprobs":null}],"id":"c1","usage":{"completion_tokens":9}}`,
			`data: [DONE]`,
		}},
		"chat: those of several choices that go on": {dialect.Chat, dialect.CutOff{Choices: 3}, []string{
			`{"id":"c1","choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`,
			`{"id":"c1","choices":[{"index":0,"delta":{"content":"Hi"}}]}`,
		}, []string{
			`data: {"choices":[{"delta":{},"finish_reason":"length","index":0,"logprobs":null}],"id":"c1"}`,
			`data: {"choices":[{"delta":{},"finish_reason":"length","index":2,"logprobs":null}],"id":"c1"}`,
			`data: [DONE]`,
		}},
		"completions": {dialect.Completions, dialect.CutOff{Choices: 1}, []string{
			`{"id":"c1","object":"text_completion","choices":[{"index":0,"text":"Hi","finish_reason":null}]}`,
		}, []string{
			`data: {"choices":[{"finish_reason":"length","index":0,"logprobs":null,"text":""}],"id":"c1","object":"text_completion"}`,
			`data: [DONE]`,
		}},
		"messages": {dialect.Messages, dialect.CutOff{Tokens: 70}, []string{
			`{"type":"message_start","message":{"content":[],"usage":{"input_tokens":5,"output_tokens":1}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}}`,
		}, []string{
			`event: content_block_stop`, `data: {"index":1,"type":"content_block_stop"}`,
			`event: message_delta`, `data: {"delta":{"stop_reason":"max_tokens","stop_sequence":null},"type":"message_delta","usage":{"output_tokens":70}}`,
			`event: message_stop`, `data: {"type":"message_stop"}`,
		}},
		"responses": {dialect.Responses, dialect.CutOff{ID: "resp_1", Model: "m", Created: 5}, []string{
			`{"type":"response.output_text.delta","sequence_number":41,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi"}`,
		}, []string{
			`event: response.incomplete`,
			`data: {"response":{"created_at":5,"error":null,"id":"resp_1","incomplete_details":{"reason":"max_output_tokens"},"model":"m","object":"response","status":"incomplete","usage":null},"sequence_number":42,"type":"response.incomplete"}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := cutAfter(tt.dialect, tt.cut, tt.events...)
			if diff := cmp.Diff(tt.want, strings.FieldsFunc(got, func(c rune) bool { return c == '\n' })); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A stream of any format that is cut off after any of its events with content reads
// as one that has ended, for its length.
func TestCutOffAnywhere(t *testing.T) {
	for name, d := range samples {
		stream := testdata(t, name+".sse")
		for size := 1; ; size++ {
			var sent []byte
			var last dialect.Event
			r, n, cut := d.NewReader(), 0, false
			readStream(d, stream, len(stream), func(b *block, _ *dialect.Event) {
				if cut {
					return
				}
				var ev dialect.Event
				r.Read(b.Name, b.Data, &ev)
				sent = append(sent, b.Raw...)
				if ev.Content {
					n++
				}
				if n == size && ev.Finish == "" && !ev.Terminal {
					cut = true
					sent = append(sent, r.CutOff(dialect.CutOff{Last: b.Data, Choices: 1, Tokens: 5, ID: "id", Model: "m"})...)
				}
			})
			if !cut {
				break
			}
			finish := ""
			readStream(d, sent, len(sent), func(_ *block, ev *dialect.Event) {
				if ev.Noise || ev.Err.Present {
					t.Errorf("%s: cut after %d: an event cannot be read", name, size)
				}
				finish += ev.Finish
				last = *ev
			})
			if finish != "length" || !last.Terminal {
				t.Errorf("%s: cut after %d: the finish reason is %q, the end marker last: %v", name, size, finish, last.Terminal)
			}
		}
	}
}

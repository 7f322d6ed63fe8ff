package sdktest_test

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/sse"
)

// cutOff is a stream up to its nth event with content, and its end from there.
func cutOff(d dialect.Dialect, stream []byte, n int, c dialect.CutOff) (cut []byte) {
	var scan sse.Scanner
	var block sse.Block
	var ev dialect.Event
	r := d.NewReader()
	scan.Wrote(copy(scan.Space(len(stream)), stream))
	for scan.Next(&block) {
		r.Read(block.Name, block.Data, &ev)
		cut = append(cut, block.Raw...)
		if ev.Content {
			n--
		}
		if n == 0 {
			c.Last = block.Data
			break
		}
	}
	return append(cut, r.CutOff(c)...)
}

// The SDK takes a stream that was cut off for one whose answer came to its length,
// with all the text until then.
func TestCutOffChat(t *testing.T) {
	stream := dialect.Chat.Stream([]byte(`{"id":"c","object":"chat.completion","created":5,"model":"m","choices":[
		{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"},{"index":1,"message":{"content":"Ho"},"finish_reason":"stop"}]}`))
	var acc openai.ChatCompletionAccumulator
	s := openStream[openai.ChatCompletionChunk](cutOff(dialect.Chat, stream, 2, dialect.CutOff{Choices: 2}))
	for s.Next() {
		if !acc.AddChunk(s.Current()) {
			t.Fatalf("the accumulator refuses %s", s.Current().RawJSON())
		}
	}
	if s.Err() != nil || len(acc.Choices) != 2 {
		t.Fatal(s.Err(), len(acc.Choices))
	}
	one, two := acc.Choices[0], acc.Choices[1]
	if one.Message.Content != "Hi" || one.FinishReason != "stop" || two.Message.Content != "Ho" || two.FinishReason != "length" {
		t.Errorf("%q ended for %s, %q for %s", one.Message.Content, one.FinishReason, two.Message.Content, two.FinishReason)
	}
}

func TestCutOffResponses(t *testing.T) {
	stream := dialect.Responses.Stream([]byte(`{"id":"resp_1","object":"response","created_at":5,"status":"completed","model":"m","output":[
		{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[]}]}]}`))
	var acc responses.ResponseAccumulator
	var last responses.ResponseStreamEventUnion
	s := openStream[responses.ResponseStreamEventUnion](cutOff(dialect.Responses, stream, 1, dialect.CutOff{ID: "resp_1", Model: "m", Created: 5}))
	for s.Next() {
		last = s.Current()
		var event responses.ResponsesServerEventUnion
		mustUnmarshal(t, []byte(last.RawJSON()), &event)
		if err := acc.AddEvent(event); err != nil {
			t.Fatalf("the accumulator refuses %s: %v", last.RawJSON(), err)
		}
	}
	if s.Err() != nil || last.Type != "response.incomplete" || last.Response.IncompleteDetails.Reason != "max_output_tokens" {
		t.Errorf("the last event is %s, error %v", last.RawJSON(), s.Err())
	}
	if got := acc.Snapshot(); got.TerminalEvent != "response.incomplete" || got.OutputText() != "Hi" {
		t.Errorf("accumulated %q, ended by %q; want Hi, response.incomplete", got.OutputText(), got.TerminalEvent)
	}
}

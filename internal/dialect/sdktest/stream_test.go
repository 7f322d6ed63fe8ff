package sdktest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// The SDK's accumulator makes of the stream what the SDK makes of the answer.
func TestChatStream(t *testing.T) {
	answer := testdata(t, "chat_answer.json")
	out := dialect.Chat.Stream(answer)
	var want openai.ChatCompletion
	mustUnmarshal(t, answer, &want)
	var acc openai.ChatCompletionAccumulator
	s := openStream[openai.ChatCompletionChunk](out)
	reasoning := ""
	for s.Next() {
		chunk := s.Current()
		if !acc.AddChunk(chunk) {
			t.Fatalf("the accumulator refuses %s", chunk.RawJSON())
		}
		for _, c := range chunk.Choices {
			reasoning += unquote(c.Delta.JSON.ExtraFields["reasoning_content"].Raw())
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	if diff := cmp.Diff(plainJSON(t, want), plainJSON(t, acc.ChatCompletion)); diff != "" {
		t.Errorf("answer (-want +accumulated):\n%s", diff)
	}
	if reasoning != "hm" {
		t.Errorf("reasoning %q, want %q", reasoning, "hm")
	}
}

func openStream[T any](stream []byte) *ssestream.Stream[T] {
	return ssestream.NewStream[T](ssestream.NewDecoder(&http.Response{Body: io.NopCloser(bytes.NewReader(stream))}), nil)
}

func unquote(raw string) (s string) {
	_ = json.Unmarshal([]byte(raw), &s)
	return s
}

// plainJSON returns what v says, without how it was spelled.
func plainJSON(t *testing.T, v any) (plain any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	mustUnmarshal(t, data, &plain)
	return plain
}

func TestCompletionsStream(t *testing.T) {
	const answer = `{"id":"c","object":"text_completion","created":5,"model":"m","choices":[{"text":"Hi","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"Ho","finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}`
	out := dialect.Completions.Stream([]byte(answer))
	s := openStream[openai.Completion](out)
	texts, finish, used := map[int64]string{}, map[int64]string{}, int64(0)
	for s.Next() {
		c := s.Current()
		for _, choice := range c.Choices {
			texts[choice.Index] += choice.Text
			finish[choice.Index] = string(choice.FinishReason)
		}
		used += c.Usage.TotalTokens
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	if diff := cmp.Diff(map[int64]string{0: "Hi", 1: "Ho"}, texts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[int64]string{0: "stop", 1: "length"}, finish); diff != "" || used != 7 {
		t.Error(diff, used)
	}
}

// The same for responses.
func TestResponsesStream(t *testing.T) {
	answer := testdata(t, "responses_answer.json")
	out := dialect.Responses.Stream(answer)
	var want responses.Response
	mustUnmarshal(t, answer, &want)
	var acc responses.ResponseAccumulator
	s := openStream[responses.ResponseStreamEventUnion](out)
	sequence, deltas := int64(0), map[string]string{}
	for ; s.Next(); sequence++ {
		e := s.Current()
		if e.SequenceNumber != sequence {
			t.Errorf("event %d has number %d", sequence, e.SequenceNumber)
		}
		if name, ok := strings.CutSuffix(e.Type, ".delta"); ok {
			deltas[name] += e.Delta
		}
		var forAccumulator responses.ResponsesServerEventUnion
		mustUnmarshal(t, []byte(e.RawJSON()), &forAccumulator)
		if err := acc.AddEvent(forAccumulator); err != nil {
			t.Fatalf("the accumulator refuses %s: %v", e.RawJSON(), err)
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	if diff := cmp.Diff(map[string]string{
		"response.reasoning_summary_text": "hm", "response.reasoning_text": "hmm", "response.output_text": "Hi <b>",
		"response.refusal": "No", "response.function_call_arguments": `{"a":1}`, "response.custom_tool_call_input": "SELECT",
	}, deltas); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
	got, err := acc.ReconstructedResponse()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plainJSON(t, want), plainJSON(t, *got)); diff != "" {
		t.Errorf("answer (-want +accumulated):\n%s", diff)
	}
}

func testdata(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mustUnmarshal(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

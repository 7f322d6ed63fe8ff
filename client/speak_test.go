package client_test

import (
	"context"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/internal/upstream"
)

// This file holds how the tests talk to the SDK, and how a target's answer is
// written by hand.

// stream reads a whole stream.
func stream(ctx context.Context, c *openai.Client, p openai.ChatCompletionNewParams, opts ...option.RequestOption) (string, error) {
	s := c.Chat.Completions.NewStreaming(ctx, p, opts...)
	defer s.Close()
	var text strings.Builder
	for s.Next() {
		for _, choice := range s.Current().Choices {
			text.WriteString(choice.Delta.Content)
		}
	}
	return text.String(), s.Err()
}

func ask(ctx context.Context, c *openai.Client, p openai.ChatCompletionNewParams, opts ...option.RequestOption) (string, error) {
	answer, err := c.Chat.Completions.New(ctx, p, opts...)
	if err != nil {
		return "", err
	}
	return answer.Choices[0].Message.Content, nil
}

// speak is stream or ask.
type speak func(context.Context, *openai.Client, openai.ChatCompletionNewParams, ...option.RequestOption) (string, error)

// ways are both of them, by name.
var ways = map[string]speak{"streamed": stream, "whole": ask}

// answers runs a call that has to be answered in full by that target.
func (f *fleet) answers(t *testing.T, say speak, c *openai.Client, target string) {
	t.Helper()
	text, err := say(t.Context(), c, question("hello"))
	if want := f.servers[target].Text(16); err != nil || text != want {
		t.Errorf("answer is %q, %v, want %q", text, err, want)
	}
}

// raw is a reply in one piece.
func raw(status int, contentType, body string) upstream.Step {
	return upstream.Step{Raw: &upstream.Raw{
		Status: status, Headers: map[string]string{"Content-Type": contentType},
		Parts: []upstream.Part{{Data: body}},
	}}
}

// events is a reply of these pieces as an event stream.
func events(parts ...string) upstream.Step {
	r := &upstream.Raw{Headers: map[string]string{"Content-Type": "text/event-stream"}}
	for _, data := range parts {
		r.Parts = append(r.Parts, upstream.Part{Data: data})
	}
	return upstream.Step{Raw: r}
}

// delta is an event of a chat stream.
func delta(content string) string {
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"` +
		content + `"},"finish_reason":null}]}` + "\n\n"
}

const (
	finish = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done   = "data: [DONE]\n\n"

	wholeAnswer = `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"all at once","refusal":null},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":3,"completion_tokens":3,"total_tokens":6}}`
)

package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/ontime-llm/ontime/client"
)

func goOpenAI(h *http.Client, base string) *openai.Client {
	cfg := openai.DefaultConfig(client.APIKey)
	cfg.HTTPClient, cfg.BaseURL = h, base
	return openai.NewClientWithConfig(cfg)
}

func goOpenAIRequest(q question) openai.ChatCompletionRequest {
	r := openai.ChatCompletionRequest{Model: model, Messages: []openai.ChatCompletionMessage{{Role: "user", Content: q.prompt}}}
	if q.tool {
		r.Tools = []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{
			Name: toolName, Parameters: map[string]any{"type": "object", "properties": schema},
		}}}
	}
	if c := q.called; c != nil {
		r.Messages = append(r.Messages,
			openai.ChatCompletionMessage{Role: "assistant", ToolCalls: []openai.ToolCall{
				{ID: c.ID, Type: "function", Function: openai.FunctionCall{Name: c.Name, Arguments: c.Arguments}},
			}},
			openai.ChatCompletionMessage{Role: "tool", ToolCallID: c.ID, Content: q.result})
	}
	return r
}

func goOpenAIWhole(ctx context.Context, h *http.Client, base string, q question) (a answer, err error) {
	resp, err := goOpenAI(h, base).CreateChatCompletion(ctx, goOpenAIRequest(q))
	if err != nil {
		return a, err
	}
	message := resp.Choices[0].Message
	a = answer{
		ID: resp.ID, Text: message.Content, Thought: message.ReasoningContent, Finish: string(resp.Choices[0].FinishReason),
		Input: int64(resp.Usage.PromptTokens), Output: int64(resp.Usage.CompletionTokens),
	}
	for _, c := range message.ToolCalls {
		a.Calls = append(a.Calls, toolCall{c.ID, c.Function.Name, c.Function.Arguments})
	}
	return a, nil
}

// goOpenAIStream asks for usage, so that it sees what openAIStream must not.
func goOpenAIStream(ctx context.Context, h *http.Client, base string, q question) (a answer, err error) {
	r := goOpenAIRequest(q)
	r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := goOpenAI(h, base).CreateChatCompletionStream(ctx, r)
	if err != nil {
		return a, err
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if err == io.EOF {
			return a, nil
		}
		if err != nil {
			return a, err
		}
		a.ID = chunk.ID
		if chunk.Usage != nil {
			a.Input, a.Output = int64(chunk.Usage.PromptTokens), int64(chunk.Usage.CompletionTokens)
		}
		for _, choice := range chunk.Choices {
			a.Text += choice.Delta.Content
			a.Thought += choice.Delta.ReasoningContent
			a.Finish += string(choice.FinishReason)
			for _, c := range choice.Delta.ToolCalls {
				a.Calls = grow(a.Calls, *c.Index, toolCall{c.ID, c.Function.Name, c.Function.Arguments})
			}
		}
	}
}

// grow adds what one event says of the i-th call for a tool.
func grow(calls []toolCall, i int, more toolCall) []toolCall {
	for len(calls) <= i {
		calls = append(calls, toolCall{})
	}
	calls[i].ID += more.ID
	calls[i].Name += more.Name
	calls[i].Arguments += more.Arguments
	return calls
}

func goOpenAIError(err error) (apiError, bool) {
	e, ok := errors.AsType[*openai.APIError](err)
	if !ok {
		return apiError{}, false
	}
	found := apiError{Status: e.HTTPStatusCode, Type: e.Type, Message: e.Message}
	if e.Code != nil {
		found.Code = fmt.Sprint(e.Code)
	}
	return found, true
}

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/ontime-llm/ontime/client"
)

// anthropicClient leaves the SDK's own retries on: they must not multiply ours.
func anthropicClient(h *http.Client, base string) anthropic.Client {
	return anthropic.NewClient(option.WithoutEnvironmentDefaults(),
		option.WithHTTPClient(h), option.WithBaseURL(base), option.WithAPIKey(client.APIKey))
}

func anthropicRequest(q question) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{
		Model: model, MaxTokens: 512,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(q.prompt))},
	}
	if q.tool {
		p.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: schema}, toolName)}
	}
	if c := q.called; c != nil {
		p.Messages = append(p.Messages,
			anthropic.NewAssistantMessage(anthropic.NewToolUseBlock(c.ID, json.RawMessage(c.Arguments), c.Name)),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock(c.ID, q.result, false)))
	}
	return p
}

func anthropicWhole(ctx context.Context, h *http.Client, base string, q question) (answer, error) {
	llm := anthropicClient(h, base)
	m, err := llm.Messages.New(ctx, anthropicRequest(q))
	if err != nil {
		return answer{}, err
	}
	return anthropicAnswer(m), nil
}

func anthropicStream(ctx context.Context, h *http.Client, base string, q question) (answer, error) {
	llm := anthropicClient(h, base)
	stream := llm.Messages.NewStreaming(ctx, anthropicRequest(q))
	defer stream.Close()
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			return anthropicAnswer(&m), err
		}
	}
	return anthropicAnswer(&m), stream.Err()
}

func anthropicAnswer(m *anthropic.Message) answer {
	a := answer{ID: m.ID, Finish: string(m.StopReason), Input: m.Usage.InputTokens, Output: m.Usage.OutputTokens}
	for _, block := range m.Content {
		switch block.Type {
		case "text":
			a.Text += block.Text
		case "thinking":
			a.Thought += block.Thinking
		case "tool_use":
			a.Calls = append(a.Calls, toolCall{block.ID, block.Name, string(block.Input)})
		}
	}
	return a
}

func anthropicError(err error) (apiError, bool) {
	e, ok := errors.AsType[*anthropic.Error](err)
	if !ok {
		return apiError{}, false
	}
	var body struct {
		Error struct{ Message, Code string }
	}
	_ = json.Unmarshal([]byte(e.RawJSON()), &body) // another shape has no message
	return apiError{e.StatusCode, string(e.Type()), body.Error.Code, body.Error.Message}, true
}

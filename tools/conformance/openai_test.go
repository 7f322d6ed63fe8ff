package conformance

import (
	"context"
	"errors"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
)

// openAI is the SDK that package client wraps, as any other SDK here: its retries are on.
func openAI(h *http.Client, base string) openai.Client {
	return openai.NewClient(option.WithHTTPClient(h), option.WithBaseURL(base), option.WithAPIKey(client.APIKey))
}

func openAIRequest(q question) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(q.prompt)}}
	if q.tool {
		p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: toolName, Parameters: openai.FunctionParameters{"type": "object", "properties": schema},
		})}
	}
	if c := q.called; c != nil {
		p.Messages = append(p.Messages,
			openai.ChatCompletionMessageParamUnion{OfAssistant: &openai.ChatCompletionAssistantMessageParam{
				ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Arguments},
				}}},
			}},
			openai.ToolMessage(q.result, c.ID))
	}
	return p
}

func openAIWhole(ctx context.Context, h *http.Client, base string, q question) (answer, error) {
	llm := openAI(h, base)
	completion, err := llm.Chat.Completions.New(ctx, openAIRequest(q))
	if err != nil {
		return answer{}, err
	}
	return openAIAnswer(completion), nil
}

func openAIStream(ctx context.Context, h *http.Client, base string, q question) (answer, error) {
	llm := openAI(h, base)
	stream := llm.Chat.Completions.NewStreaming(ctx, openAIRequest(q))
	defer stream.Close()
	var sum openai.ChatCompletionAccumulator
	for stream.Next() {
		if !sum.AddChunk(stream.Current()) {
			return answer{}, errors.New("a chunk does not belong to the answer before it")
		}
	}
	return openAIAnswer(&sum.ChatCompletion), stream.Err()
}

func openAIAnswer(completion *openai.ChatCompletion) answer {
	a := answer{ID: completion.ID, Input: completion.Usage.PromptTokens, Output: completion.Usage.CompletionTokens}
	for _, choice := range completion.Choices {
		a.Text += choice.Message.Content
		a.Finish += choice.FinishReason
		for _, c := range choice.Message.ToolCalls {
			a.Calls = append(a.Calls, toolCall{c.ID, c.Function.Name, c.Function.Arguments})
		}
	}
	return a
}

func openAIError(err error) (apiError, bool) {
	e, ok := errors.AsType[*openai.Error](err)
	if !ok {
		return apiError{}, false
	}
	return apiError{e.StatusCode, e.Type, e.Code, e.Message}, true
}

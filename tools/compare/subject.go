package main

import (
	"context"
	"errors"
	"io"
	"net/http"

	anyllmconfig "github.com/mozilla-ai/any-llm-go/config"
	"github.com/mozilla-ai/any-llm-go/providers"
	anyllm "github.com/mozilla-ai/any-llm-go/providers/openai"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	goopenai "github.com/sashabaranov/go-openai"
	"github.com/tmc/langchaingo/llms"
	langchain "github.com/tmc/langchaingo/llms/openai"
)

// caller makes one streamed call and reads it to its end. It calls content with the first
// piece of the answer, and may do so again.
type caller func(ctx context.Context, content func()) error

// subject is something that an application could call a model with.
type subject struct {
	name string
	// dial returns a caller of the service at a base URL, and what ends it.
	dial func(base string) (caller, func(), error)
}

const model = "gpt-4o-mini"

// clients are those that are compared by what they cost. The hedging ones are set up not
// to hedge.
func clients() []subject {
	return []subject{
		{"openai-go", dialPlain(nil)},
		{"ontime", dialOntime(0, easy)},
		{"openai-go + hedgedhttp", dialPlain(hedged(never, false))},
		{"openai-go + failsafe-go", dialPlain(failsafe(never))},
		{"go-openai", dialGoOpenAI},
		{"any-llm-go", dialAnyLLM},
		{"langchaingo", dialLangchain},
	}
}

// transport is one for each subject, with as many idle connections as ours keeps.
func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 512
	return t
}

// dialPlain is openai-go, with a transport around its own or none.
func dialPlain(around func(http.RoundTripper) (http.RoundTripper, error)) func(string) (caller, func(), error) {
	return func(base string) (caller, func(), error) {
		t := transport()
		var rt http.RoundTripper = t
		if around != nil {
			var err error
			if rt, err = around(t); err != nil {
				return nil, nil, err
			}
		}
		c := openai.NewClient(option.WithBaseURL(base+"/"), option.WithAPIKey("k"), option.WithMaxRetries(0),
			option.WithHTTPClient(&http.Client{Transport: rt}))
		return through(&c), t.CloseIdleConnections, nil
	}
}

// through is a call with openai-go.
func through(c *openai.Client) caller {
	params := openai.ChatCompletionNewParams{
		Model:               model,
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hello")},
		MaxCompletionTokens: openai.Int(4096),
		StreamOptions:       openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	return func(ctx context.Context, content func()) error {
		s := c.Chat.Completions.NewStreaming(ctx, params)
		defer s.Close()
		for s.Next() {
			if chunk := s.Current(); len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
				content()
			}
		}
		return s.Err()
	}
}

func dialGoOpenAI(base string) (caller, func(), error) {
	t := transport()
	cfg := goopenai.DefaultConfig("k")
	cfg.BaseURL, cfg.HTTPClient = base, &http.Client{Transport: t}
	c := goopenai.NewClientWithConfig(cfg)
	request := goopenai.ChatCompletionRequest{
		Model:               model,
		Messages:            []goopenai.ChatCompletionMessage{{Role: goopenai.ChatMessageRoleUser, Content: "hello"}},
		MaxCompletionTokens: 4096,
		StreamOptions:       &goopenai.StreamOptions{IncludeUsage: true},
	}
	return func(ctx context.Context, content func()) error {
		s, err := c.CreateChatCompletionStream(ctx, request)
		if err != nil {
			return err
		}
		defer s.Close()
		for {
			chunk, err := s.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
				content()
			}
		}
	}, t.CloseIdleConnections, nil
}

func dialAnyLLM(base string) (caller, func(), error) {
	t := transport()
	p, err := anyllm.New(anyllmconfig.WithAPIKey("k"), anyllmconfig.WithBaseURL(base), anyllmconfig.WithHTTPClient(&http.Client{Transport: t}))
	if err != nil {
		return nil, nil, err
	}
	limit := 4096
	params := providers.CompletionParams{
		Model: model, Messages: []providers.Message{{Role: "user", Content: "hello"}}, MaxTokens: &limit,
		StreamOptions: &providers.StreamOptions{IncludeUsage: true},
	}
	return func(ctx context.Context, content func()) error {
		chunks, errs := p.CompletionStream(ctx, params)
		for chunk := range chunks {
			if len(chunk.Choices) > 0 && chunk.Choices[0].Delta.Content != "" {
				content()
			}
		}
		return <-errs
	}, t.CloseIdleConnections, nil
}

func dialLangchain(base string) (caller, func(), error) {
	t := transport()
	llm, err := langchain.New(langchain.WithToken("k"), langchain.WithModel(model), langchain.WithBaseURL(base), langchain.WithHTTPClient(&http.Client{Transport: t}))
	if err != nil {
		return nil, nil, err
	}
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hello")}
	return func(ctx context.Context, content func()) error {
		_, err := llm.GenerateContent(ctx, messages, llms.WithMaxTokens(4096), llms.WithStreamingFunc(func(_ context.Context, piece []byte) error {
			if len(piece) > 0 {
				content()
			}
			return nil
		}))
		return err
	}, t.CloseIdleConnections, nil
}

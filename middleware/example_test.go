package middleware_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/middleware"
)

// provider stands in for one, so that the examples need no network: it answers every
// call in the same way.
type provider struct{ contentType, body string }

func (p provider) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_ = r.Body.Close()
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {p.contentType}},
		Body:   io.NopCloser(strings.NewReader(strings.ReplaceAll(p.body, "BODY", strings.ReplaceAll(string(body), `"`, `'`)))),
	}, nil
}

// streaming says hello in three tokens.
var streaming = provider{"text/event-stream", `data: {"id":"c1","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}

data: {"id":"c1","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":"lo"}}]}

data: {"id":"c1","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":"."},"finish_reason":"stop"}]}

data: {"id":"c1","model":"gpt-4o-mini","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}

data: [DONE]

`}

// echo answers in one piece with the body that it was sent.
var echo = provider{"application/json", `{"id":"c1","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,"message":` +
	`{"role":"assistant","content":"BODY"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`}

func hello() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Say hello.")},
	}
}

// The calls of a plain openai.Client are measured, and nothing else changes.
func ExampleMeter() {
	llm := openai.NewClient(
		option.WithAPIKey("key"), option.WithHTTPClient(&http.Client{Transport: streaming}), // in place of a provider
		option.WithMiddleware(middleware.Meter(
			middleware.As("openai"), // the target's name, in place of the host's
			middleware.Observe(middleware.CallFunc(func(c middleware.Call) {
				fmt.Printf("%s: %v, finish reason %s, %d tokens, TTFT known: %t\n",
					c.Target, c.Outcome, c.FinishReason, c.Usage.Output, c.TTFT > 0)
			})),
		)),
	)
	stream := llm.Chat.Completions.NewStreaming(context.Background(), hello())
	var answer strings.Builder
	for stream.Next() {
		if chunk := stream.Current(); len(chunk.Choices) > 0 {
			answer.WriteString(chunk.Choices[0].Delta.Content)
		}
	}
	_ = stream.Close() // the call is over now at the latest
	fmt.Println(answer.String())
	// Output:
	// openai: completed, finish reason stop, 3 tokens, TTFT known: true
	// Hello.
}

// MeterTransport measures the calls of any other SDK, or of none.
func ExampleMeterTransport() {
	c := http.Client{Transport: middleware.MeterTransport(echo, middleware.Observe(middleware.CallFunc(func(c middleware.Call) {
		fmt.Printf("%s at %s: %v, %d tokens in, %d out\n", c.Model, c.Target, c.Outcome, c.Usage.Input, c.Usage.Output)
	})))}
	resp, err := c.Post("https://api.example.com/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Say hello."}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	// Output: gpt-4o-mini at api.example.com: completed, 9 tokens in, 3 out
}

// Every call of a plain openai.Client leaves with a token cap.
func ExampleCap() {
	llm := openai.NewClient(
		option.WithAPIKey("key"), option.WithHTTPClient(&http.Client{Transport: echo}), // in place of a provider
		option.WithMiddleware(middleware.Cap(budget.MaxTokens{Default: 1024, Limit: 4096})),
	)
	for _, asked := range []int64{0, 9000} {
		params := hello()
		if asked > 0 {
			params.MaxTokens = openai.Int(asked)
		}
		answer, err := llm.Chat.Completions.New(context.Background(), params)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(answer.Choices[0].Message.Content) // what the provider was sent
	}
	// Output:
	// {'max_completion_tokens':1024,'messages':[{'content':'Say hello.','role':'user'}],'model':'gpt-4o-mini'}
	// {'messages':[{'content':'Say hello.','role':'user'}],'model':'gpt-4o-mini','max_tokens':4096}
}

// The code that makes a call can look at it, once it is over.
func ExampleWithCall() {
	llm := openai.NewClient(
		option.WithAPIKey("key"), option.WithHTTPClient(&http.Client{Transport: streaming}), // in place of a provider
		option.WithMiddleware(middleware.Meter()),
	)
	ctx, call := middleware.WithCall(context.Background())
	stream := llm.Chat.Completions.NewStreaming(ctx, hello())
	for stream.Next() {
	}
	_ = stream.Close() // from here on the call may be read
	fmt.Println(call.Outcome, call.FinishReason, call.Usage.Output)
	fmt.Println(call.TTFT > 0, call.TTFT <= call.Total)
	// Output:
	// completed stop 3
	// true true
}

// One record for each call. Times are left out here, since they are never the same.
func ExampleLog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindTime || a.Value.Kind() == slog.KindDuration || a.Value.String() == "" {
				return slog.Attr{}
			}
			return a
		},
	}))
	middleware.Log(logger).ObserveCall(middleware.Call{
		Endpoint: "chat", Model: "gpt-4o-mini", Target: "openai", Outcome: middleware.Completed, FinishReason: "stop",
		Streamed: true, TTFT: 280 * time.Millisecond, Total: 2 * time.Second, Usage: middleware.Usage{Input: 9, Output: 3},
		MaxTokens: 1024, Capped: true, Attempts: []middleware.Attempt{{Target: "openai", Status: 200}},
	})
	// Output:
	// level=INFO msg="llm call" endpoint=chat model=gpt-4o-mini target=openai outcome=completed status=200 input_tokens=9 cached_input_tokens=0 reasoning_tokens=0 output_tokens=3 estimated=false finish_reason=stop streamed=true attempts=1 hedged=false capped=true max_tokens=1024 starved=false cost_usd=0
}

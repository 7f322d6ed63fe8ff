// Quickstart shows the client at work: unchanged openai-go code streams answers
// from three simulated regions over real sockets, the tail of one of them spikes
// half way, and the endpoint keeps what it promised.
//
//	go run ./examples/quickstart          three simulated regions, about 20 s
//	go run ./examples/quickstart -real    the providers whose API keys are set
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
)

// connect is what an application changes: one constructor, which is told the
// targets and what each endpoint promises. The rest of the application uses
// c.Endpoint("chat") wherever it used an openai.Client.
func connect(targets []client.Target, promise budget.Budget) (*client.Client, error) {
	return client.New(client.Config{
		Targets:   targets,
		Endpoints: map[string]budget.Budget{"chat": promise},
	})
}

// ask is what it leaves alone: openai-go, which streams an answer and does not
// know who serves it. Here c is c.Endpoint("chat") or, for comparison, a plain
// openai.Client.
func ask(ctx context.Context, c *openai.Client, question string, opts ...option.RequestOption) (a answer) {
	start := time.Now()
	stream := c.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
	}, opts...)
	defer stream.Close()
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			if a.text == "" && choice.Delta.Content != "" {
				a.first = time.Since(start)
			}
			a.text += choice.Delta.Content
		}
	}
	a.total, a.err = time.Since(start), stream.Err()
	return a
}

func main() {
	o := parseOptions()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	run := simulate
	if o.real {
		run = callProviders
	}
	err := run(ctx, o, newScreen(os.Stdout, o.plain))
	stop()
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "stopped")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/middleware"
)

// conversation is what was said so far, all of which is sent with each question.
type conversation struct {
	client *openai.Client
	model  string
	out    io.Writer
	said   []openai.ChatCompletionMessageParamUnion
}

// hold answers what is typed until that ends, or until an interrupt comes while
// no answer does.
func (c *conversation) hold(ctx context.Context, typed <-chan string, interrupts <-chan os.Signal) {
	for {
		fmt.Fprint(c.out, "> ")
		select {
		case <-interrupts:
			fmt.Fprintln(c.out)
			return
		case question, ok := <-typed:
			if !ok {
				fmt.Fprintln(c.out)
				return
			}
			if strings.TrimSpace(question) == "" {
				continue
			}
			if err := c.interruptible(ctx, question, interrupts); err != nil && err != errInterrupted {
				fmt.Fprintln(c.out, err) // the next question may fare better
			}
		}
	}
}

// play asks all questions, and ends at the first that is not answered.
func (c *conversation) play(ctx context.Context, questions []string, interrupts <-chan os.Signal) error {
	for _, question := range questions {
		fmt.Fprintln(c.out, ">", question)
		if err := c.interruptible(ctx, question, interrupts); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.out, "all %d questions were answered\n", len(questions))
	return nil
}

var errInterrupted = errors.New("interrupted")

// interruptible asks under a context that the next interrupt cancels.
func (c *conversation) interruptible(ctx context.Context, question string, interrupts <-chan os.Signal) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- c.ask(ctx, question) }()
	select {
	case err := <-answered:
		return err
	case <-interrupts:
		cancel()
		<-answered
		return errInterrupted
	}
}

// ask streams one answer to the terminal, and a line about it. What was said of
// an answer belongs to the conversation, whole or not.
func (c *conversation) ask(ctx context.Context, question string) error {
	ctx, call := middleware.WithCall(ctx)
	messages := append(c.said, openai.UserMessage(question))
	stream := c.client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{Model: c.model, Messages: messages})
	var answer strings.Builder
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			answer.WriteString(choice.Delta.Content)
			fmt.Fprint(c.out, choice.Delta.Content)
		}
	}
	err := stream.Err()
	stream.Close() // from here on the call may be read
	if answer.Len() > 0 {
		fmt.Fprintln(c.out)
		c.said = append(messages, openai.AssistantMessage(answer.String()))
	}
	fmt.Fprintf(c.out, "  [%s]\n", measured(call))
	return err
}

// measured is what is known of a call, in one line.
func measured(call *middleware.Call) string {
	words := []string{call.Outcome.String()}
	if call.Target != "" {
		words = append(words, "by "+call.Target)
	}
	add := func(format string, known bool, values ...any) {
		if known {
			words = append(words, fmt.Sprintf(format, values...))
		}
	}
	add("TTFT %v", call.TTFT > 0, call.TTFT.Round(time.Millisecond))
	add("TPOT %v", call.TPOT > 0, call.TPOT.Round(100*time.Microsecond))
	add("%d + %d tokens", call.Usage.Input > 0, call.Usage.Input, call.Usage.Output)
	add("%d of them cached", call.Usage.CachedInput > 0, call.Usage.CachedInput)
	add("$%.6f", call.Cost > 0, call.Cost)
	add("%d attempts", len(call.Attempts) > 1, len(call.Attempts))
	return strings.Join(words, ", ")
}

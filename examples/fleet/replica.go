package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/redis/rueidis"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router/redis"
)

// replica is one process of the application. Its arguments are how many calls to make, the
// address of Redis (empty: it shares nothing), and the URLs of the targets.
func replica(name string, args []string) error {
	if len(args) != 2+len(targets) {
		return fmt.Errorf("a replica takes %d arguments, not %d", 2+len(targets), len(args))
	}
	calls, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	cfg := client.Config{
		Endpoints: map[string]budget.Budget{
			"chat": {TTFT: budget.Layers{95: 400 * time.Millisecond}},
		},
	}
	for i, target := range targets {
		cfg.Targets = append(cfg.Targets, client.Target{Name: target, Provider: "compatible", Region: target, BaseURL: args[2+i]})
	}
	if args[1] != "" {
		store, err := redis.New(rueidis.ClientOption{InitAddress: []string{args[1]}}, redis.Options{})
		if err != nil {
			return err
		}
		defer store.Close()
		cfg.Shared = store
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	if cfg.Shared != nil {
		join(c)
	}
	return report(name, c, calls)
}

// join gives the first exchange with the others a moment. An application need not wait.
func join(c *client.Client) {
	for range 50 {
		if !c.Snapshot().Shared.Lost {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// report makes calls and tells where they went first.
func report(name string, c *client.Client, calls int) error {
	slow, late := 0, 0
	for range calls {
		ctx, call := middleware.WithCall(context.Background())
		if err := ask(ctx, c.Endpoint("chat")); err != nil {
			return fmt.Errorf("replica %s: %w", name, err)
		}
		if call.Attempts[0].Target != targets[0] {
			slow++
		}
		if call.TTFT > 400*time.Millisecond {
			late++
		}
		time.Sleep(150 * time.Millisecond)
	}
	shared := c.Snapshot().Shared
	fmt.Printf("%s sent %d of %d calls to a slow target first; %d were late for all that hedges did (other replicas heard: %d)\n",
		name, slow, calls, late, shared.Replicas)
	return nil
}

func ask(ctx context.Context, c *openai.Client) error {
	stream := c.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model:    "small",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Why is the sky blue?")},
	})
	defer stream.Close()
	for stream.Next() {
	}
	return stream.Err()
}

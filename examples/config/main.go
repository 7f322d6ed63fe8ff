// Config loads ontime.yaml, the commented configuration beside it, and calls each
// of its endpoints. The providers that it names are simulated: nothing leaves the
// machine, and the keys need not be real.
//
//	go run ./examples/config
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

func main() {
	if err := run(filepath.Join("examples", "config", "ontime.yaml")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(file string) error {
	for _, name := range []string{"OPENAI_API_KEY", "AZURE_KEY_1", "AZURE_KEY_2"} {
		if os.Getenv(name) == "" {
			os.Setenv(name, "simulated")
		}
	}
	cfg, err := client.Load(file)
	if err != nil {
		return err // every problem, with its line and what to do
	}
	cfg.Transport = provider // what is code is added to what was loaded
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	answered := callEach(c, cfg)

	// An application would do this on a signal, or when the file changes. What is
	// known of the targets stays, and so do calls under way.
	if cfg, err = client.Load(file); err != nil {
		return err
	}
	cfg.Endpoints["night"] = budget.Batch()
	if err := c.Reload(cfg); err != nil {
		return err // and nothing has changed
	}
	fmt.Println("reloaded, with one endpoint more:")
	answered += callEach(c, cfg)
	fmt.Printf("%d calls were answered\n", answered)
	return nil
}

func callEach(c *client.Client, cfg client.Config) (answered int) {
	for _, endpoint := range slices.Sorted(maps.Keys(cfg.Endpoints)) {
		ctx, call := middleware.WithCall(context.Background())
		stream := c.Endpoint(endpoint).Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
			Model:    "gpt-4o",
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Say hello.")},
		})
		for stream.Next() {
		}
		if err := stream.Close(); err != nil || stream.Err() != nil {
			fmt.Printf("%-8s %v\n", endpoint, stream.Err())
			continue
		}
		answered++
		fmt.Printf("%-8s answered by %s after %v, capped at %d tokens\n",
			endpoint, call.Target, call.TTFT.Round(time.Millisecond), call.MaxTokens)
	}
	return answered
}

// provider stands for all of them.
var provider = upstream.New("simulated", upstream.Behaviour{TTFT: upstream.Latency{Median: 20 * time.Millisecond}}, 1)

// Failover kills one of two simulated targets in mid-run. The application goes
// on: the call that meets the dead target is answered by the other one. What
// each call did is in its middleware.Call.
//
//	go run ./examples/failover
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

const calls = 8

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	servers := map[string]*http.Server{}
	var cfg client.Config
	for _, name := range []string{"alpha", "beta"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		servers[name] = &http.Server{Handler: upstream.New(name, behaviour, 1)}
		defer servers[name].Close()
		go servers[name].Serve(listener)
		cfg.Targets = append(cfg.Targets, client.Target{Name: name, BaseURL: "http://" + listener.Addr().String() + "/v1"})
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	for n := range calls {
		ctx, call := middleware.WithCall(context.Background())
		if err := ask(ctx, c); err != nil {
			return fmt.Errorf("call %d failed: %w", n+1, err)
		}
		fmt.Printf("call %d  %s\n", n+1, story(call))
		if n+1 == calls/2 {
			fmt.Printf("------  %s is killed\n", call.Target)
			servers[call.Target].Close()
		}
	}
	fmt.Printf("all %d calls were answered\n", calls)
	return nil
}

var behaviour = upstream.Behaviour{
	TTFT: upstream.Latency{Median: 80 * time.Millisecond, Sigma: 0.2},
	Pace: upstream.Latency{Median: 5 * time.Millisecond},
}

func ask(ctx context.Context, c *client.Client) error {
	stream := c.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model:    "small",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Why is the sky blue?")},
	})
	defer stream.Close()
	for stream.Next() {
	}
	return stream.Err()
}

// story has a line for each attempt of a call.
func story(call *middleware.Call) string {
	var lines []string
	for _, a := range call.Attempts {
		what := fmt.Sprint(a.Outcome, ": ", a.Err)
		if a.Err == nil {
			what = fmt.Sprintf("first token after %d ms, %d tokens in %d ms",
				call.TTFT.Milliseconds(), a.Usage.Output, call.Total.Milliseconds())
		}
		lines = append(lines, fmt.Sprintf("%-8s%s", a.Target, what))
	}
	return strings.Join(lines, "\n        ")
}

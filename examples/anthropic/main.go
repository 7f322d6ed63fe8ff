// Anthropic has the Anthropic Go SDK stream its messages over Client.HTTPClient().
// Half way, the one of two simulated accounts that served them is overloaded. The
// application does not notice: calls are answered by the other one, and measured all
// the same. At the end both are overloaded, and the error is the SDK's own.
//
//	go run ./examples/anthropic
//
// It is a module of its own, so that only who runs it downloads that SDK.
//
// With the real provider the target is a preset, whose key is in ANTHROPIC_API_KEY:
//
//	client.Target{Name: "anthropic", Provider: "anthropic"}
//
// and the SDK keeps the address that it has by itself (leave WithBaseURL out): all
// under a target's base URL reaches that target with that target's key, such as
// counting tokens or listing models, and messages are routed among all targets.
// What else serves them is a target too, with Formats: []string{"messages"} where it
// speaks nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/ontime-llm/ontime/budget"
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
	servers := map[string]*upstream.Server{}
	network := upstream.Network{}
	cfg := client.Config{Endpoints: map[string]budget.Budget{"chat": budget.Chat()}, Transport: network}
	for i, name := range []string{"alpha", "beta"} {
		servers[name] = upstream.New(name, behaviour, uint64(i+1))
		network[name+".test"] = servers[name]
		cfg.Targets = append(cfg.Targets, client.Target{Name: name, BaseURL: "https://" + name + ".test/v1", APIKey: "key-of-" + name})
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	llm := connect(c)

	for n := range calls {
		call, err := ask(llm)
		if err != nil {
			return fmt.Errorf("call %d failed: %w", n+1, err)
		}
		fmt.Printf("call %d  %s\n", n+1, story(call))
		if n+1 == calls/2 {
			fmt.Printf("------  %s is overloaded\n", call.Target)
			servers[call.Target].Set(overload)
		}
	}
	fmt.Printf("all %d calls were answered\n------  both are overloaded\n", calls)
	for _, server := range servers {
		server.Set(overload)
	}
	_, err = ask(llm)
	if failed, ok := errors.AsType[*anthropic.Error](err); ok {
		fmt.Printf("the SDK's own error: status %d, %s\n", failed.StatusCode, failed.Type())
		return nil
	}
	return fmt.Errorf("an error of the SDK was expected, not: %w", err)
}

// connect gives the SDK what an application changes: where it sends its requests,
// and a key that is none. The environment is left alone, since credentials belong to
// targets: a request that comes with one of its own is refused.
func connect(c *client.Client) anthropic.Client {
	return anthropic.NewClient(
		option.WithoutEnvironmentDefaults(),
		option.WithHTTPClient(c.HTTPClient()),
		option.WithBaseURL(client.BaseURL),
		option.WithAPIKey(client.APIKey),
	)
}

// ask streams one answer, and returns what was measured.
func ask(llm anthropic.Client) (*middleware.Call, error) {
	ctx, call := middleware.WithCall(budget.With(context.Background(), "chat"))
	stream := llm.Messages.NewStreaming(ctx, anthropic.MessageNewParams{
		Model:     anthropic.ModelClaudeHaiku4_5,
		MaxTokens: 1024,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Why is the sky blue?"))},
	})
	defer stream.Close()
	var answer anthropic.Message
	for stream.Next() {
		if err := answer.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	return call, stream.Err()
}

// story is a call in one line.
func story(call *middleware.Call) string {
	var attempts []string
	for _, a := range call.Attempts {
		attempts = append(attempts, fmt.Sprint(a.Target, " ", a.Outcome))
	}
	return fmt.Sprintf("TTFT %3d ms, TPOT %.1f ms, %d tokens; %s", call.TTFT.Milliseconds(),
		float64(call.TPOT)/float64(time.Millisecond), call.Usage.Output, strings.Join(attempts, ", "))
}

var behaviour = upstream.Behaviour{
	TTFT:           upstream.Latency{Median: 120 * time.Millisecond, Sigma: 0.2},
	Pace:           upstream.Latency{Median: 5 * time.Millisecond, Sigma: 0.1},
	TokensPerEvent: 6,
	Output:         upstream.Length{Median: 40, Sigma: 0.3},
}

// overload has every call refused in Anthropic's way.
func overload(b *upstream.Behaviour) {
	b.Faults = upstream.Faults{HTTPError: 1, Status: 529}
}

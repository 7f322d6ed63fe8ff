// Measure is the first rung of the ladder: a plain openai.Client with one
// middleware that measures each call and changes nothing. The provider is
// simulated, on a real socket.
//
//	go run ./examples/measure
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
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: upstream.New("simulated", behaviour, 1)}
	defer server.Close()
	go server.Serve(listener)

	measured := 0
	llm := openai.NewClient(
		option.WithBaseURL("http://"+listener.Addr().String()+"/v1"), option.WithAPIKey("simulated"),
		option.WithMiddleware(middleware.Meter(middleware.Observe(middleware.CallFunc(func(c middleware.Call) {
			measured++
			write(c)
		})))),
	)

	fmt.Printf("%10s%10s%10s%10s%10s%10s%10s%10s\n", "prompt", "output", "tokens/s", "TTFT", "TPOT", "stall", "total", "finish")
	for _, words := range []int{5, 5, 500, 500, 5000, 5000} {
		if err := ask(context.Background(), llm, words); err != nil {
			return err
		}
	}
	fmt.Printf("\n%d calls measured. TTFT grows with the prompt, TPOT does not; total = TTFT + (output - 1) x TPOT.\n", measured)
	return nil
}

// behaviour is that of a hosted small model, where each prompt token adds 60 us.
var behaviour = upstream.Behaviour{
	TTFT:    upstream.Latency{Median: 150 * time.Millisecond, Sigma: 0.1},
	Prefill: upstream.Prefill,
	Pace:    upstream.Latency{Median: 8 * time.Millisecond, Sigma: 0.1},
	Output:  upstream.Length{Median: 40, Sigma: 0.3},
}

// ask streams one answer. TPOT needs the number of tokens, so usage is asked for.
func ask(ctx context.Context, llm openai.Client, words int) error {
	prompt := strings.Repeat("blue ", words)
	stream := llm.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model:         "small",
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	})
	defer stream.Close()
	for stream.Next() {
	}
	return stream.Err()
}

// write prints a line for one call.
func write(c middleware.Call) {
	speed := float64(c.Usage.Output) / c.Total.Seconds()
	fmt.Printf("%10d%10d%10.0f%10s%10s%10s%10s%10s\n", c.Usage.Input, c.Usage.Output, speed,
		in(c.TTFT), in(c.TPOT), in(c.Stall), in(c.Total), c.FinishReason)
}

func in(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

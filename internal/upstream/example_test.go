package upstream_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/internal/upstream"
)

func Example() {
	eu := upstream.New("eu", upstream.Behaviour{Output: upstream.Length{Median: 4}}, 1)
	us := upstream.New("us", upstream.Behaviour{Faults: upstream.Faults{HTTPError: 1}}, 1)
	network := &http.Client{Transport: upstream.Network{"eu.test": eu, "us.test": us}}

	for _, host := range []string{"eu.test", "us.test"} {
		client := openai.NewClient(option.WithBaseURL("https://"+host+"/v1/"), option.WithAPIKey("test"),
			option.WithMaxRetries(0), option.WithHTTPClient(network))
		answer, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{
			Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")},
		})
		if err != nil {
			fmt.Println(host, "failed")
			continue
		}
		fmt.Println(host, "answered:", answer.Choices[0].Message.Content)
	}
	fmt.Println(eu.Stats().Answered, us.Stats().Failed)
	// Output:
	// eu.test answered: eu 2 3 4
	// us.test failed
	// 1 1
}

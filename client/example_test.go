package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// hosts stand in for providers, so that the examples need no network. They say their
// name, or answer with a status.
type hosts map[string]int

func (h hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	body := `{"error":{"message":"try later","type":"server_error"}}`
	if h[r.URL.Host] == http.StatusOK {
		body = `{"id":"c1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant",` +
			`"content":"Hello from ` + r.URL.Host + `."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`
	}
	return &http.Response{
		StatusCode: h[r.URL.Host], ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

// say asks one question and prints the answer.
func say(ctx context.Context, llm *openai.Client) {
	answer, err := llm.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Say hello.")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Choices[0].Message.Content)
}

// The cheaper of two targets is down. The application does not see that.
func ExampleNew() {
	c, err := client.New(client.Config{
		Targets: []client.Target{
			{Name: "one", BaseURL: "https://one.example/v1", APIKey: "key of one", Price: router.Price{Input: 1, Output: 4}},
			{Name: "two", BaseURL: "https://two.example/v1", APIKey: "key of two", Price: router.Price{Input: 2, Output: 8}},
		},
		Endpoints: map[string]budget.Budget{"chat": {Total: budget.Layers{95: 10 * time.Second}}},
		Transport: hosts{"one.example": 503, "two.example": 200}, // in place of providers
	})
	if err != nil {
		fmt.Println(err) // every problem of the configuration
		return
	}
	defer c.Close()

	ctx, call := middleware.WithCall(context.Background())
	say(ctx, c.Endpoint("chat"))
	for _, a := range call.Attempts {
		fmt.Println(a.Target, a.Outcome, a.Status)
	}
	// Output:
	// Hello from two.example.
	// one failed 503
	// two completed 200
}

// A call belongs to the endpoint that its client is bound to, or its context names.
func ExampleClient_Endpoint() {
	c, err := client.New(client.Config{
		Targets: []client.Target{
			{Name: "one", BaseURL: "https://one.example/v1"},
			{Name: "two", BaseURL: "https://two.example/v1"},
		},
		Endpoints: map[string]budget.Budget{
			"chat":  {Targets: []string{"one"}},
			"batch": {Targets: []string{"two"}},
		},
		Transport: hosts{"one.example": 200, "two.example": 200}, // in place of providers
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	say(context.Background(), c.Endpoint("chat"))
	say(budget.With(context.Background(), "batch"), &c.Client)
	say(context.Background(), c.Endpoint("extract"))
	// Output:
	// Hello from one.example.
	// Hello from two.example.
	// Post "https://ontime.invalid/v1/chat/completions": ontime: endpoint extract: unknown endpoint: the configuration has batch, chat, default
}

// Other targets for the calls to come. What was learned stays.
func ExampleClient_Reload() {
	cfg := client.Config{
		Targets:   []client.Target{{Name: "one", BaseURL: "https://one.example/v1"}},
		Transport: hosts{"one.example": 200, "two.example": 200}, // in place of providers
	}
	c, err := client.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	say(context.Background(), &c.Client)

	cfg.Targets = []client.Target{{Name: "two", BaseURL: "https://two.example/v1"}}
	if err := c.Reload(cfg); err != nil {
		fmt.Println(err) // and nothing has changed
	}
	say(context.Background(), &c.Client)

	cfg.Home = "three"
	fmt.Println(c.Reload(cfg))
	say(context.Background(), &c.Client)
	// Output:
	// Hello from one.example.
	// Hello from two.example.
	// ontime: the configuration has 1 problem(s):
	// home: there is no target "three": name one of the targets, or leave it out for the first
	// Hello from two.example.
}

// Any other SDK, or none, over the same targets.
func ExampleClient_HTTPClient() {
	c, err := client.New(client.Config{
		Targets:   []client.Target{{Name: "one", BaseURL: "https://one.example/v1", APIKey: "key of one"}},
		Transport: hosts{"one.example": 200}, // in place of a provider
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	r, err := http.NewRequest("POST", client.BaseURL+"chat/completions",
		strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Say hello."}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+client.APIKey) // no secret: each target has its own
	resp, err := c.HTTPClient().Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	fmt.Println(resp.StatusCode, "from", resp.Header.Get("X-Ontime-Target"))
	// Output: 200 from one
}

// What the client knows of its routes and endpoints.
func ExampleClient_Snapshot() {
	c, err := client.New(client.Config{
		Targets: []client.Target{
			{Name: "one", BaseURL: "https://one.example/v1", Models: map[string]string{"gpt-4o-mini": "m"}},
		},
		Endpoints: map[string]budget.Budget{"default": {Total: budget.Layers{95: 10 * time.Second}}},
		Transport: hosts{"one.example": 200}, // in place of a provider
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	say(context.Background(), &c.Client)

	s := c.Snapshot()
	for _, r := range s.Routes {
		fmt.Printf("%s serves %s: %s, %d completed\n", r.Target, r.Model, r.State, r.Attempts.Completed)
	}
	for _, l := range s.Endpoints[0].Layers {
		fmt.Printf("%v: %d of %d calls missed it\n", l.Layer, l.Missed, l.Calls)
	}
	// Output:
	// Hello from one.example.
	// one serves gpt-4o-mini: ok, 1 completed
	// p95 total 10s: 0 of 1 calls missed it
	// 99.9% answered: 0 of 1 calls missed it
}

// All that is wrong with a file is told at once.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ontime.yaml")
	_ = os.WriteFile(path, []byte(`
targets:
  - {name: openai, provider: openai, models: {gpt-4o: gpt-4o-2024-11-20}}
endpoints:
  chat:
    ttft: {p50: 300ms, p95: 600}
    models: [gpt-4o, gpt-4o-mini]
`), 0o600)

	_, err = client.Load(path)
	if all, ok := errors.Unwrap(err).(interface{ Unwrap() []error }); ok {
		for _, err := range all.Unwrap() {
			if p, ok := errors.AsType[client.FileProblem](err); ok {
				fmt.Printf("line %d: %s: %s\n", p.Line, p.Field, p.Message)
			}
		}
	}
	// Output:
	// line 6: endpoints.chat.ttft.p95: "600" is not a time: write a number with its unit, such as 600ms, 1.5s or 2m
	// line 7: endpoints.chat.models[1]: no target of the endpoint serves "gpt-4o-mini": name it as in a target's models, add it there, or remove it
}

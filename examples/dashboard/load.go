package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/client"
)

// load makes some eight calls a second until ctx ends, and returns when they have
// ended.
func load(ctx context.Context, c *client.Client) {
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		select {
		case <-time.After(time.Duration(rand.ExpFloat64() * float64(125*ms))):
			calls.Go(func() { call(ctx, c) })
		case <-ctx.Done():
			return
		}
	}
}

// call makes one; what became of it is on the page.
func call(ctx context.Context, c *client.Client) {
	words := 20 + rand.IntN(200)
	params := openai.ChatCompletionNewParams{
		Model:    "small",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(strings.Repeat("word ", words))},
	}
	switch n := rand.IntN(10); {
	case n < 7:
		stream := c.Endpoint("chat").Chat.Completions.NewStreaming(ctx, params)
		defer stream.Close()
		for stream.Next() {
		}
	case n < 9:
		_, _ = c.Endpoint("extract").Chat.Completions.New(ctx, params)
	default:
		_, _ = c.Endpoint("batch").Chat.Completions.New(ctx, params)
	}
}

// look fetches what the example serves, as a script would.
func look(site string) error {
	page, err := get(site+"/status/", "text/html")
	if err != nil {
		return err
	}
	if !strings.Contains(page, "<title>ontime status</title>") {
		return fmt.Errorf("the page is something else: %.60q", page)
	}
	text, err := get(site+"/status/", "application/json")
	if err != nil {
		return err
	}
	var state struct {
		Endpoints, Routes, Calls []json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		return err
	}
	metrics, err := get(site+"/metrics", "text/plain")
	if err != nil {
		return err
	}
	fmt.Printf("the page shows %d endpoints, %d routes and %d calls; %d metrics\n",
		len(state.Endpoints), len(state.Routes), len(state.Calls), strings.Count(metrics, "# TYPE ontime_"))
	return nil
}

func get(url, accept string) (string, error) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	return string(body), err
}

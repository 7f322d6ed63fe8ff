package client_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
)

// Conversations stay where their prompts are cached, each with its own target, and
// are free again when nothing is cached any more.
func TestConversationsStayWhereTheyAreCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := upstream.Behaviour{
			TTFT: upstream.Latency{Median: 200 * ms}, Prefill: upstream.Prefill,
			PromptCache: 10 * time.Minute, Usage: upstream.UsageAlways,
		}
		f := newFleet(t, b, client.Config{Endpoints: chatBudget()}, "one", "two", "three")
		ask := func(req openai.ChatCompletionNewParams) string {
			stream := f.chat().Chat.Completions.NewStreaming(t.Context(), req)
			for stream.Next() {
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			return f.lastCall(t).Target
		}
		targets := make(map[string]bool)
		for id := range 6 {
			system := strings.Repeat(fmt.Sprintf("you are agent %d; ", id), 400)
			req := openai.ChatCompletionNewParams{
				Model:    "gpt-4o-mini",
				Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(system), openai.UserMessage("hello")},
			}
			home := ask(req)
			targets[home] = true
			for turn := range 8 {
				time.Sleep(time.Minute)
				req.Messages = append(req.Messages, openai.AssistantMessage("hi"), openai.UserMessage(fmt.Sprint("go on ", turn)))
				if got := ask(req); got != home {
					t.Errorf("conversation %d went from %s to %s in turn %d", id, home, got, turn)
				}
				if u := f.lastCall(t).Usage; u.CachedInput < u.Input*9/10 {
					t.Errorf("conversation %d, turn %d: %d of %d tokens were cached", id, turn, u.CachedInput, u.Input)
				}
			}
		}
		if len(targets) < 2 {
			t.Errorf("all conversations went to %v, want them spread", targets)
		}
	})
}

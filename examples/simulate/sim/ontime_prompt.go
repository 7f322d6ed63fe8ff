package sim

import (
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
)

// bytesPerToken is that of English text.
const bytesPerToken = 4

// filler is what prompts are made of, after a beginning that is their own.
var filler = strings.Repeat("the quick brown fox jumps over a lazy dog, ", maxPrompt*bytesPerToken/40)

// prompts makes the messages of calls, so that a conversation's begin with those of
// its last call.
type prompts struct {
	conversations map[int]*conversation
}

type conversation struct {
	messages []openai.ChatCompletionMessageParamUnion
	prompt   int // tokens so far, the last answer apart
	output   int // of the last answer
}

func newPrompts([]Call) *prompts {
	return &prompts{conversations: make(map[int]*conversation)}
}

func (p *prompts) of(c *Call) []openai.ChatCompletionMessageParamUnion {
	if c.Conversation == 0 {
		return []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text(c.Number, 0, c.Prompt))}
	}
	v := p.conversations[c.Conversation]
	if v == nil {
		v = new(conversation)
		p.conversations[c.Conversation] = v
	}
	if len(v.messages) > 0 {
		v.add(openai.AssistantMessage(text(c.Conversation, len(v.messages), v.output)))
	}
	v.add(openai.UserMessage(text(c.Conversation, len(v.messages), c.Prompt-v.prompt-v.output)))
	v.prompt, v.output = c.Prompt, c.Output
	return v.messages
}

// add never writes where an earlier call's messages are.
func (v *conversation) add(m openai.ChatCompletionMessageParamUnion) {
	v.messages = append(v.messages[:len(v.messages):len(v.messages)], m)
}

// text is so many tokens that no other message begins with.
func text(conversation, message, tokens int) string {
	begin := fmt.Sprintf("%d.%d ", conversation, message)
	return begin + filler[:min(max(tokens*bytesPerToken-len(begin), 0), len(filler))]
}

package sim

import (
	"slices"
	"strconv"
	"strings"
)

// bytesPerToken is that of English text.
const bytesPerToken = 4

// filler is what prompts are made of, after a beginning that is their own.
var filler = strings.Repeat("the quick brown fox jumps over a lazy dog. ", maxPrompt*bytesPerToken/40)

// bodies makes the requests of calls, so that the messages of a conversation's call
// begin with those of its last one.
type bodies struct {
	conversations map[int]*conversation
}

type conversation struct {
	messages []byte // JSON
	count    int
	prompt   int // tokens so far, the last answer apart
	output   int // of the last answer
}

func newBodies() *bodies { return &bodies{conversations: make(map[int]*conversation)} }

// of has to be asked once for each call, in their order.
func (b *bodies) of(c *Call) []byte {
	v, who := new(conversation), -c.Number
	if c.Conversation != 0 {
		who = c.Conversation
		if b.conversations[who] != nil {
			v = b.conversations[who]
		}
		b.conversations[who] = v
	}
	if v.count > 0 {
		v.add("assistant", who, v.output)
	}
	v.add("user", who, c.Prompt-v.prompt-v.output)
	v.prompt, v.output = c.Prompt, c.Output
	body := make([]byte, 0, len(bodyHead)+len(v.messages)+len(bodyTail))
	return append(append(append(body, bodyHead...), v.messages...), bodyTail...)
}

const (
	bodyHead = `{"model":"` + model + `","stream":true,"stream_options":{"include_usage":true},"messages":[`
	bodyTail = `]}`
)

// add appends a message of so many tokens that begins like no other.
func (v *conversation) add(role string, who, tokens int) {
	begin := strconv.Itoa(who) + " " + strconv.Itoa(v.count) + " "
	rest := filler[:min(max(tokens*bytesPerToken-len(begin), 0), len(filler))]
	if v.count > 0 {
		v.messages = append(v.messages, ',')
	}
	v.messages = slices.Grow(v.messages, len(rest)+100)
	v.messages = append(v.messages, `{"role":"`...)
	v.messages = append(v.messages, role...)
	v.messages = append(v.messages, `","content":"`...)
	v.messages = append(v.messages, begin...)
	v.messages = append(v.messages, rest...)
	v.messages = append(v.messages, `"}`...)
	v.count++
}

package dialect

import "encoding/json"

// chat is OpenAI's chat completions, and everyone's who calls theirs compatible.
type chat struct{}

func (chat) Name() string { return "chat/completions" }

func (chat) Request(body []byte) (Request, error) { return readPlain(body) }

func (chat) NewReader() Reader { return &choiceReader{} }

func (chat) Answer(body []byte, ev *Event) error { return answerChoices(body, ev) }

// Stream gives each choice one chunk with all its content and one that ends it.
func (chat) Stream(answer []byte) []byte {
	a, ok := readChoices(answer)
	if !ok {
		return nil
	}
	a.top["object"] = quote("chat.completion.chunk")
	for i, choice := range a.choices {
		finish, index := take(choice, "finish_reason"), take(choice, "index")
		if index == nil {
			index = number(i)
		}
		choice["index"] = index
		choice["delta"] = chatDelta(take(choice, "message"))
		choice["finish_reason"] = null
		a.chunk(choice)
		a.chunk(object{"index": index, "delta": json.RawMessage("{}"), "finish_reason": orNull(finish)})
	}
	return a.end()
}

// chatDelta turns a message into the delta that brings all of it: a delta's tool
// calls say which they are.
func chatDelta(message json.RawMessage) json.RawMessage {
	var m object
	if json.Unmarshal(message, &m) != nil || m == nil {
		return json.RawMessage("{}")
	}
	if m["role"] == nil {
		m["role"] = quote("assistant")
	}
	var calls []object
	if json.Unmarshal(m["tool_calls"], &calls) == nil {
		for i, call := range calls {
			if call != nil {
				call["index"] = number(i)
			}
		}
		if calls != nil {
			m["tool_calls"] = encode(calls)
		}
	}
	return encode(m)
}

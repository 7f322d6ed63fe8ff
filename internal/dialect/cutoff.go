package dialect

import (
	"encoding/json"
)

// CutOff is what is known of a stream that we end ourselves, at its token cap.
type CutOff struct {
	// Last is the data of the last event that was passed on, one with content.
	Last []byte
	// Choices is how many choices were asked for.
	Choices int
	// Tokens is how many tokens came, an estimate.
	Tokens int
	// ID and Model are what the stream told of itself, where it did, and Created is
	// when it began, in Unix seconds.
	ID, Model string
	Created   int64
}

// CutOff ends each choice that has not ended with a chunk like the last one.
func (r *choiceReader) CutOff(c CutOff) []byte {
	var top object
	var choices []object
	if json.Unmarshal(c.Last, &top) != nil || top == nil {
		top = object{}
	}
	_ = json.Unmarshal(top["choices"], &choices)
	delete(top, "error")
	legacy := len(choices) > 0 && choices[0]["text"] != nil
	a := choicesAnswer{top: top}
	for i := range max(c.Choices, 1) {
		if i < 64 && r.ended&(1<<i) != 0 {
			continue
		}
		end := object{"index": number(i), "logprobs": null, "finish_reason": quote("length")}
		if legacy {
			end["text"] = quote("")
		} else {
			end["delta"] = json.RawMessage("{}")
		}
		a.chunk(end)
	}
	return appendEvent(a.out, "", []byte("[DONE]"))
}

// CutOff ends the block that the last event belongs to, and the message.
func (r *messagesReader) CutOff(c CutOff) []byte {
	var last object
	_ = json.Unmarshal(c.Last, &last)
	s := &messagesStream{}
	if index := last["index"]; index != nil {
		s.emit("content_block_stop", object{"index": index})
	}
	s.emit("message_delta", object{
		"delta": encode(object{"stop_reason": quote("max_tokens"), "stop_sequence": null}),
		"usage": encode(object{"output_tokens": number(max(c.Tokens, known(r.usage.output)))}),
	})
	s.emit("message_stop", object{})
	return s.out
}

// CutOff ends the response as an incomplete one. Its items do not end, and it has no
// output: the text was passed on and not kept. (Without that member, openai-go's
// accumulator takes what was streamed for the output.)
func (r *responsesReader) CutOff(c CutOff) []byte {
	var last struct {
		Sequence int `json:"sequence_number"`
	}
	_ = json.Unmarshal(c.Last, &last)
	s := &responsesStream{sequence: last.Sequence + 1}
	s.emit("response.incomplete", object{"response": encode(object{
		"id": quote(c.ID), "object": quote("response"), "created_at": number(int(c.Created)), "model": quote(c.Model),
		"status": quote("incomplete"), "incomplete_details": encode(object{"reason": quote("max_output_tokens")}),
		"error": null, "usage": null,
	})})
	return s.out
}

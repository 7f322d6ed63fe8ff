package dialect

import "bytes"

// Span is the half-open range of bytes [Start, End). The zero Span stands for
// something that is not there.
type Span struct{ Start, End int }

// Event is what one event of a stream, or a whole answer, brings. Its slices point
// into the data that it was read from, escapes not undone unless said otherwise.
type Event struct {
	// Content says that generated content of any choice is in it: text that is not
	// empty, reasoning, a refusal, audio, an image, or a tool call with a name or
	// arguments. Encrypted reasoning, signatures, roles and empty deltas are none.
	Content bool
	// Answer says that some of the content is something other than reasoning.
	Answer bool
	// Tokens is the number of tokens of the content, where the wire tells: by
	// logprobs, by token ids, or by usage that every event brings. 0: unknown.
	Tokens int
	// TextBytes is the length of the generated text, reasoning and tool calls
	// included, to estimate tokens from if no usage comes.
	TextBytes int
	// ReasoningText says that reasoning was streamed as text.
	ReasoningText bool

	// Choices is how many choices are in it, however empty, in the formats that
	// have choices.
	Choices int

	// Finish is why a choice ended: "stop", "length", "tool_calls",
	// "content_filter", "refusal", "error" or "other"; empty while none has.
	// FinishRaw is the provider's word for it.
	Finish    string
	FinishRaw []byte
	// Finished is how many choices ended in it that had not ended before.
	Finished int

	// HasUsage says that token counts came, in any spelling and place. Usage is
	// what is known with them: what came last counts, member by member.
	HasUsage bool
	Usage    Usage
	// UsageOnly says that it brings usage and nothing else, such as the chunk
	// that stream_options.include_usage asks for.
	UsageOnly bool

	// Terminal is the format's end marker; a whole answer has it too.
	Terminal bool
	// Noise says that the data is neither a JSON object nor [DONE].
	Noise bool

	// Err is the provider's error, if Err.Present.
	Err ErrorInfo
	// ErrorAt is the top-level "error" member in data with the comma that goes
	// with it, also if it says that there is none: then ErrorNull is set.
	ErrorAt   Span
	ErrorNull bool

	// Model is the model that answered, ID the id of the object that the provider
	// keeps of the answer (responses); nil where they are not told.
	Model, ID []byte
	// Timing is the provider's own.
	Timing Timing
}

// fail marks the event as an error.
func (ev *Event) fail(e ErrorInfo) {
	if !ev.Err.Present {
		ev.Err = e
	}
}

// finish takes in a finish reason. The first one counts; an empty one is none.
func (ev *Event) finish(raw []byte) {
	if len(raw) == 0 {
		return
	}
	ev.Finished++
	reason := finishReason(raw)
	if ev.Finish == "" {
		ev.Finish, ev.FinishRaw = reason, raw
	}
	if reason == "error" {
		ev.fail(finishError(raw))
	}
}

// errorMember takes in the value of an "error" member.
func (ev *Event) errorMember(c *cursor) {
	from := c.keyAt
	e, present := readErrorValue(c)
	if c.bad {
		return
	}
	if c.depth == 1 {
		ev.ErrorAt = memberSpan(c.data, from, c.at)
		ev.ErrorNull = !present
	}
	if present {
		ev.fail(e)
	}
}

// memberSpan widens the member data[from:to] of an object by the comma behind it,
// or by the one before it if it is the last.
func memberSpan(data []byte, from, to int) Span {
	rest := bytes.TrimLeft(data[to:], " \t\r\n")
	if len(rest) > 0 && rest[0] == ',' {
		return Span{from, len(data) - len(rest) + 1}
	}
	before := bytes.TrimRight(data[:from], " \t\r\n")
	if len(before) > 0 && before[len(before)-1] == ',' {
		return Span{len(before) - 1, to}
	}
	return Span{from, to}
}

// isDone reports whether data is the [DONE] marker, which some senders follow
// with more text.
func isDone(data []byte) bool {
	if len(data) > 0 && data[0] == '{' {
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t"), []byte("[DONE]"))
}

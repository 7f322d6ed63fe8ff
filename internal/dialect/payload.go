package dialect

// payload is the generated content found in one delta, message or item.
type payload struct {
	text      []byte // the content, where it is one string; may hold <think> tags
	size      int    // length of the text that it stands for
	answer    int    // bytes of other text that is no reasoning
	reasoning int    // bytes of reasoning; the longest of its spellings, which repeat each other
	silent    bool   // content that has no text: audio, images, a tool call
}

func (p *payload) empty() bool {
	return len(p.text) == 0 && p.answer == 0 && p.reasoning == 0 && !p.silent
}

// addTo puts the content into the event. t follows the tags in the choice's text;
// nil where there are none.
func (p *payload) addTo(ev *Event, t *think) {
	ev.Content = ev.Content || !p.empty()
	ev.TextBytes += p.size + p.answer + p.reasoning
	ev.ReasoningText = ev.ReasoningText || p.reasoning > 0
	ev.Answer = ev.Answer || p.answer > 0 || p.silent
	if len(p.text) == 0 {
		return
	}
	reasoning, answer := false, true
	if t != nil {
		reasoning, answer = t.feed(p.text)
	}
	ev.ReasoningText = ev.ReasoningText || reasoning
	ev.Answer = ev.Answer || answer
}

// delta reads what a chat completion brings: a delta of a stream or a message.
func (p *payload) delta(c *cursor) {
	c.open('{')
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "content":
			if c.peek() == '"' {
				p.text, p.size = c.text()
			} else {
				p.parts(c)
			}
		case "reasoning_content", "reasoning", "reasoning_details", "reasoning_text",
			"thinking", "thinking_blocks":
			p.reasoning = max(p.reasoning, measure(c))
		case "refusal":
			p.answer += measure(c)
		case "tool_calls":
			p.toolCalls(c)
		case "function_call":
			p.call(c)
		case "audio":
			p.audio(c)
		case "images":
			if c.open('[') {
				for c.element() {
					p.silent = true
					c.skip()
				}
			} else {
				c.skip()
			}
		default:
			c.skip()
		}
	}
}

// parts reads content that is made of typed parts.
func (p *payload) parts(c *cursor) {
	switch c.peek() {
	case '"':
		p.answer += c.textSize()
	case '[':
		c.open('[')
		for c.element() {
			p.parts(c)
		}
	case '{':
		p.part(c)
	default:
		c.skip()
	}
}

func (p *payload) part(c *cursor) {
	text, reasons := 0, false
	c.open('{')
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "type":
			switch string(c.str()) {
			case "thinking", "reasoning", "reasoning_text", "summary_text", "redacted_thinking":
				reasons = true
			}
		case "text", "content", "refusal", "transcript":
			text += measure(c)
		case "thinking", "reasoning", "summary":
			p.reasoning += measure(c)
		case "image_url", "b64_json":
			p.silent = c.present() || p.silent
		default:
			c.skip()
		}
	}
	if reasons {
		p.reasoning += text
	} else {
		p.answer += text
	}
}

func (p *payload) toolCalls(c *cursor) {
	if !c.open('[') {
		c.skip()
		return
	}
	for c.element() {
		if !c.open('{') {
			c.skip()
			continue
		}
		for key, ok := c.key(); ok; key, ok = c.key() {
			switch string(key) {
			case "function", "custom":
				p.call(c)
			default:
				c.skip()
			}
		}
	}
}

// call reads the object that names a function and its arguments.
func (p *payload) call(c *cursor) {
	if !c.open('{') {
		c.skip()
		return
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "name", "arguments", "input":
			p.argument(c)
		default:
			c.skip()
		}
	}
}

// argument reads a name or arguments, which some servers send as an object.
func (p *payload) argument(c *cursor) {
	switch c.peek() {
	case '"':
		p.answer += c.textSize()
	case '{', '[':
		if raw := c.value(); space(raw, 1) < len(raw)-1 { // not {}
			p.answer += len(raw)
		}
	default:
		c.skip()
	}
}

func (p *payload) audio(c *cursor) {
	if !c.open('{') {
		c.skip()
		return
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "data":
			p.silent = len(c.str()) > 0 || p.silent
		case "transcript":
			p.answer += c.textSize()
		default:
			c.skip()
		}
	}
}

// measure returns the length of the text in a value: a string, or arrays and
// objects with text in them, but not ids, signatures or encrypted data.
func measure(c *cursor) int {
	n := 0
	switch c.peek() {
	case '"':
		n = c.textSize()
	case '[':
		c.open('[')
		for c.element() {
			n += measure(c)
		}
	case '{':
		c.open('{')
		for key, ok := c.key(); ok; key, ok = c.key() {
			switch string(key) {
			case "text", "content", "thinking", "summary", "reasoning":
				n += measure(c)
			default:
				c.skip()
			}
		}
	default:
		c.skip()
	}
	return n
}

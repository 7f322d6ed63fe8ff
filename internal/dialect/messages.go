package dialect

// messages is Anthropic's messages.
type messages struct{}

func (messages) Name() string { return "messages" }

func (messages) Request(body []byte) (Request, error) { return readPlain(body) }

func (messages) NewReader() Reader { return &messagesReader{} }

func (messages) Answer(body []byte, ev *Event) error {
	*ev = Event{}
	m := message{ev: ev}
	c := cursor{data: body}
	if !m.read(&c) || !c.end() {
		*ev = Event{}
		return ErrNotJSON
	}
	if m.usage.some() {
		ev.HasUsage, ev.Usage = true, m.usage.messagesUsage()
	}
	ev.Terminal = true
	m.content.addTo(ev, nil)
	switch {
	case m.sawContent || ev.Err.Present:
		return nil
	case m.complaint.made():
		ev.fail(ReadError(body))
		return nil
	}
	return ErrNotAnswer
}

// message reads a message object: an answer, or what begins a stream.
type message struct {
	ev         *Event
	content    payload
	sawContent bool
	usage      counts
	complaint  complaint
}

// read reports whether the value is an object.
func (m *message) read(c *cursor) bool {
	if !c.open('{') {
		c.skip()
		return false
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "model":
			m.ev.Model = c.str()
		case "type":
			m.complaint.kind(c.str())
		case "content":
			m.sawContent = true
			m.blocks(c)
		case "stop_reason":
			m.ev.finish(c.str())
		case "usage":
			m.usage.read(c, &m.ev.Timing)
		case "error":
			m.ev.errorMember(c)
		default:
			m.complaint.read(key, c)
		}
	}
	return true
}

func (m *message) blocks(c *cursor) {
	if !c.open('[') {
		c.skip()
		return
	}
	for c.element() {
		m.content.block(c)
	}
}

// block reads a content block. The results of server-side tools come as blocks
// too, but the model did not write them.
func (p *payload) block(c *cursor) {
	if !c.open('{') {
		c.skip()
		return
	}
	var call payload
	uses := false
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "type":
			switch string(c.str()) {
			case "tool_use", "server_tool_use", "mcp_tool_use":
				uses = true
			}
		case "text":
			p.answer += c.textSize()
		case "thinking":
			p.reasoning += c.textSize()
		case "name", "input":
			call.argument(c)
		default:
			c.skip()
		}
	}
	if uses {
		p.answer += call.answer
	}
}

// messagesReader reads the events of one stream.
type messagesReader struct {
	usage counts // what is known; message_delta brings only what has changed
}

// messagesEvent is what one event holds.
type messagesEvent struct {
	ev        *Event
	typ       []byte
	content   payload
	usage     counts
	complaint complaint
}

// Read reads one event. Its type is in the data; proxies lose the event's name.
func (r *messagesReader) Read(name, data []byte, ev *Event) {
	*ev = Event{}
	if isDone(data) {
		ev.Terminal = true
		return
	}
	e := messagesEvent{ev: ev, typ: name}
	if !e.read(data) {
		unreadable(name, data, ev)
		return
	}
	if e.complaint.made() || string(name) == "error" {
		ev.fail(ReadError(data))
		return
	}
	ev.Terminal = string(e.typ) == "message_stop"
	e.content.addTo(ev, nil)
	if e.usage.some() {
		r.usage.merge(&e.usage)
		ev.HasUsage, ev.Usage = true, r.usage.messagesUsage()
	}
}

// read reports whether data is an object.
func (e *messagesEvent) read(data []byte) bool {
	c := cursor{data: data}
	if !c.open('{') {
		return false
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "type":
			if typ := c.str(); len(typ) > 0 {
				e.typ = typ
				e.complaint.kind(typ)
			}
		case "message":
			m := message{ev: e.ev}
			m.read(&c)
			e.usage.merge(&m.usage)
			e.content = m.content
		case "content_block":
			e.content.block(&c)
		case "delta":
			e.delta(&c)
		case "usage":
			e.usage.read(&c, &e.ev.Timing)
		case "error":
			e.ev.errorMember(&c)
		case "index":
			c.skip()
		default:
			e.complaint.read(key, &c)
		}
	}
	return c.end()
}

// delta reads the delta of a block, or of the message.
func (e *messagesEvent) delta(c *cursor) {
	if !c.open('{') {
		c.skip()
		return
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "text", "partial_json":
			e.content.answer += c.textSize()
		case "thinking":
			e.content.reasoning += c.textSize()
		case "stop_reason":
			e.ev.finish(c.str())
		default:
			c.skip()
		}
	}
}

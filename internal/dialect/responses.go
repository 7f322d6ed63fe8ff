package dialect

import "bytes"

// responses is OpenAI's responses.
type responses struct{}

func (responses) Name() string { return "responses" }

func (responses) Request(body []byte) (Request, error) { return readPlain(body) }

func (responses) NewReader() Reader { return &responsesReader{} }

func (responses) Answer(body []byte, ev *Event) error {
	*ev = Event{}
	r := response{ev: ev, items: true}
	c := cursor{data: body}
	if !r.read(&c) || !c.end() {
		*ev = Event{}
		return ErrNotJSON
	}
	ev.Terminal = true
	r.settle()
	r.output.addTo(ev, nil)
	switch {
	case r.sawOutput || ev.Err.Present:
		return nil
	case r.complaint.made():
		ev.fail(ReadError(body))
		return nil
	}
	return ErrNotAnswer
}

// response reads a response object: an answer, or what an event has of it.
type response struct {
	ev        *Event
	items     bool // read the output
	output    payload
	sawOutput bool
	status    []byte
	reason    []byte // why it is incomplete
	usage     counts
	complaint complaint
}

// read reports whether the value is an object.
func (r *response) read(c *cursor) bool {
	if !c.open('{') {
		c.skip()
		return false
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "id":
			r.ev.ID = c.str()
		case "model":
			r.ev.Model = c.str()
		case "object", "type":
			r.complaint.kind(c.str())
		case "status":
			r.status = c.str()
		case "incomplete_details":
			r.reason = readReason(c)
		case "error":
			r.ev.errorMember(c)
		case "usage":
			r.usage.read(c, &r.ev.Timing)
		case "output":
			r.sawOutput = true
			r.readOutput(c)
		default:
			r.complaint.read(key, c)
		}
	}
	return true
}

func (r *response) readOutput(c *cursor) {
	if !r.items || !c.open('[') {
		c.skip()
		return
	}
	for c.element() {
		r.output.item(c)
	}
}

func readReason(c *cursor) (reason []byte) {
	if !c.open('{') {
		c.skip()
		return nil
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		if string(key) == "reason" {
			reason = c.str()
		} else {
			c.skip()
		}
	}
	return reason
}

// settle turns status and usage into the event's.
func (r *response) settle() {
	if r.usage.some() {
		r.ev.HasUsage, r.ev.Usage = true, r.usage.usage()
	}
	switch string(r.status) {
	case "incomplete":
		r.ev.finish(r.reason)
		if r.ev.Finish == "" {
			r.ev.Finish, r.ev.FinishRaw = "other", r.status
		}
	case "completed", "failed", "cancelled":
		r.ev.finish(r.status)
	}
}

// item reads one item of the output, which is content unless the provider made it,
// such as the results of its tools.
func (p *payload) item(c *cursor) {
	if !c.open('{') {
		c.skip()
		return
	}
	var typ []byte
	var in payload
	reasoning := 0
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "type":
			typ = c.str()
		case "content":
			in.parts(c)
		case "summary":
			reasoning += measure(c)
		case "name", "arguments", "input", "code", "action", "operation":
			in.argument(c)
		case "result", "b64_json":
			in.silent = len(c.str()) > 0 || in.silent
		default:
			c.skip()
		}
	}
	switch string(typ) {
	case "reasoning":
		p.reasoning += max(reasoning, in.reasoning)
	case "message", "function_call", "custom_tool_call", "mcp_call", "code_interpreter_call",
		"computer_call", "local_shell_call", "shell_call", "apply_patch_call", "image_generation_call":
		p.answer += in.answer
		p.reasoning += in.reasoning
		p.silent = p.silent || in.silent
	}
}

// responsesReader reads the events of one stream.
type responsesReader struct {
	begun   uint64 // items that content came of; the last bit is for the 64th and all further ones
	content bool   // there was content before
}

// responsesEvent is what one event holds.
type responsesEvent struct {
	typ      []byte
	index    int     // of the item
	delta    int     // length of the text in a delta
	text     int     // length of the whole text, where a part of an item ends
	item     payload // of an item that begins or ends
	image    bool
	response response

	complaint complaint
}

// Read reads one event.
func (r *responsesReader) Read(name, data []byte, ev *Event) {
	*ev = Event{}
	if isDone(data) {
		ev.Terminal = true
		return
	}
	e := responsesEvent{typ: name}
	e.response = response{ev: ev, items: !r.content}
	if !e.read(data) {
		unreadable(name, data, ev)
		return
	}
	if e.complaint.made() || string(name) == "error" {
		ev.fail(ReadError(data))
		return
	}
	var p payload
	if e.isLast() {
		ev.Terminal = true
		e.response.settle()
		if !r.content { // it came all at once
			p = e.response.output
		}
	} else {
		p = r.piece(&e)
	}
	p.addTo(ev, nil)
	r.content = r.content || ev.Content
}

// read reports whether data is an object.
func (e *responsesEvent) read(data []byte) bool {
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
		case "output_index":
			if v, ok := c.num(); ok && v >= 0 {
				e.index = int(min(v, 63))
			}
		case "delta":
			e.delta = measure(&c)
		case "text", "arguments", "refusal", "input", "transcript":
			e.text = max(e.text, measure(&c))
		case "partial_image_b64":
			e.image = len(c.str()) > 0
		case "item":
			e.item.item(&c)
		case "response":
			e.response.read(&c)
		case "error":
			e.response.ev.errorMember(&c)
		case "sequence_number", "item_id", "content_index", "logprobs", "obfuscation":
			c.skip()
		default:
			e.complaint.read(key, &c)
		}
	}
	return c.end()
}

// isLast reports whether the event ends the stream. Its type tells the response's
// status, if the response itself does not.
func (e *responsesEvent) isLast() bool {
	switch string(e.typ) {
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		if e.response.status == nil {
			e.response.status = e.typ[len("response."):]
		}
		return true
	case "response.done":
		return true
	}
	return false
}

var (
	deltaSuffix     = []byte(".delta")
	doneSuffix      = []byte(".done")
	reasoningPrefix = []byte("response.reasoning")
)

// piece returns the content of an event inside the stream. What begins or ends an
// item, or a part of one, repeats its deltas: it is content only where none came.
func (r *responsesReader) piece(e *responsesEvent) (p payload) {
	bit := uint64(1) << e.index
	text := 0
	switch {
	case bytes.HasSuffix(e.typ, deltaSuffix):
		text = e.delta
	case e.image:
		p.silent = true
	case r.begun&bit != 0:
	case bytes.HasSuffix(e.typ, doneSuffix), string(e.typ) == "response.output_item.added":
		p, text = e.item, e.text
	}
	if bytes.HasPrefix(e.typ, reasoningPrefix) {
		p.reasoning += text
	} else {
		p.answer += text
	}
	if !p.empty() {
		r.begun |= bit
	}
	return p
}

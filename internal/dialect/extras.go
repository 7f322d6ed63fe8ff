package dialect

// unreadable fills ev for data that is no JSON object: an error if the event is
// named so, or an array of errors, else noise.
func unreadable(name, data []byte, ev *Event) {
	*ev = Event{}
	if string(name) == "error" {
		ev.Err = ReadError(data)
		ev.Err.Present = true
		return
	}
	c := cursor{data: data}
	if c.peek() == '[' {
		if e, present := readErrorValue(&c); present && c.end() && e.Message != nil {
			ev.Err = e
			return
		}
	}
	ev.Noise = true
}

// complaint notices the members of an error that stands at the top level, in place
// of what was asked for.
type complaint struct{ told, coded bool }

// made reports whether there is such an error.
func (k *complaint) made() bool { return k.told && k.coded }

// kind takes in the word that says what an object is.
func (k *complaint) kind(word []byte) {
	if string(word) == "error" {
		k.told, k.coded = true, true
	}
}

// read takes in a member that a good answer has no use for.
func (k *complaint) read(key []byte, c *cursor) {
	switch string(key) {
	case "detail":
		k.told = c.present() || k.told
		k.coded = k.told || k.coded
	case "message", "msg":
		k.told = c.present() || k.told
	case "code", "error_code", "status_code":
		k.coded = c.present() || k.coded
	default:
		c.skip()
	}
}

// countLogprobs counts the tokens that a choice's logprobs describe.
func countLogprobs(c *cursor) int {
	if !c.open('{') {
		c.skip()
		return 0
	}
	n := 0
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "content", "refusal", "tokens":
			n += countElements(c)
		default:
			c.skip()
		}
	}
	return n
}

func countElements(c *cursor) int {
	if !c.open('[') {
		c.skip()
		return 0
	}
	n := 0
	for c.element() {
		n++
		c.skip()
	}
	return n
}

// readGroq reads what Groq adds to a chunk: usage, which may be there and nowhere
// else, and an error.
func (k *chunk) readGroq(c *cursor) {
	if !c.open('{') {
		c.skip()
		return
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "usage":
			k.within.read(c, &k.ev.Timing)
		case "error":
			if e, present := readErrorValue(c); present {
				k.ev.fail(e)
			}
		default:
			c.skip()
		}
	}
}

// readBaseResponse reads MiniMax's way to tell an error: a status that is not 0.
func (ev *Event) readBaseResponse(c *cursor) {
	if !c.open('{') {
		c.skip()
		return
	}
	e := ErrorInfo{Present: true, Status: 500}
	failed := false
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "status_code":
			code := c.value()
			n := cursor{data: code}
			v, isNumber := n.num()
			failed = string(code) != "null" && !(isNumber && v == 0)
			e.Code = clean(code)
		case "status_msg":
			e.message(c)
		default:
			c.skip()
		}
	}
	if !failed {
		return
	}
	switch e.Code {
	case "1001":
		e.Status = 504
	case "1002", "1039":
		e.Status = 429
	case "1004", "2049":
		e.Status = 401
	case "1008":
		e.Status = 402
	case "1026", "1027", "2013":
		e.Status = 400
	}
	ev.fail(e)
}

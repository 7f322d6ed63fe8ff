package dialect

// choiceReader reads the events of chat completions and of legacy completions,
// which servers mix.
type choiceReader struct {
	opening opening
	usage   counts
	thinks  [8]think // by choice; the text of further choices is taken as it is
	content bool     // there was content before
	reasons bool     // reasoning was streamed as text
	counted bool     // the last event with content told the tokens so far
	tokens  int      // those tokens
	ended   uint64   // bits of the choices that have finished
}

// chunk is what an event or an answer holds beside what goes straight into Event.
type chunk struct {
	ev            *Event
	choices       int    // number of choices
	sawChoices    bool   // a choices member, whatever is in it
	sawUsage      bool   // a usage object at the top level
	usage, within counts // at the top level; in a choice or in x_groq
	object        []byte
	messages      bool // content of messages in place of deltas
	deltas        bool // content of deltas
	complaint     complaint
}

// Read reads one event.
func (r *choiceReader) Read(name, data []byte, ev *Event) {
	*ev = Event{}
	if isDone(data) {
		ev.Terminal = true
		return
	}
	k := chunk{ev: ev}
	before := r.thinks
	if !r.read(data, &k) {
		r.thinks = before
		unreadable(name, data, ev)
		return
	}
	// A message is a delta by another name, unless it repeats what was streamed.
	if r.content && k.messages && !k.deltas && isWhole(k.object) {
		ev.Content, ev.Answer, ev.ReasoningText, ev.TextBytes = false, false, false, 0
	}
	ev.Choices = k.choices
	r.settle(&k)
	if string(name) == "error" || !k.sawChoices && k.complaint.made() {
		ev.fail(ReadError(data))
	}
	ev.UsageOnly = k.sawUsage && k.choices == 0 && !ev.Err.Present
}

// read reads an object into k. It reports whether that is what data holds.
func (r *choiceReader) read(data []byte, k *chunk) bool {
	c := cursor{data: data}
	ev := k.ev
	if !c.open('{') {
		return false
	}
	key, ok, inside := r.opening.read(&c, k)
	if inside {
		r.choices(&c, k, true)
		key, ok = c.key()
	}
	for ; ok; key, ok = c.key() {
		switch string(key) {
		case "choices":
			r.choices(&c, k, false)
		case "usage":
			k.sawUsage = k.usage.read(&c, &ev.Timing) || k.sawUsage
		case "model":
			ev.Model = c.str()
		case "object":
			k.object = c.str()
			k.complaint.kind(k.object)
		case "type":
			k.complaint.kind(c.str())
		case "error":
			ev.errorMember(&c)
		case "x_groq":
			k.readGroq(&c)
		case "latency_checkpoint", "sla_metrics", "time_info", "timings":
			ev.Timing.read(&c)
		case "base_resp":
			ev.readBaseResponse(&c)
		default:
			k.complaint.read(key, &c)
		}
	}
	return c.end()
}

// choices reads the choices; inside says that the cursor is inside the first one,
// where the opening ends.
func (r *choiceReader) choices(c *cursor, k *chunk, inside bool) {
	k.sawChoices = true
	if inside {
		r.choice(c, k, r.opening.index)
	} else if !c.open('[') {
		c.skip()
		return
	}
	for c.element() {
		if c.open('{') {
			r.choice(c, k, 0)
		} else {
			c.skip()
		}
	}
}

// source is where a choice's content stands. A delta goes before a message, which
// may repeat the whole stream so far.
type source uint8

const (
	noSource source = iota
	textSource
	messageSource
	deltaSource
)

// choice reads the rest of a choice, whose index is known if it is not 0.
func (r *choiceReader) choice(c *cursor, k *chunk, index int) {
	k.choices++
	var p payload
	var from source
	var finish []byte
	tokens := 0
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "index":
			if v, ok := c.num(); ok {
				index = int(v)
			}
		case "delta":
			p.source(c, &from, deltaSource)
		case "message":
			p.source(c, &from, messageSource)
		case "text":
			if text, size := c.text(); from <= textSource {
				p.text, p.size, from = text, size, textSource
			}
		case "finish_reason":
			finish = c.str()
		case "logprobs":
			tokens = max(tokens, countLogprobs(c))
		case "token_ids":
			tokens = max(tokens, countElements(c))
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
	k.ev.Tokens += tokens
	k.ev.finish(finish)
	if len(finish) > 0 && index >= 0 && index < 64 {
		if r.ended&(1<<index) != 0 {
			k.ev.Finished-- // some say it again with the usage
		}
		r.ended |= 1 << index
	}
	if !p.empty() {
		k.messages = k.messages || from == messageSource
		k.deltas = k.deltas || from != messageSource
		p.addTo(k.ev, r.think(index))
	}
}

// source reads the content of a delta or message, if it goes before what is known.
func (p *payload) source(c *cursor, known *source, from source) {
	if *known > from || c.peek() != '{' {
		c.skip()
		return
	}
	*p, *known = payload{}, from
	p.delta(c)
}

// think returns where the tags in the text of a choice are followed, nil for one
// of the many choices that there is no room for.
func (r *choiceReader) think(index int) *think {
	if index < 0 || index >= len(r.thinks) {
		return nil
	}
	return &r.thinks[index]
}

// answerChoices reads a whole answer that has choices.
func answerChoices(body []byte, ev *Event) error {
	*ev = Event{}
	var r choiceReader
	k := chunk{ev: ev}
	if !r.read(body, &k) {
		*ev = Event{}
		return ErrNotJSON
	}
	r.settle(&k)
	ev.Terminal = true
	if k.sawChoices || ev.Err.Present {
		return nil
	}
	if k.complaint.made() {
		ev.fail(ReadError(body))
		return nil
	}
	return ErrNotAnswer
}

// settle brings the event's usage and tokens up to date with the stream.
func (r *choiceReader) settle(k *chunk) {
	ev, u := k.ev, &k.usage
	if !u.some() {
		u = &k.within
	}
	r.reasons = r.reasons || ev.ReasoningText
	if u.some() {
		r.usage.merge(u)
		ev.HasUsage, ev.Usage = true, r.usage.usage()
	}
	if !ev.Content {
		ev.Tokens = 0
		return
	}
	// Usage on every event with content counts the tokens of each.
	if ev.HasUsage {
		sent := ev.Usage.Output
		if !r.reasons {
			sent -= ev.Usage.Reasoning
		}
		if ev.Tokens == 0 && (r.counted || !r.content) {
			ev.Tokens = max(sent-r.tokens, 0)
		}
		r.tokens = sent
	}
	r.counted, r.content = ev.HasUsage, true
}

// isWhole reports whether an object of that kind is a complete answer.
func isWhole(object []byte) bool {
	switch string(object) {
	case "chat.completion", "chat.completion.done":
		return true
	}
	return false
}

package dialect

// embeddings is OpenAI's embeddings, which are never streamed.
type embeddings struct{}

func (embeddings) Name() string { return "embeddings" }

func (embeddings) Request(body []byte) (Request, error) {
	r, err := readRequest(body, false)
	if err != nil {
		return Request{}, err
	}
	return r.Request, nil
}

// NewReader returns a reader for what should not come: it finds errors and usage.
func (embeddings) NewReader() Reader { return &choiceReader{} }

// Answer takes an answer with at least one embedding for content.
func (embeddings) Answer(body []byte, ev *Event) error {
	*ev = Event{}
	k := chunk{ev: ev}
	vectors, ok := readEmbeddings(body, &k)
	if !ok {
		*ev = Event{}
		return ErrNotJSON
	}
	if k.usage.some() {
		ev.HasUsage, ev.Usage = true, k.usage.usage()
	}
	ev.Terminal = true
	ev.Content = vectors > 0
	ev.Answer = ev.Content
	switch {
	case ev.Content || ev.Err.Present:
		return nil
	case k.complaint.made():
		ev.fail(ReadError(body))
		return nil
	}
	return ErrNotAnswer
}

func readEmbeddings(body []byte, k *chunk) (vectors int, ok bool) {
	c := cursor{data: body}
	if !c.open('{') {
		return 0, false
	}
	for key, more := c.key(); more; key, more = c.key() {
		switch string(key) {
		case "data":
			vectors = countElements(&c)
		case "usage":
			k.usage.read(&c, &k.ev.Timing)
		case "model":
			k.ev.Model = c.str()
		case "error":
			k.ev.errorMember(&c)
		case "object", "type":
			k.complaint.kind(c.str())
		default:
			k.complaint.read(key, &c)
		}
	}
	return vectors, c.end()
}

// Stream returns nil: embeddings are never streamed.
func (embeddings) Stream([]byte) []byte { return nil }

package dialect

import "bytes"

// opening is how the events of a stream begin: ids and names, up to inside the
// first choice, byte by byte the same in most. What was read from it once is not
// read again, which halves the work per event.
type opening struct {
	text          [256]byte
	size          int // of text; 0: none is known
	model, object Span
	index         int // of the first choice, if it comes first

	// How the cursor stands behind it.
	at    int
	depth int
	first bool
}

// read reads the members that a chunk begins with and returns the first key that
// is none of them, as cursor.key does. If it went inside the first choice there is
// no key: the rest of that choice is next.
func (o *opening) read(c *cursor, k *chunk) (key []byte, ok, inside bool) {
	if o.size > 0 && bytes.HasPrefix(c.data, o.text[:o.size]) {
		k.ev.Model = o.model.of(c.data)
		k.object = o.object.of(c.data)
		c.at, c.depth, c.first = o.at, o.depth, o.first
		if o.depth > 1 {
			return nil, true, true
		}
		key, ok = c.key()
		return key, ok, false
	}
	next := opening{}
	end := 0
	for key, ok = c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "model":
			k.ev.Model, next.model = c.strAt()
		case "object":
			k.object, next.object = c.strAt()
			k.complaint.kind(k.object)
		case "id", "created", "system_fingerprint", "service_tier", "provider":
			c.skip()
		default:
			if !k.complaint.made() && next.end(*c, key, end) {
				next.size = copy(next.text[:], c.data[:next.size])
				*o = next
			}
			return key, ok, false
		}
		end = c.at
	}
	return key, ok, false
}

// end settles where the opening ends: in the first choice, behind its index if it
// begins with it, or else behind the members that end at end. The cursor, a copy,
// is at the value of key. It reports whether there is an opening, and room for it.
func (o *opening) end(c cursor, key []byte, end int) bool {
	if string(key) == "choices" && c.open('[') && c.element() && c.open('{') {
		o.at, o.depth, o.first = c.at, c.depth, true
		o.size = c.at
		if key, ok := c.key(); ok && string(key) == "index" {
			if v, ok := c.num(); ok && c.peek() == ',' {
				o.index = int(v)
				o.at, o.first = c.at, false
				o.size = c.at + 1
			}
		}
	} else if end > 0 {
		o.at, o.depth = space(c.data, end), 1
		o.size = o.at + 1
	}
	return 0 < o.size && o.size <= len(o.text)
}

// of returns the part of data; nil for the zero Span.
func (s Span) of(data []byte) []byte {
	if s == (Span{}) {
		return nil
	}
	return data[s.Start:s.End]
}

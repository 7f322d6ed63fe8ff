package dialect

// maxDepth is how deep values may nest, as in encoding/json.
const maxDepth = 10000

// cursor walks once over JSON text. It accepts what encoding/json accepts. After
// the first error every method returns the zero value, every loop ends, and end
// reports false; what was read until then must not be used.
type cursor struct {
	data  []byte
	at    int
	depth int
	keyAt int  // where the last key's first quote is
	first bool // an object or array was opened and nothing was read from it yet
	bad   bool
	keys  [32]byte // an escaped key, decoded
}

func (c *cursor) fail() {
	c.bad = true
	c.at = len(c.data)
}

// space returns the first index from i on that holds no white space.
func space(d []byte, i int) int {
	for i < len(d) && d[i] <= ' ' && isSpace(d[i]) {
		i++
	}
	return i
}

// peek steps over white space and returns the byte behind it, 0 at the end.
func (c *cursor) peek() byte {
	c.at = space(c.data, c.at)
	if c.at == len(c.data) {
		return 0
	}
	return c.data[c.at]
}

// end reports whether one whole value was read and nothing follows it.
func (c *cursor) end() bool {
	return c.peek() == 0 && c.at == len(c.data) && c.depth == 0 && !c.bad
}

// open enters the value if it is of that kind, '{' or '['.
func (c *cursor) open(kind byte) bool {
	if c.peek() != kind {
		return false
	}
	if c.depth++; c.depth > maxDepth {
		c.fail()
		return false
	}
	c.at++
	c.first = true
	return true
}

// key returns the next member's name and stands before its value, which must be
// read or skipped; at the end of the object it leaves it and reports false. The
// name is valid until the next call of key.
func (c *cursor) key() ([]byte, bool) {
	d := c.data
	i := space(d, c.at)
	first := c.first
	c.first = false
	if i < len(d) && d[i] == '}' {
		c.at = i + 1
		c.depth--
		return nil, false
	}
	if !first {
		if i == len(d) || d[i] != ',' {
			c.fail()
			return nil, false
		}
		i = space(d, i+1)
	}
	if i == len(d) || d[i] != '"' {
		c.fail()
		return nil, false
	}
	c.keyAt = i
	end, escaped := textEnd(d, i)
	if end < 0 {
		c.fail()
		return nil, false
	}
	name := d[i+1 : end-1]
	if i = space(d, end); i == len(d) || d[i] != ':' {
		c.fail()
		return nil, false
	}
	c.at = i + 1
	if escaped && len(name) <= 6*len(c.keys) {
		name = appendText(c.keys[:0], name)
	}
	return name, true
}

// element stands before the array's next element, which must be read or skipped;
// at the end of the array it leaves it and reports false.
func (c *cursor) element() bool {
	d := c.data
	i := space(d, c.at)
	first := c.first
	c.first = false
	switch {
	case i == len(d):
	case d[i] == ']':
		c.at = i + 1
		c.depth--
		return false
	case first:
		c.at = i
		return true
	case d[i] == ',':
		c.at = i + 1
		return true
	}
	c.fail()
	return false
}

// skip steps over any value.
func (c *cursor) skip() {
	switch c.peek() {
	case '"':
		c.str()
	case '{':
		if c.open('{') {
			for _, ok := c.key(); ok; _, ok = c.key() {
				c.skip()
			}
		}
	case '[':
		if c.open('[') {
			for c.element() {
				c.skip()
			}
		}
	case 't':
		c.literal("true")
	case 'f':
		c.literal("false")
	case 'n':
		c.literal("null")
	default:
		c.step(numberEnd(c.data, c.at))
	}
}

// step moves to the end of a value, -1 if it is none.
func (c *cursor) step(end int) bool {
	if end < 0 {
		c.fail()
		return false
	}
	c.at = end
	return true
}

func (c *cursor) literal(word string) bool {
	if len(c.data)-c.at < len(word) || string(c.data[c.at:c.at+len(word)]) != word {
		c.fail()
		return false
	}
	c.at += len(word)
	return true
}

// null steps over the value if it is null.
func (c *cursor) null() bool { return c.peek() == 'n' && c.literal("null") }

// present steps over the value and reports whether it is something other than null.
func (c *cursor) present() bool {
	if c.null() {
		return false
	}
	c.skip()
	return true
}

// str returns the inside of a string, escapes not undone, or steps over a value of
// another kind and returns nil. An empty string is not nil.
func (c *cursor) str() []byte {
	if c.peek() != '"' {
		c.skip()
		return nil
	}
	from := c.at
	end, _ := textEnd(c.data, from)
	if !c.step(end) {
		return nil
	}
	return c.data[from+1 : end-1]
}

// text is str, and tells how long the text is that the string stands for.
func (c *cursor) text() (raw []byte, size int) {
	if c.peek() != '"' {
		c.skip()
		return nil, 0
	}
	from := c.at
	end, escaped := textEnd(c.data, from)
	if !c.step(end) {
		return nil, 0
	}
	raw = c.data[from+1 : end-1]
	if escaped {
		return raw, textLen(raw)
	}
	return raw, len(raw)
}

// textSize steps over any value and returns the length of its text if it is a
// string.
func (c *cursor) textSize() int {
	_, size := c.text()
	return size
}

// strAt is str, and tells where the string is; the zero Span if it is none.
func (c *cursor) strAt() ([]byte, Span) {
	raw := c.str()
	if raw == nil {
		return nil, Span{}
	}
	return raw, Span{c.at - 1 - len(raw), c.at - 1}
}

// num returns a number, or steps over a value of another kind.
func (c *cursor) num() (float64, bool) {
	if b := c.peek(); b != '-' && (b < '0' || b > '9') {
		c.skip()
		return 0, false
	}
	from := c.at
	if !c.step(numberEnd(c.data, from)) {
		return 0, false
	}
	return parseNumber(c.data[from:c.at]), true
}

// value steps over any value and returns its text.
func (c *cursor) value() []byte {
	c.peek()
	from := c.at
	c.skip()
	if c.bad {
		return nil
	}
	return c.data[from:c.at]
}

package dialect

import "strings"

// Models without a reasoning channel write their reasoning into the text, between
// tags at its very start.
var thinkTags = [...]struct{ open, close string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
}

// think tells reasoning from answer in one choice's text as it comes in, whatever
// the borders of the events. The zero value is for the start of the text.
type think struct {
	state thinkState
	tag   uint8 // which of thinkTags, while inside
	n     uint8 // bytes of a tag seen so far; while opening, those in seen
	seen  [10]byte
}

type thinkState uint8

const (
	thinkOpening thinkState = iota // white space and a part of an opening tag so far
	thinkInside
	thinkClosed // behind the closing tag, white space so far
	thinkOver   // the rest is answer
)

// feed takes in a piece of text, the inside of a JSON string, that is not empty.
// It reports whether reasoning, and whether answer, is in it. A piece that may yet
// turn out to be a tag counts as reasoning; white space around the reasoning
// belongs to it.
func (t *think) feed(raw []byte) (reasoning, answer bool) {
	if t.state == thinkOver {
		return false, true
	}
	for len(raw) > 0 {
		b, n := nextByte(raw)
		raw = raw[n:]
		switch t.state {
		case thinkOpening:
			if t.n == 0 && isSpace(b) {
				continue
			}
			t.seen[t.n] = b
			t.n++
			if !t.opening() {
				t.state = thinkOver
				return reasoning, true
			}
			reasoning = true
		case thinkInside:
			reasoning = true
			t.inside(b)
		case thinkClosed:
			if !isSpace(b) {
				t.state = thinkOver
				return reasoning, true
			}
			reasoning = true
		}
	}
	// Nothing but white space before anything else: text like any other.
	return reasoning, !reasoning
}

// opening reports whether what was seen is, or may become, an opening tag.
func (t *think) opening() bool {
	seen := string(t.seen[:t.n])
	for i, tag := range thinkTags {
		if seen == tag.open {
			t.state, t.tag, t.n = thinkInside, uint8(i), 0
			return true
		}
		if strings.HasPrefix(tag.open, seen) {
			return true
		}
	}
	return false
}

// inside looks for the closing tag. Its first byte comes once only in it, so a
// mismatch begins anew.
func (t *think) inside(b byte) {
	tag := thinkTags[t.tag].close
	if b != tag[t.n] {
		t.n = 0
	}
	if b == tag[t.n] {
		t.n++
	}
	if int(t.n) == len(tag) {
		t.state, t.n = thinkClosed, 0
	}
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }

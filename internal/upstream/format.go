package upstream

import "strconv"

// format writes answers in one wire format. The methods append to dst and return it.
type format interface {
	whole(dst []byte, a *answer) []byte // the answer to a call that is not streamed
}

// streamFormat is a format that also knows streams.
type streamFormat interface {
	format
	preamble(dst []byte, a *answer) []byte         // what comes before any content
	content(dst []byte, a *answer, d delta) []byte // one content event, of every choice
	finish(dst []byte, a *answer) []byte           // finish reason, usage, end marker
	failure(dst []byte, a *answer) []byte          // an error event
}

// Text returns what a good answer of n tokens says: the server's name and then the numbers from 2 to n, so that a token that was
// lost, doubled or said by another server shows.
func (s *Server) Text(n int) string { return string(appendText(nil, s.name, 0, n)) }

// thought is the first token of a reasoning.
const thought = "hm"

// appendText appends the tokens from..to (half open). All of them can stand in a JSON string as they are.
func appendText(dst []byte, first string, from, to int) []byte {
	for i := from; i < to; i++ {
		if i == 0 {
			dst = append(dst, first...)
			continue
		}
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, int64(i+1), 10)
	}
	return dst
}

// text appends what a content event says.
func (a *answer) text(dst []byte, d delta) []byte {
	if d.reasoning {
		return appendText(dst, thought, d.from, d.to)
	}
	return appendText(dst, a.name, d.from, d.to)
}

// said is the whole answer, and thoughts the reasoning if it is shown.
func (a *answer) said() []byte { return appendText(nil, a.name, 0, a.output) }

func (a *answer) thoughts() []byte { return appendText(nil, thought, 0, a.shown()) }

// tokens returns what usage tells: output includes reasoning, over all choices.
func (a *answer) tokens() (output, reasoning int) {
	return (a.reasoning + a.output) * a.choices, a.reasoning * a.choices
}

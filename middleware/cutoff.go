package middleware

import "github.com/ontime-llm/ontime/internal/dialect"

const (
	// mostBytes is how many bytes of text a token has at most, on average over an
	// answer. The tokens themselves are counted at the end, if at all. (With o200k,
	// whose tokens are the longest in use: 5 in English, 9 in Hindi and Georgian,
	// 12 in deeply indented code and in tables.)
	mostBytes = 16

	// overshoot is how many tokens past its cap an answer may be and still end by
	// itself.
	overshoot = 64

	// leastThought is what reasoning may come to, whatever the cap: some providers
	// do not count it against theirs.
	leastThought = 32768

	warnPast = "answer ran past its token cap"
	warnCut  = "answer ran past its token cap and was cut off"
)

// bound is how much of an answer may come before it is certain that its provider
// ignores the cap, in sixteenths of a token: bytes, where tokens are not told. The
// zero value bounds nothing.
type bound struct{ answer, thought int }

// boundOf is the bound of so many choices with a cap of limit tokens each.
func boundOf(limit, choices int) bound {
	if limit <= 0 || limit > 1<<30 || choices > 1<<20 {
		return bound{}
	}
	choices = max(choices, 1)
	return bound{
		answer:  mostBytes * (choices*limit + overshoot),
		thought: mostBytes * (choices*max(limit, leastThought) + overshoot),
	}
}

// weigh takes in the content of an event. The tokens of the first one may have
// hidden reasoning among them.
func (m *meter) weigh(ev *dialect.Event) {
	size := ev.TextBytes
	if m.events > 0 {
		size = max(size, mostBytes*ev.Tokens)
	}
	if ev.Answer {
		m.answered += size
	} else {
		m.thought += size
	}
}

// past reports whether what came is past the cap for certain. The answer is cut off
// if more comes then: one that came in one piece has ended by itself.
func (m *meter) past() bool {
	return m.bound.answer > 0 && (m.answered > m.bound.answer || m.thought > m.bound.thought)
}

// cutOff ends the answer as one that has come to its cap.
func (m *meter) cutOff() {
	m.cut, m.finish, m.warning = true, "length", warnCut
}

// lastEvents are what ends a stream that was cut off, in its own format.
func (s *stream) lastEvents() []byte {
	m := &s.meter
	return s.reader.CutOff(dialect.CutOff{
		Last: s.block.Data, Choices: m.choices, Tokens: max(m.textBytes/bytesPerToken, 1),
		ID: m.id, Model: m.model, Created: m.start.Unix(),
	})
}

// overran reports whether an answer that ended by itself is past its cap.
func (a *attempt) overran(u *Usage) bool {
	return a.limit > 0 && !u.Estimated && u.Output/max(a.in.asks.N, 1) > a.limit
}

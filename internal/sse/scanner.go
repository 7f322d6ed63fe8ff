package sse

import "bytes"

// bom is the byte order mark that may precede a stream.
var bom = []byte("\xEF\xBB\xBF")

// Scanner finds the blocks of one event stream in the bytes written to it. The
// zero value is ready for the start of a stream. A Scanner is not safe for
// concurrent use.
//
// The reading loop is
//
//	n, err := body.Read(s.Space(4096))
//	s.Wrote(n)
//	for s.Next(&b) { ... }
//
// and, once err is not nil, one call of Rest.
type Scanner struct {
	buf  []byte // len(buf) is the room; buf[start:end] has not been handed out
	end  int
	join []byte // data lines of blocks that have several; given out until the next Space

	// The block under way; offsets are into buf.
	start int // its first byte
	line  int // first byte of the current line
	scan  int // no line ends in buf[line:scan]
	lf    int // no LF in buf[scan:lf], however many lines come before it
	cr    int // no CR in buf[scan:cr]

	name, data span // data is used while there is one data line only
	joined     int  // where this block's lines start in join, when lines > 1
	lines      int  // data lines so far
	bare       bool // a CR without LF, or a byte order mark, is among the bytes

	begun   bool // the byte order mark, if any, is behind
	afterCR bool // the last line ended in a CR, with nothing behind it yet
}

// span is a part of buf. Offsets survive a move of the buffer, slices do not.
type span struct{ from, to int }

// Reset readies the Scanner for another stream. It keeps the room, unless a long
// block has made that large.
func (s *Scanner) Reset() {
	const keep = 64 << 10
	buf, join := s.buf, s.join
	*s = Scanner{}
	if len(buf) <= keep && cap(join) <= keep {
		s.buf, s.join = buf, join[:0]
	}
}

// Space returns at least n bytes of room to read into. What earlier blocks
// pointed to is no longer valid. The room grows with the longest block, never
// with the stream.
func (s *Scanner) Space(n int) []byte {
	s.join = append(s.join[:0], s.join[s.joined:]...)
	s.joined = 0
	if len(s.buf)-s.end < n {
		s.makeRoom(n)
	} else if s.start == s.end {
		s.shift(s.buf)
	}
	return s.buf[s.end:]
}

// makeRoom moves the block under way to the front: of the same array if that
// leaves half of it free, so that moving costs O(1) per byte, else of a larger one.
func (s *Scanner) makeRoom(n int) {
	live := s.end - s.start
	if live+n <= len(s.buf) && live <= len(s.buf)/2 {
		s.shift(s.buf)
		return
	}
	s.shift(make([]byte, max(2*len(s.buf), live+n)))
}

func (s *Scanner) shift(to []byte) {
	copy(to, s.buf[s.start:s.end])
	s.buf = to
	by := s.start
	s.start = 0
	s.end -= by
	s.line -= by
	s.scan -= by
	s.lf = max(s.lf-by, 0)
	s.cr = max(s.cr-by, 0)
	s.name.from, s.name.to = s.name.from-by, s.name.to-by
	s.data.from, s.data.to = s.data.from-by, s.data.to-by
}

// Wrote says that the first n bytes of the last Space are filled.
func (s *Scanner) Wrote(n int) { s.end += n }

// Buffered returns the number of bytes held that belong to no block yet.
func (s *Scanner) Buffered() int { return s.end - s.start }

// Next finds the next block that a blank line ends and reports whether there is
// one. A block holds at most one event; comments and stray blank lines are blocks
// too, so that no byte is lost.
func (s *Scanner) Next(b *Block) bool {
	if !s.begun && !s.skipBOM(false) {
		return false
	}
	for {
		line, ok := s.nextLine()
		if !ok {
			return false
		}
		if line.from == line.to {
			s.emit(b)
			return true
		}
		s.field(line)
	}
}

// Rest returns what is left at the end of the input: an event that no blank line
// ended, if b.HasData. The grammar says to drop such an event; senders that stop
// without the last line end mean it all the same. It reports whether anything is
// left; it is to be called once, after Next has returned false.
func (s *Scanner) Rest(b *Block) bool {
	if !s.begun {
		s.skipBOM(true)
	}
	if s.start == s.end {
		return false
	}
	s.swallowLF()
	if s.line < s.end {
		s.field(span{s.line, s.end})
		s.line, s.scan = s.end, s.end
	}
	s.emit(b)
	b.Unterminated, b.Clean = true, false
	return true
}

// nextLine returns the next complete line without its end, and steps over it.
func (s *Scanner) nextLine() (span, bool) {
	s.swallowLF()
	stop := min(s.find('\n', &s.lf), s.find('\r', &s.cr))
	if stop == s.end {
		s.scan = s.end
		return span{}, false
	}
	line := span{s.line, stop}
	next := stop + 1
	if s.buf[stop] == '\r' {
		switch {
		case next == s.end:
			s.afterCR = true
		case s.buf[next] == '\n':
			next++
		default:
			s.bare = true
		}
	}
	s.line, s.scan = next, next
	return line, true
}

// find returns where the next b is, or the end of what was written. It starts from
// the place that the last search for it came to, so that no byte is searched twice.
func (s *Scanner) find(b byte, from *int) int {
	i := max(*from, s.scan)
	if i < s.end && s.buf[i] != b {
		if n := bytes.IndexByte(s.buf[i:s.end], b); n >= 0 {
			i += n
		} else {
			i = s.end
		}
	}
	*from = i
	return i
}

// swallowLF steps over the LF of a CRLF that was cut in two.
func (s *Scanner) swallowLF() {
	if !s.afterCR || s.line == s.end {
		return
	}
	s.afterCR = false
	if s.buf[s.line] == '\n' {
		s.line++
		s.scan = s.line
	} else if s.line > s.start {
		s.bare = true
	}
}

// skipBOM steps over a byte order mark and reports whether it could tell; more
// input is needed while only a part of one is there, unless this is all.
func (s *Scanner) skipBOM(all bool) bool {
	head := s.buf[:s.end]
	if len(head) < len(bom) && bytes.HasPrefix(bom, head) && !all {
		return false
	}
	s.begun = true
	if bytes.HasPrefix(head, bom) {
		s.line, s.scan = len(bom), len(bom)
		s.bare = true
	}
	return true
}

// field takes in one line of the block.
func (s *Scanner) field(line span) {
	name := s.buf[line.from:line.to]
	value := span{line.to, line.to}
	if colon := bytes.IndexByte(name, ':'); colon >= 0 {
		name = name[:colon]
		value.from = line.from + colon + 1
		if value.from < value.to && s.buf[value.from] == ' ' {
			value.from++
		}
	}
	switch string(name) {
	case "data":
		s.addData(value)
	case "event":
		s.name = value
	}
}

func (s *Scanner) addData(value span) {
	s.lines++
	switch s.lines {
	case 1:
		s.data = value
		return
	case 2:
		s.joined = len(s.join)
		s.join = append(s.join, s.buf[s.data.from:s.data.to]...)
	}
	s.join = append(append(s.join, '\n'), s.buf[value.from:value.to]...)
}

// emit fills b from the block under way and begins the next one.
func (s *Scanner) emit(b *Block) {
	*b = Block{
		Name:    s.buf[s.name.from:s.name.to],
		HasData: s.lines > 0,
		Raw:     s.buf[s.start:s.line],
		Clean:   !s.bare && !s.afterCR,
	}
	switch {
	case s.lines == 1:
		b.Data = s.buf[s.data.from:s.data.to]
	case s.lines > 1:
		b.Data = s.join[s.joined:]
		s.joined = len(s.join)
	}
	s.start = s.line
	s.name, s.data = span{s.line, s.line}, span{s.line, s.line}
	s.lines, s.bare = 0, false
}

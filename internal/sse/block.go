package sse

import "bytes"

// Block is a part of a stream that ends in a blank line: one event, or comments
// and fields that dispatch none. Its slices point into the Scanner and are valid
// until the next Space.
type Block struct {
	// Name is the value of the event field; empty if there is none.
	Name []byte
	// Data holds the values of the data fields, joined by LF.
	Data []byte
	// HasData says that the block dispatches an event, possibly one of empty data.
	HasData bool
	// Raw is the block as sent, blank line included. The Raws of all blocks, that
	// of Rest included, make up the input. The LF of a CRLF whose CR came at the
	// end of a read is at the start of the next block's Raw.
	Raw []byte
	// Clean says that a reader of LF or CRLF lines that knows no byte order mark
	// sees exactly Name and Data in Raw. If it is not set, AppendTo gives bytes
	// that such a reader understands.
	Clean bool
	// Unterminated says that the input ended before the blank line.
	Unterminated bool
}

// AppendTo appends the event to dst in its plainest form, an event line, data
// lines and a blank line, ended by LF. A block that dispatches nothing adds
// nothing. Data must hold no CR, which is so for what a Scanner returns.
func (b *Block) AppendTo(dst []byte) []byte {
	if !b.HasData {
		return dst
	}
	if len(b.Name) > 0 {
		dst = append(dst, "event: "...)
		dst = append(dst, b.Name...)
		dst = append(dst, '\n')
	}
	rest, more := b.Data, true
	for more {
		var line []byte
		line, rest, more = bytes.Cut(rest, []byte{'\n'})
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

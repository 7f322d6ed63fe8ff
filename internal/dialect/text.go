package dialect

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// textEnd returns the end of the string whose first quote is d[i], -1 if it is
// none, and whether it has escapes. It looks at eight bytes at a time.
func textEnd(d []byte, i int) (end int, escaped bool) {
	i++
	for {
		for i+8 <= len(d) {
			w := binary.LittleEndian.Uint64(d[i:])
			quote, slash := w^('"'*ones), w^('\\'*ones)
			found := ((quote-ones)&^quote | (slash-ones)&^slash | (w-0x20*ones)&^w) & highs
			if found != 0 {
				i += bits.TrailingZeros64(found) / 8
				break
			}
			i += 8
		}
		if i >= len(d) {
			return -1, false
		}
		switch b := d[i]; {
		case b == '"':
			return i + 1, escaped
		case b == '\\':
			n := escapeLen(d[i:])
			if n == 0 {
				return -1, false
			}
			escaped = true
			i += n
		case b < 0x20:
			return -1, false
		default: // in the last seven bytes
			i++
		}
	}
}

// escapeLen returns the length of the escape sequence that d starts with, 0 if it
// is none.
func escapeLen(d []byte) int {
	if len(d) < 2 {
		return 0
	}
	switch d[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(d) >= 6 && isHex(d[2]) && isHex(d[3]) && isHex(d[4]) && isHex(d[5]) {
			return 6
		}
	}
	return 0
}

// numberEnd returns the end of the number that starts at d[i], -1 if there is none.
func numberEnd(d []byte, i int) int {
	if i < len(d) && d[i] == '-' {
		i++
	}
	whole := i
	i = digitsEnd(d, i)
	if i == whole || d[whole] == '0' && i > whole+1 {
		return -1
	}
	if i < len(d) && d[i] == '.' {
		from := i + 1
		if i = digitsEnd(d, from); i == from {
			return -1
		}
	}
	if i < len(d) && d[i]|0x20 == 'e' {
		i++
		if i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		from := i
		if i = digitsEnd(d, from); i == from {
			return -1
		}
	}
	return i
}

func digitsEnd(d []byte, i int) int {
	for i < len(d) && '0' <= d[i] && d[i] <= '9' {
		i++
	}
	return i
}

// parseNumber returns the value of a valid number.
func parseNumber(raw []byte) float64 {
	if i := digitsEnd(raw, 0); i == len(raw) && i <= 15 {
		n := 0
		for _, b := range raw {
			n = n*10 + int(b-'0')
		}
		return float64(n)
	}
	v, _ := strconv.ParseFloat(string(raw), 64) // infinite, if out of range
	return v
}

// nextByte decodes one step of the inside of a string: a byte of its text and how
// far it reaches. An escape that stands for something outside ASCII gives 0x80.
func nextByte(raw []byte) (b byte, n int) {
	if raw[0] != '\\' || len(raw) < 2 {
		return raw[0], 1
	}
	switch raw[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if r := hexRune(raw); r < utf8.RuneSelf {
			return byte(r), 6
		}
		return 0x80, 6
	}
	return raw[1], 2
}

// textLen returns the number of bytes of the text that the inside of a string
// stands for, within a few bytes where it has surrogate pairs.
func textLen(raw []byte) int {
	n := len(raw)
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			return n
		}
		length := 1
		if raw[i+1] == 'u' {
			n -= 6
			n += max(1, utf8.RuneLen(hexRune(raw[i:])))
			length = 5
		} else {
			n--
		}
		raw = raw[min(i+1+length, len(raw)):]
	}
}

// appendText appends the text that the inside of a string stands for.
func appendText(dst, raw []byte) []byte {
	for len(raw) > 0 {
		if raw[0] != '\\' || len(raw) < 2 {
			dst = append(dst, raw[0])
			raw = raw[1:]
			continue
		}
		if raw[1] != 'u' {
			b, n := nextByte(raw)
			dst = append(dst, b)
			raw = raw[n:]
			continue
		}
		r := hexRune(raw)
		raw = raw[6:]
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
				pair = utf16.DecodeRune(r, hexRune(raw))
			}
			if r = pair; r != utf8.RuneError {
				raw = raw[6:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// hexRune returns the value of the \uXXXX that raw starts with.
func hexRune(raw []byte) rune {
	if len(raw) < 6 {
		return utf8.RuneError
	}
	r := rune(0)
	for _, b := range raw[2:6] {
		switch {
		case b <= '9':
			r = r<<4 | rune(b-'0')
		default:
			r = r<<4 | rune(b|0x20-'a'+10)
		}
	}
	return r
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'f'
}

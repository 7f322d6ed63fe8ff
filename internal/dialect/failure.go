package dialect

import (
	"bytes"
	"slices"
)

// ErrorInfo is a provider's error, in whatever shape it came.
type ErrorInfo struct {
	// Present says that there is an error.
	Present bool
	// Status is the HTTP status that the error amounts to, inside a 200 as well:
	// as told by the body, else by the class of its code or type. 0: unknown.
	Status int
	// Type and Code are the provider's own, cut down to [A-Za-z0-9._-] and at most
	// 64 bytes, so that they can be logged; empty where not told.
	Type, Code string
	// Param is the request member that the error is about, cleaned in the same way:
	// as told, else the first of stream_options and the token caps that a body of
	// ReadError names. Empty where none is.
	Param string
	// Message is the provider's text, escapes undone. It may quote the prompt and
	// must not be logged.
	Message []byte
}

// ReadError reads the body of an answer whose status is not 2xx: an "error"
// member, an array of such, the error's members at the top level, FastAPI's
// "detail", or plain text. Present is not set if the body is empty.
func ReadError(body []byte) ErrorInfo {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return ErrorInfo{}
	}
	c := cursor{data: body}
	e, _ := readErrorValue(&c)
	if !c.end() {
		e = ErrorInfo{Message: body}
	}
	e.Present = true
	if e.Param == "" {
		e.Param = namedParam(body)
	}
	return e
}

// namedParam finds the request member that we may have put in ourselves and that
// the error is about. Servers that validate by a schema name it in free text only,
// beside a word that says that it is not taken at all: a value that is too large is
// another matter.
func namedParam(body []byte) string {
	if !slices.ContainsFunc(notTaken, func(word string) bool { return bytes.Contains(bytes.ToLower(body), []byte(word)) }) {
		return ""
	}
	for _, name := range []string{"stream_options", "max_completion_tokens", "max_output_tokens", "max_tokens"} {
		if bytes.Contains(body, []byte(name)) {
			return name
		}
	}
	return ""
}

var notTaken = []string{"extra_forbidden", "unsupported", "not supported", "not permitted", "unexpected", "unknown", "unrecognized", "cannot be set"}

// readErrorValue reads the value of an "error" member. It reports whether there is
// an error: null, false and "" say that there is none.
func readErrorValue(c *cursor) (ErrorInfo, bool) {
	e := ErrorInfo{Present: true}
	switch c.peek() {
	case '{':
		e = readErrorObject(c)
	case '[':
		present := false
		c.open('[')
		for c.element() {
			if one, ok := readErrorValue(c); ok && !present {
				e, present = one, true
			}
		}
		return e, present
	case '"':
		raw := c.str()
		if len(raw) == 0 {
			return ErrorInfo{}, false
		}
		e.Message = plain(raw)
	case 'n', 'f':
		c.skip()
		return ErrorInfo{}, false
	default:
		if v, ok := c.num(); ok {
			e.Status = statusOf(v)
		}
	}
	return e, true
}

// readErrorObject reads an object that holds an error's members, or an envelope
// around one.
func readErrorObject(c *cursor) ErrorInfo {
	var e, inner ErrorInfo
	var wrapped bool
	var word []byte // a status in words
	c.open('{')
	for key, ok := c.key(); ok; key, ok = c.key() {
		switch string(key) {
		case "message", "msg", "detail", "error_message", "error_description":
			e.message(c)
		case "code", "error_code":
			e.Code = e.codeOrStatus(c, e.Code)
		case "status":
			if raw := e.codeOrStatus(c, ""); raw != "" {
				word = []byte(raw)
			}
		case "status_code", "statusCode", "http_status", "http_code":
			e.codeOrStatus(c, "")
		case "type", "error_type":
			if raw := c.str(); len(raw) > 0 && string(raw) != "error" {
				e.Type = clean(raw)
			}
		case "param":
			e.Param = clean(c.str())
		case "error", "errors":
			if in, present := readErrorValue(c); present && !wrapped {
				inner, wrapped = in, true
			}
		default:
			c.skip()
		}
	}
	if wrapped {
		return inner.or(e)
	}
	e.Present = true
	if e.Code == "" && len(word) > 0 {
		e.Code = string(word)
	}
	if e.Status == 0 {
		e.Status = classOf(e.Code, e.Type)
	}
	return e
}

// or fills what e lacks from the envelope around it. The envelope's type says only
// that it is one.
func (e ErrorInfo) or(outer ErrorInfo) ErrorInfo {
	if e.Status == 0 {
		e.Status = outer.Status
	}
	if e.Code == "" {
		e.Code = outer.Code
	}
	if e.Param == "" {
		e.Param = outer.Param
	}
	if e.Message == nil {
		e.Message = outer.Message
	}
	return e
}

// message takes in text, or, where a server sends its validation report, the JSON
// of it.
func (e *ErrorInfo) message(c *cursor) {
	if c.peek() == '"' {
		if raw := c.str(); len(raw) > 0 {
			e.Message = plain(raw)
		}
		return
	}
	if v := c.value(); len(v) > 0 && v[0] != 'n' && e.Message == nil {
		e.Message = v
	}
}

// codeOrStatus reads a code that may be a status, as a number or in digits; it
// returns the code, or old if there is none.
func (e *ErrorInfo) codeOrStatus(c *cursor, old string) string {
	var raw []byte
	switch b := c.peek(); {
	case b == '"':
		raw = c.str()
	case b == '-' || '0' <= b && b <= '9':
		raw = c.value()
	default:
		c.skip()
	}
	if len(raw) == 0 {
		return old
	}
	n := cursor{data: raw}
	if v, ok := n.num(); ok && n.end() && statusOf(v) != 0 && e.Status == 0 {
		e.Status = statusOf(v)
	}
	return clean(raw)
}

// statusOf returns v if it is an HTTP error status, else 0.
func statusOf(v float64) int {
	if v >= 400 && v < 600 {
		return int(v)
	}
	return 0
}

// plain returns the text of the inside of a string.
func plain(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return appendText(nil, raw)
}

// clean makes an identifier of a provider fit for logs. A longer one is none.
func clean(raw []byte) string {
	if len(raw) > 64 {
		return ""
	}
	var buf [64]byte
	for i, b := range raw {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '.', b == '_', b == '-':
			buf[i] = b
		default:
			buf[i] = '_'
		}
	}
	return string(buf[:len(raw)])
}

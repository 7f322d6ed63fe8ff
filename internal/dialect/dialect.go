package dialect

import "strings"

// Dialect is one wire format. Dialects hold no state and are safe for concurrent
// use.
type Dialect interface {
	// Name returns the path suffix that the format is served under, as in ForPath.
	Name() string
	// Request reads the body of a request. The error is a *RequestError.
	Request(body []byte) (Request, error)
	// NewReader returns a reader of one stream.
	NewReader() Reader
	// Answer reads a whole answer into ev, which it resets first. An error says
	// that the body is not an answer in this format: not JSON, cut short, or
	// something else. A provider's error inside it is no error here, but ev.Err.
	Answer(body []byte, ev *Event) error
	// Stream returns a whole, good answer as the event stream that the same answer
	// would have been sent as, [DONE] included where the format has one. It is nil
	// for a format without streams and for what Answer refuses.
	Stream(answer []byte) []byte
}

// Reader reads the events of one stream, in order. It is not safe for concurrent
// use.
type Reader interface {
	// Read reads one event into ev, which it resets first. Slices in ev point into
	// data. It allocates nothing, unless for an error.
	Read(name, data []byte, ev *Event)
	// CutOff returns the events that end a stream that is cut off at its token cap
	// as one whose answer came to its length: finish reasons and the end marker,
	// where the format has them. It changes nothing.
	CutOff(c CutOff) []byte
}

// The dialects.
var (
	Chat        Dialect = chat{}
	Completions Dialect = completions{}
	Responses   Dialect = responses{}
	Embeddings  Dialect = embeddings{}
	Messages    Dialect = messages{}
)

// longest suffix first: one is the end of another
var dialects = []Dialect{Chat, Completions, Responses, Embeddings, Messages}

// ForPath returns the dialect of a request path and the suffix that tells it, the
// longest of "chat/completions", "completions", "responses", "embeddings" and
// "messages" that ends the path on a segment border. The messages of an assistant's
// thread are not inference.
func ForPath(path string) (d Dialect, suffix string, ok bool) {
	for _, d := range dialects {
		rest, found := strings.CutSuffix(path, d.Name())
		if !found || rest != "" && !strings.HasSuffix(rest, "/") {
			continue
		}
		if d == Messages && strings.Contains(rest, "threads/") {
			continue
		}
		return d, d.Name(), true
	}
	return nil, "", false
}

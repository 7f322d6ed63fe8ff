package middleware

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

const (
	maxMade = 64 << 10 // so much of an answer is searched for the id of what it made
	maxID   = 256      // bytes of an id that is remembered
)

// watchMade has the answer to a request that may have made something (a file, a
// conversation, a batch) tell who made it, as the caller reads it.
func (t *Transport) watchMade(r *http.Request, resp *http.Response, target string) {
	if r.Method != http.MethodPost || resp.StatusCode/100 != 2 ||
		!strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return
	}
	resp.Body = &madeBody{ReadCloser: resp.Body, made: func(id string) { t.states.remember(id, target) }}
}

// madeBody looks at the start of a body that passes. It holds nothing back.
type madeBody struct {
	io.ReadCloser

	mu     sync.Mutex // Close may come during a Read
	made   func(id string)
	start  []byte // what has passed, until there is nothing more to look for
	looked int    // so much of it was searched
	over   bool
}

// Read passes the upstream's bytes on.
func (b *madeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.look(p[:n], err != nil)
	return n, err
}

// Close closes the upstream's body.
func (b *madeBody) Close() error {
	b.look(nil, true)
	return b.ReadCloser.Close()
}

// look searches what has passed for the id: each time that it has doubled, so
// that small reads cost no more than large ones, and at the end.
func (b *madeBody) look(more []byte, end bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	b.start = append(b.start, more[:min(len(more), maxMade-len(b.start))]...)
	end = end || len(b.start) == maxMade
	if !end && len(b.start) < 2*b.looked {
		return
	}
	b.looked = len(b.start)
	id := idOf(b.start)
	if id != "" {
		b.made(id)
	}
	if id != "" || end {
		b.over, b.start = true, nil
	}
}

// idOf is the id of a JSON object of which the start is given; empty if it is
// not there, or not yet in full.
func idOf(start []byte) string {
	id := gjson.GetBytes(start, "id")
	if id.Type != gjson.String || len(id.Raw) != len(id.Str)+2 || id.Raw[len(id.Raw)-1] != '"' {
		return "" // cut, or escaped: no provider's id is
	}
	return id.Str
}

// isID reports whether a text may be the id of something. It has a digit, which no
// word of a path has: a provider that called its object "files" would otherwise be
// sent everybody's.
func isID(text string) bool {
	return len(text) <= maxID && strings.ContainsAny(text, "0123456789")
}

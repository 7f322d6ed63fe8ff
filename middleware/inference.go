package middleware

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/header"
	"github.com/ontime-llm/ontime/internal/sse"
	"github.com/ontime-llm/ontime/router"
)

const maxRequest = 64 << 20 // a body is kept until its call has an answer

// inference is a call as its HTTP request states it.
type inference struct {
	dialect dialect.Dialect
	path    string // below a base URL, such as chat/completions
	body    []byte
	asks    dialect.Request
	named   string // the model in the body; asks.Model may be another that the endpoint allows
	limit   int    // its token cap, which each attempt may find lowered further; 0: none
}

// readInference reads and closes r's body. Nothing else of r changes.
func readInference(r *http.Request, d dialect.Dialect, path string) (*inference, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	asks, err := d.Request(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	asks.Stream = asks.Stream && d != dialect.Embeddings // they come whole, whatever was asked
	return &inference{dialect: d, path: path, body: body, asks: asks, named: asks.Model}, nil
}

// formatOf is the label of a dialect: "chat", "completions", "responses", "embeddings"
// or "messages".
func formatOf(d dialect.Dialect) string {
	format, _, _ := strings.Cut(d.Name(), "/")
	return format
}

// readBody reads and closes the body of a caller's request. One that cannot be
// had again is not from memory: it may be slow to come, and is read only for as
// long as the caller is there.
func readBody(r *http.Request) ([]byte, error) {
	body := r.Body
	if body != nil && r.GetBody == nil {
		body = wantedBody{body, r.Context()}
	}
	return readAll(body, r.ContentLength, maxRequest)
}

// checkHeader refuses what cannot be sent to any target: it is the caller's
// mistake, not a fault of the one that happens to be tried.
func checkHeader(h http.Header) error {
	for name, values := range h {
		if !header.ValidName(name) || slices.ContainsFunc(values, func(v string) bool { return !header.ValidValue(v) }) {
			return fmt.Errorf("%w: a header has characters that cannot be sent", ErrBadRequest)
		}
	}
	return nil
}

// wantedBody is a body that ends with a context.
type wantedBody struct {
	io.ReadCloser
	ctx context.Context
}

// Read fails once the context has ended.
func (b wantedBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}

// readAll reads rc to its end, at most limit bytes, and closes it. size is a
// hint; below 0 it is unknown.
func readAll(rc io.ReadCloser, size, limit int64) ([]byte, error) {
	if rc == nil {
		return nil, nil
	}
	defer rc.Close()
	if size > limit {
		return nil, ErrTooLarge
	}
	const trusted = 1 << 20                                // of a size that somebody else claims
	buf := make([]byte, 0, min(max(size+1, 512), trusted)) // one more, to meet the end without growing
	for {
		n, err := rc.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return buf, err
		case int64(len(buf)) > limit:
			return buf, ErrTooLarge
		case len(buf) == cap(buf):
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// prefixes is what a provider may have cached of the prompt, as the router takes it.
func (in *inference) prefixes() []router.Prefix {
	if len(in.asks.Prefixes) == 0 {
		return nil
	}
	prefixes := make([]router.Prefix, len(in.asks.Prefixes))
	for i, p := range in.asks.Prefixes {
		prefixes[i] = router.Prefix(p)
	}
	return prefixes
}

// payload is the body as one route takes it, with a cap of limit tokens. What
// needs no change is the caller's bytes, untouched.
func (in *inference) payload(u *Upstream, m manners, limit int) []byte {
	ed := dialect.NewEditor(in.body)
	if own := u.model(in.asks.Model); own != in.named {
		ed.Set(in.asks.ModelAt, quote(own))
	}
	if !m.leavesOut(in, limit) {
		in.writeCap(ed, in.capName(u, m), limit)
	}
	if in.asksUsage(u, m) {
		in.askForUsage(ed)
	}
	return ed.Bytes()
}

// asksUsage reports whether usage has to be asked for on the caller's behalf.
func (in *inference) asksUsage(u *Upstream, m manners) bool {
	return u.AskUsage && !m.noUsage && in.asks.Stream && !in.asks.IncludeUsage && takesStreamOptions(in.dialect)
}

// asStream is a whole answer in the form in which it was asked for: a stream,
// without the usage chunk that the caller did not ask for.
func (in *inference) asStream(answer []byte) []byte {
	stream := in.dialect.Stream(answer)
	if in.asks.IncludeUsage {
		return stream
	}
	var (
		scan  sse.Scanner
		block sse.Block
		ev    dialect.Event
		kept  []byte
	)
	reader := in.dialect.NewReader()
	copy(scan.Space(len(stream)), stream)
	scan.Wrote(len(stream))
	for scan.Next(&block) {
		if reader.Read(block.Name, block.Data, &ev); !ev.UsageOnly {
			kept = append(kept, block.Raw...)
		}
	}
	return kept
}

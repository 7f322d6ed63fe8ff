package middleware

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// commit binds the call to the attempt that has content, and gives its answer
// to the caller.
func (c *liveCall) commit(a *attempt) (*http.Response, error) {
	resp := c.response(a)
	if a.stream == nil {
		c.win(a)
		c.commitWhole(a, resp)
		return resp, nil
	}
	if ttft := a.stream.meter.firstContent; ttft > 0 {
		c.tally.Content(a.start.Add(ttft).Sub(c.rec.Start))
	}
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
	resp.Body = &streamBody{call: c, from: a}
	if c.win(a) {
		_ = c.finish(a)
		c.cancel(nil)
	}
	return resp, nil
}

// commitWhole answers with what has been read and checked. To a caller who
// asked for a stream it comes as one; its first content then came with all the
// rest.
func (c *liveCall) commitWhole(a *attempt, resp *http.Response) {
	if a.rest != nil {
		resp.Body = newLargeBody(c, a)
		return
	}
	if c.in.asks.Stream {
		c.tally.Content(a.start.Add(a.record.Total).Sub(c.rec.Start))
		resp.Header.Set("Content-Type", "text/event-stream")
	} else if !isJSON(resp.Header.Get("Content-Type")) {
		resp.Header.Set("Content-Type", "application/json") // it is, and openai-go reads no other
	}
	setLength(resp, len(a.body))
	c.cancel(nil)
	resp.Body = &wholeBody{call: c, from: a, rest: bytes.NewReader(a.body)}
}

// isJSON says whether openai-go would take a content type for JSON.
func isJSON(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType)
	return strings.Contains(media, "application/json") || strings.HasSuffix(media, "+json")
}

// response is the attempt's, as from a single provider: the caller's own
// request in it, nothing of the target's account.
func (c *liveCall) response(a *attempt) *http.Response {
	resp := *a.resp
	resp.Request = c.req
	mark(resp.Header, a.up.Name, len(c.attempts))
	return &resp
}

// setLength says how long a body is that we hold in full.
func setLength(resp *http.Response, n int) {
	resp.ContentLength, resp.Uncompressed = int64(n), false
	resp.Header.Set("Content-Length", strconv.Itoa(n))
}

// errorResponse passes an HTTP error on, in the one shape that openai-go reads.
func (c *liveCall) errorResponse(a *attempt) *http.Response {
	resp := c.response(a)
	fault, _ := errors.AsType[*ProviderError](a.fault)
	body := errorBody(a.body, fault)
	resp.Header.Set("Content-Type", "application/json")
	setLength(resp, len(body))
	resp.Body = &heldBody{Reader: bytes.NewReader(body), Closer: http.NoBody}
	return resp
}

// errorBody is an error body as {"error": {...}}: unchanged if it is one, else
// made of what could be read of it.
func errorBody(body []byte, e *ProviderError) []byte {
	if gjson.ValidBytes(body) && gjson.GetBytes(body, "error").IsObject() {
		return body
	}
	out := []byte(`{"error":{}}`)
	message := e.Message
	if message == "" {
		message = http.StatusText(e.Status)
	}
	out, _ = sjson.SetBytes(out, "error.message", message)
	out, _ = sjson.SetBytes(out, "error.type", e.Type)
	out, _ = sjson.SetBytes(out, "error.code", e.Code)
	return out
}

// streamBody is a committed stream, as the caller reads it.
type streamBody struct {
	call   *liveCall
	from   *attempt
	closed atomic.Bool
}

// Read returns the stream's bytes; at its end io.EOF if the answer is whole, an
// [*Error] if it is not.
func (b *streamBody) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, ErrBodyClosed
	}
	n, err := b.from.stream.queue.Read(p)
	if err == nil {
		return n, nil
	}
	if fault := b.call.finish(b.from); fault != nil {
		return n, fault
	}
	return n, io.EOF
}

// Close ends the call. What is left of an unfinished answer is not fetched.
func (b *streamBody) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	select {
	case <-b.from.stream.ended: // its pump is done, or draining
	default:
		b.from.cancel(ErrBodyClosed)
		_ = b.from.resp.Body.Close() // for a transport that does not look at the context
		<-b.from.stream.ended
	}
	_ = b.call.finish(b.from)
	return nil
}

// wholeBody is an answer in one piece.
type wholeBody struct {
	call   *liveCall
	from   *attempt
	rest   *bytes.Reader // no embedded one: its WriteTo would pass by Read
	closed atomic.Bool
}

// Read returns io.EOF at the end, and with it the call is over.
func (b *wholeBody) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, ErrBodyClosed
	}
	n, err := b.rest.Read(p)
	if err != nil {
		_ = b.call.finish(b.from)
	}
	return n, err
}

// Close ends the call.
func (b *wholeBody) Close() error {
	b.closed.Store(true)
	_ = b.call.finish(b.from)
	return nil
}

// heldBody is a body of which we have read the start, or all.
type heldBody struct {
	io.Reader
	io.Closer // the upstream's
	closed    atomic.Bool
}

// Read fails after Close, as that of any response's body.
func (b *heldBody) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, ErrBodyClosed
	}
	return b.Reader.Read(p)
}

// Close closes the upstream's body.
func (b *heldBody) Close() error {
	b.closed.Store(true)
	return b.Closer.Close()
}

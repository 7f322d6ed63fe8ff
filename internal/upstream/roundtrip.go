package upstream

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
)

// RoundTrip answers a request in the caller's goroutine, without a socket. The parts of the body become readable exactly when they
// are due. No goroutine is left behind, whatever is done with the body.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	rep := s.receive(r, data)
	if rep.refused {
		rep.settle()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	if err := rep.wait(ctx, rep.headers, nil); err != nil {
		rep.settle()
		return nil, err
	}
	s.count(func(st *Stats) { st.OpenBodies++ })
	b := &body{reply: rep, ctx: ctx, closed: make(chan struct{})}
	b.stop = context.AfterFunc(ctx, rep.settle)
	return &http.Response{
		Status: strconv.Itoa(rep.status) + " " + http.StatusText(rep.status), StatusCode: rep.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: rep.header, Body: b, ContentLength: -1, Request: r,
	}, nil
}

// body makes the parts of a reply when they are read.
type body struct {
	reply  *reply
	ctx    context.Context // of the request, as in net/http's own bodies
	stop   func() bool     // of the watch over ctx
	left   []byte          // made but not read
	buffer []byte
	err    error
	once   sync.Once // for Close
	closed chan struct{}
}

// Read waits for what is due next and returns it with everything else that is due by then, as far as it fits.
func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	select {
	case <-b.closed:
		return 0, http.ErrBodyReadAfterClose
	default:
	}
	for len(b.left) == 0 {
		if err := b.fill(len(p)); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

// fill waits for the next piece, and makes all that are due then up to about n bytes.
func (b *body) fill(n int) error {
	if b.err != nil {
		return b.err
	}
	age, end := b.reply.body.next()
	if err := b.reply.wait(b.ctx, age, b.closed); err != nil {
		b.fail(err)
		return err
	}
	b.buffer = b.buffer[:0]
	for end == open && age <= b.reply.age() && len(b.buffer) < n {
		b.buffer = b.reply.body.append(b.buffer)
		age, end = b.reply.body.next()
	}
	b.left = b.buffer
	// A server is through when it has sent its last byte, not when somebody asks for more.
	if age <= b.reply.age() {
		switch end {
		case closed:
			b.fail(io.EOF)
		case broken:
			b.fail(&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET})
		}
	}
	if len(b.left) > 0 {
		return nil
	}
	return b.err // nil after an empty part
}

func (b *body) fail(err error) {
	b.err = err
	b.reply.settle()
}

// Close ends the reply. A Read that waits returns.
func (b *body) Close() error {
	b.once.Do(func() {
		close(b.closed)
		b.stop()
		b.reply.settle()
		b.reply.server.count(func(s *Stats) { s.OpenBodies-- })
	})
	return nil
}

var _ http.RoundTripper = (*Server)(nil)

package middleware

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
)

// remainder is what is left of an answer in one piece that is too large to be
// kept. The call is bound to it unseen: to hold on to it would be to grow without
// bound, and to refuse it to lose an answer that is paid for.
type remainder struct {
	src  io.Reader
	over chan struct{}
	once sync.Once
}

func (r *remainder) end() { r.once.Do(func() { close(r.over) }) }

// await keeps the attempt's goroutine, which owns the connection, until the
// caller has read the rest or does not want it.
func (r *remainder) await(done <-chan struct{}) {
	select {
	case <-r.over:
	case <-done:
	}
}

// largeBody is an answer of which only the start was kept. What it cost is not
// known: its usage was not looked for.
type largeBody struct {
	call *liveCall
	from *attempt
	io.Reader
	closed atomic.Bool
	quiet  silence // while the caller waits
}

func newLargeBody(c *liveCall, a *attempt) *largeBody {
	b := &largeBody{call: c, from: a, Reader: io.MultiReader(bytes.NewReader(a.body), a.rest.src)}
	b.quiet.start = a.start
	b.quiet.hold(true)
	b.quiet.watch(a.cancel)
	return b
}

// Read returns io.EOF at the end, or an [*Error] if the answer is cut, or does not go
// on for minutes.
func (b *largeBody) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, ErrBodyClosed
	}
	b.quiet.hold(false)
	n, err := b.Reader.Read(p)
	b.quiet.hold(true)
	switch {
	case err == io.EOF:
		b.close(nil)
	case err != nil:
		err = b.close(b.from.broken(err))
	}
	return n, err
}

// Close ends the call. What was not read is not fetched.
func (b *largeBody) Close() error {
	b.closed.Store(true)
	_ = b.close(ErrBodyClosed)
	return nil
}

func (b *largeBody) close(fault error) error {
	b.quiet.stop()
	if fault != nil {
		b.from.cancel(fault)
	}
	b.from.end(fault)
	err := b.call.finish(b.from)
	b.from.rest.end()
	b.call.cancel(nil)
	return err
}

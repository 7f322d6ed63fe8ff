package middleware

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// tap measures a stream and changes nothing of it: every byte and the end pass
// as they came. It is the pump of a client that does not route.
func (s *stream) tap() {
	s.committed = true
	for room := readSize; ; room = minRead {
		if s.concluded {
			s.scan.Reset() // what follows only passes
		}
		free := s.scan.Space(room)
		n, err := s.src.Read(free)
		now := time.Now()
		if n > 0 && s.meter.firstByte == 0 {
			s.meter.firstByte = max(now.Sub(s.meter.start), 1)
		}
		if s.foreign(free[:n]) {
			s.tapWhole(err)
			return
		}
		s.scan.Wrote(n)
		for s.scan.Next(&s.block) {
			s.observe(now)
		}
		if err != nil {
			if s.scan.Rest(&s.block) {
				s.observe(now)
			}
			s.conclude(s.verdict(err))
			s.queue.write(free[:n])
			s.queue.close(err)
			return
		}
		if s.scan.Buffered() > maxEvent {
			s.conclude(ErrTooLarge)
		}
		s.queue.write(free[:n])
		s.queue.flush()
		s.yield()
	}
}

// tapWhole goes on with what is no stream after all: an answer in one piece, in
// which case it has no first token and no pace, or no answer.
func (s *stream) tapWhole(err error) {
	answer := s.sniffed
	s.queue.write(answer)
	piece := make([]byte, readSize)
	for err == nil {
		s.queue.flush()
		s.yield()
		var n int
		n, err = s.src.Read(piece)
		s.queue.write(piece[:n])
		if len(answer) <= maxAnswer {
			answer = append(answer, piece[:n]...)
		}
	}
	s.conclude(s.wholeFault(answer, err))
	s.queue.close(err)
}

// wholeFault measures an answer in one piece that ended with err, and says what is
// wrong with it.
func (s *stream) wholeFault(answer []byte, err error) error {
	if len(answer) > maxAnswer {
		return ErrTooLarge
	}
	var ev dialect.Event
	switch bad := s.format.Answer(answer, &ev); {
	case bad == nil && ev.Err.Present:
		return s.owner.providerError(&ev.Err)
	case bad == nil:
		s.meter.whole(&ev)
		return nil
	case err == io.EOF:
		return ErrNotAnswer
	default:
		return s.owner.broken(err)
	}
}

// observe measures one block of a stream that is not over yet.
func (s *stream) observe(now time.Time) {
	if !s.block.HasData || s.concluded {
		return
	}
	if over, fault := s.measure(now); over {
		s.conclude(fault)
	}
}

// tapBody is a tapped stream, as the caller reads it.
type tapBody struct {
	call   *meteredCall
	stream *stream
	src    io.Closer
	closed atomic.Bool
}

// Read returns what the upstream sent, and its end.
func (b *tapBody) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, ErrBodyClosed
	}
	n, err := b.stream.queue.Read(p)
	if err != nil {
		<-b.stream.ended
		b.call.seal(b.call.fault)
	}
	return n, err
}

// Close closes the upstream's body.
func (b *tapBody) Close() error {
	if b.closed.Swap(true) {
		return nil
	}
	b.stream.stop(ErrBodyClosed)
	err := b.src.Close()
	<-b.stream.ended
	b.call.seal(b.call.fault)
	return err
}

// wholeTap keeps a copy of an answer in one piece while the caller reads it.
type wholeTap struct {
	io.ReadCloser
	call *meteredCall

	mu   sync.Mutex // Close may come during a Read
	copy []byte
	done bool
}

// Read passes the upstream's bytes on.
func (b *wholeTap) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	if !b.done && len(b.copy) <= maxAnswer {
		b.copy = append(b.copy, p[:n]...)
	}
	b.mu.Unlock()
	if err != nil {
		b.end(err)
	}
	return n, err
}

// Close closes the upstream's body.
func (b *wholeTap) Close() error {
	b.end(ErrBodyClosed)
	return b.ReadCloser.Close()
}

func (b *wholeTap) end(err error) {
	b.mu.Lock()
	over := b.done
	b.done = true
	b.mu.Unlock()
	if over {
		return
	}
	b.call.seal(b.fault(err))
}

// fault is what became of the answer, which ended with err. One that is too large to be
// kept is not looked at: it came whole, or it did not.
func (b *wholeTap) fault(err error) error {
	if len(b.copy) > maxAnswer {
		if err == io.EOF {
			return nil
		}
		return b.call.broken(err)
	}
	ev := new(dialect.Event)
	switch bad := b.call.in.dialect.Answer(b.copy, ev); {
	case bad == nil && ev.Err.Present:
		return b.call.providerError(&ev.Err)
	case bad == nil:
		recordWhole(&b.call.attempt, ev)
		return nil // the caller may stop reading at the last byte of the answer
	case err == io.EOF:
		return ErrNotAnswer
	default:
		return b.call.broken(err)
	}
}

// meteredCall is a call of a client that does not route: one attempt.
type meteredCall struct {
	gauge   *gauge
	ctx     context.Context
	in      *inference
	out     *Call
	rec     Call
	attempt Attempt
	way     way
	tapped  *stream // of a streamed answer
	fault   error   // how it ended
	sealed  atomic.Bool
}

// content: nothing is held back here.
func (c *meteredCall) content() {}

// end takes over what was measured of a stream.
func (c *meteredCall) end(fault error) {
	c.tapped.meter.record(&c.attempt)
	if c.fault = fault; fault == nil {
		c.attempt.Total = c.tapped.meter.end
	}
}

func (c *meteredCall) broken(err error) error {
	if ended := c.ctx.Err(); ended != nil {
		return ended
	}
	if errors.Is(err, ErrBodyClosed) {
		return err
	}
	return &ConnectError{Target: c.attempt.Target, Err: err}
}

func (c *meteredCall) providerError(info *dialect.ErrorInfo) error {
	return newProviderError(c.attempt.Target, info)
}

// seal closes the books and tells the observers.
func (c *meteredCall) seal(fault error) {
	if c.sealed.Swap(true) {
		return
	}
	a, rec := &c.attempt, &c.rec
	a.Outcome, a.Err, a.Timing = outcomeOf(fault), fault, c.way.timing()
	if a.Total == 0 {
		a.Total = time.Since(rec.Start)
	}
	rec.Attempts = []Attempt{*a}
	rec.Outcome, rec.Total = a.Outcome, a.Total
	rec.TTFT, rec.TTFA, rec.TPOT, rec.Stall = a.TTFT, a.TTFA, a.TPOT, a.Stall
	rec.Usage, rec.FinishReason, rec.Starved = a.Usage, a.FinishReason, a.Starved
	if fault != nil {
		rec.Err = &Error{Endpoint: rec.Endpoint, Model: rec.Model, Target: rec.Target, Attempts: rec.Attempts, Err: fault}
	}
	*c.out = *rec
	c.gauge.observers.observe(c.ctx, *rec)
}

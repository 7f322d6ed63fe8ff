package middleware

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	tailWait  = 5 * time.Second // between a finish reason and the end marker
	drainTime = 50 * time.Millisecond
	drainSize = 4 << 10
)

// errTail ends a stream whose answer is finished while its connection stays
// open.
var errTail = errors.New("nothing came after the finish reason")

// awaitTail bounds how long a finished stream may stay open without a word.
func (s *stream) awaitTail(over bool) {
	if !over && s.meter.complete() {
		s.endIn(tailWait)
	}
}

// endIn stops a finished stream after a while.
func (s *stream) endIn(wait time.Duration) {
	if s.tail == nil {
		s.tail = time.AfterFunc(wait, func() { s.stop(errTail) })
	} else {
		s.tail.Reset(wait)
	}
}

// eof decides what the end of the upstream means: nil if the answer is whole.
func (s *stream) eof(err error, now time.Time) error {
	if s.scan.Rest(&s.block) {
		if over, fault := s.take(now); over {
			return fault
		}
	}
	return s.verdict(err)
}

// verdict says how a stream ended that src ended with err, without an end
// marker.
func (s *stream) verdict(err error) error {
	switch {
	case s.meter.complete() && (s.finishedLate() || !s.stopped()):
		return nil // whatever the connection did after the answer was finished
	case err != io.EOF:
		return s.cut(s.owner.broken(err))
	case s.meter.events == 0:
		return ErrEmpty
	default:
		return ErrTruncated
	}
}

// cut marks a broken connection as a cut answer, if some of it has come.
func (s *stream) cut(err error) error {
	if _, ok := errors.AsType[*ConnectError](err); ok && s.meter.events > 0 {
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return err
}

// emptiness is the fault of an answer that ended without any sign of one. A
// finish reason is one: a cap can be used up by hidden reasoning.
func (s *stream) emptiness() error {
	if s.meter.events == 0 && s.meter.finish == "" {
		return ErrEmpty
	}
	return nil
}

func (s *stream) stopped() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// finishedLate reports whether it was we who ended a finished stream.
func (s *stream) finishedLate() bool {
	return s.tail != nil && !s.tail.Stop()
}

// end closes the queue. A fault before the first content is returned instead:
// nobody has seen anything of this stream.
func (s *stream) end(fault error) error {
	s.quiet.stop()
	if s.tail != nil {
		s.tail.Stop()
	}
	if fault != nil && !s.committed {
		return fault
	}
	s.conclude(fault)
	s.commit()
	if fault == nil {
		fault = io.EOF
	}
	s.queue.close(fault)
	return nil
}

// conclude makes the meter final, before the caller can see the end.
func (s *stream) conclude(fault error) {
	if !s.concluded {
		s.concluded = true
		s.owner.end(fault)
		close(s.ended)
	}
}

// trail passes on what follows an end marker that is an event of the format,
// such as the [DONE] that some servers add: as far as it comes at once. Nothing
// follows [DONE] itself, so that its caller is not kept waiting, and what follows
// where we cut the answer off is not wanted.
func (s *stream) trail() {
	if s.meter.cut || bytes.HasPrefix(s.block.Data, []byte("[")) {
		return
	}
	s.queue.flush()
	s.endIn(drainTime)
	for {
		for s.scan.Next(&s.block) {
			if s.block.Clean {
				s.queue.write(s.block.Raw)
			}
		}
		n, err := s.src.Read(s.scan.Space(minRead))
		if s.scan.Wrote(n); err != nil || s.scan.Buffered() > drainSize {
			return
		}
	}
}

// drain reads what little follows the end marker, so that the connection can
// be used again: not that of an answer that goes on.
func (s *stream) drain() {
	if s.meter.cut {
		return
	}
	s.endIn(drainTime)
	defer s.tail.Stop()
	_, _ = io.CopyN(io.Discard, s.src, drainSize)
}

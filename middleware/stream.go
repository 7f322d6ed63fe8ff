package middleware

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/sse"
)

const (
	readSize = 4 << 10  // of the first read
	minRead  = 1 << 10  // of later ones: the buffer grows for a longer event only
	maxEvent = 32 << 20 // openai-go's own limit for a line
)

// errNotStream is a response whose body is something else than events.
var errNotStream = errors.New("not an event stream")

// stream is one streamed answer on its way to the caller. Its pump reads the
// upstream, stamps each event when its last byte is there, and fills the
// queue; the caller reads the queue at its own pace, which therefore cannot
// be mistaken for the provider's.
type stream struct {
	src    io.Reader
	stop   context.CancelCauseFunc // ends reads of src
	done   <-chan struct{}         // closed when src has been stopped
	format dialect.Dialect
	reader dialect.Reader
	queue  queue
	owner  streamOwner

	hideUsage bool // the usage chunk was asked for by us, not by the caller

	scan  *sse.Scanner
	block sse.Block
	event dialect.Event
	out   []byte
	meter meter
	tail  *time.Timer
	quiet silence

	known     bool   // that it is a stream
	sniffed   []byte // what was read of what is none
	committed bool
	concluded bool
	ended     chan struct{} // closed once concluded
}

// streamOwner is the attempt, or the metered call, that a stream is read for.
// The pump calls it.
type streamOwner interface {
	// content: the first content is there, or a good end without any.
	content()
	// end: the meter is final. A nil fault says that the answer is whole.
	end(fault error)
	// providerError names an error that the stream reported.
	providerError(*dialect.ErrorInfo) error
	// broken names an error of the connection.
	broken(error) error
}

func newStream(src io.Reader, in *inference, start time.Time, owner streamOwner) *stream {
	s := &stream{
		src: src, format: in.dialect, reader: in.dialect.NewReader(), owner: owner,
		meter: meter{start: start, choices: in.asks.N},
		scan:  scanners.Get().(*sse.Scanner), ended: make(chan struct{}),
	}
	s.queue.init()
	s.quiet.start = start
	return s
}

// scanners are kept for their buffers: one is in use while a pump runs.
var scanners = sync.Pool{New: func() any { return new(sse.Scanner) }}

// release gives the scanner back. Nothing of the stream may point into it.
func (s *stream) release() {
	s.block, s.event = sse.Block{}, dialect.Event{}
	s.scan.Reset()
	scanners.Put(s.scan)
	s.scan = nil
}

// pump reads the stream to its end. It returns why the stream failed, if it
// did so before its first content; after that the caller's Read has the error.
func (s *stream) pump() error {
	for room := readSize; ; room = minRead {
		free := s.scan.Space(room)
		n, err := s.src.Read(free)
		now := time.Now()
		if n > 0 && s.meter.firstByte == 0 {
			s.meter.firstByte = max(now.Sub(s.meter.start), 1)
		}
		if s.foreign(free[:n]) {
			return errNotStream
		}
		s.scan.Wrote(n)
		for s.scan.Next(&s.block) {
			if over, fault := s.take(now); over {
				if fault == nil {
					s.trail()
				}
				return s.end(fault)
			}
		}
		if err != nil {
			return s.end(s.eof(err, now))
		}
		if s.scan.Buffered() > maxEvent {
			return s.end(ErrTooLarge)
		}
		s.queue.flush()
		s.yield()
	}
}

// foreign looks at the first bytes that are no white space, whatever the
// Content-Type says: an answer or a page in place of a stream is kept in
// sniffed.
func (s *stream) foreign(p []byte) bool {
	if s.known {
		return false
	}
	start := bytes.TrimLeft(p, " \t\r\n\ufeff")
	if len(start) == 0 {
		return false
	}
	s.known = true
	if bytes.IndexByte([]byte("{[<"), start[0]) < 0 {
		return false
	}
	s.sniffed = bytes.Clone(p)
	return true
}

// yield waits for a caller who is a whole bound behind. What is measured from
// then on is the caller's pace, not the provider's.
func (s *stream) yield() {
	if !s.queue.full() {
		return
	}
	s.commit() // held back no longer: it would grow without bound
	s.meter.backpressured = true
	s.quiet.hold(true)
	s.queue.drained(s.done)
	s.quiet.hold(false)
}

// take measures one block and passes it on. It reports whether the stream is
// over, and why if that is a fault.
func (s *stream) take(now time.Time) (over bool, fault error) {
	b, ev := &s.block, &s.event
	if !b.HasData {
		if b.Clean {
			s.queue.write(b.Raw)
		}
		return false, nil
	}
	over, fault = s.measure(now)
	if over && fault == nil {
		s.conclude(nil) // before the caller can see the end marker, and stop reading
	}
	if fault == nil || ev.Content {
		s.forward()
	}
	if s.meter.cut {
		s.queue.write(s.lastEvents())
	}
	if ev.Content && fault == nil {
		s.quiet.hear(now)
		s.commit()
	}
	s.awaitTail(over)
	return over, fault
}

// measure reads the current block's event into the meter, and says whether it
// is the last one, and whether it is a fault.
func (s *stream) measure(now time.Time) (over bool, fault error) {
	ev := &s.event
	s.reader.Read(s.block.Name, s.block.Data, ev)
	finished, past := s.meter.complete(), s.meter.past()
	s.meter.event(ev, now)
	switch {
	case ev.Err.Present && !finished:
		return true, s.owner.providerError(&ev.Err)
	case ev.Err.Present:
		s.meter.warning = "error after the finish reason"
	case ev.Terminal:
		return true, s.emptiness()
	case ev.Content && past && !s.meter.complete():
		s.meter.cutOff()
		return true, nil
	}
	return false, nil
}

// forward hands the current event to the caller: as it came, or mended where
// openai-go would abort or clip a good stream.
func (s *stream) forward() {
	b, ev := &s.block, &s.event
	switch {
	case ev.Noise && (b.Unterminated || !bytes.HasPrefix(b.Data, []byte("{"))):
		// A comment wrapped as data, on which openai-go would abort, or the half
		// event of a cut stream. What may be a broken event is passed on.
	case ev.UsageOnly && s.hideUsage: // the caller did not ask for it
	case ev.ErrorNull, ev.Err.Present:
		if string(b.Name) == "error" {
			return
		}
		at := ev.ErrorAt
		data := append(append([]byte(nil), b.Data[:at.Start]...), b.Data[at.End:]...)
		s.reframe(&sse.Block{Name: b.Name, Data: data, HasData: true})
	case b.Clean && !b.Unterminated:
		s.queue.write(b.Raw)
	default:
		s.reframe(b)
	}
}

func (s *stream) reframe(b *sse.Block) {
	s.out = b.AppendTo(s.out[:0])
	s.queue.write(s.out)
}

// commit lets the caller have what is there, and all that follows.
func (s *stream) commit() {
	if !s.committed {
		s.committed = true
		if !s.concluded {
			s.quiet.watch(s.stop)
		}
		s.owner.content()
	}
}

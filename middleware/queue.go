package middleware

import (
	"io"
	"sync"
	"sync/atomic"
)

const (
	segmentSize = 4 << 10
	queueBound  = 1 << 20 // bytes that one stream may hold for a caller who reads slowly
)

// segment is a piece of a queue. The writer fills data up to written, and
// links the next segment before it stops using this one.
type segment struct {
	data    [segmentSize]byte
	written atomic.Int32
	next    atomic.Pointer[segment]
}

var segments = sync.Pool{New: func() any { return new(segment) }}

func newSegment() *segment {
	s := segments.Get().(*segment)
	s.written.Store(0)
	s.next.Store(nil)
	return s
}

// queue carries the bytes of one stream from its pump to its caller: one
// writer, one reader, no lock. Memory follows what is waiting, not the bound.
// It has to be initialised by init.
type queue struct {
	// The writer's.
	tail *segment
	// The reader's. Both start at the same segment.
	head *segment
	read int32

	waiting atomic.Int64 // bytes written and not yet read
	err     atomic.Pointer[error]

	readable signal // the reader sleeps on it
	writable signal // the writer sleeps on it
}

func (q *queue) init() {
	q.head = newSegment()
	q.tail = q.head
	q.readable.c = make(chan struct{}, 1)
}

// write appends p whole, whatever is waiting: the caller of write asks full
// first, between events, so that an event is never torn.
func (q *queue) write(p []byte) {
	q.waiting.Add(int64(len(p)))
	for len(p) > 0 {
		at := q.tail.written.Load()
		if at == segmentSize {
			s := newSegment()
			q.tail.next.Store(s)
			q.tail = s
			at = 0
		}
		n := copy(q.tail.data[at:], p)
		q.tail.written.Store(at + int32(n))
		p = p[n:]
	}
}

// flush wakes the reader. It is apart from write so that a burst of events
// wakes it once.
func (q *queue) flush() { q.readable.wake() }

// full reports whether the reader is a whole bound behind.
func (q *queue) full() bool { return q.waiting.Load() >= queueBound }

// drained waits until there is room, or stop is closed.
func (q *queue) drained(stop <-chan struct{}) {
	if q.writable.c == nil { // seen by the reader once armed
		q.writable.c = make(chan struct{}, 1)
	}
	for q.full() {
		q.writable.arm()
		if !q.full() {
			q.writable.disarm()
			return
		}
		select {
		case <-q.writable.c:
		case <-stop:
			return
		}
	}
}

// close ends the queue: once everything is read, Read returns err.
func (q *queue) close(err error) {
	q.err.Store(&err)
	q.flush()
}

// Read waits for the next bytes. It returns the error that close was given
// only after all bytes.
func (q *queue) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if n := q.take(p); n > 0 {
			return n, nil
		}
		q.readable.arm()
		// The end is looked at before the bytes: what was written before close is
		// then seen by take.
		end := q.err.Load()
		if n := q.take(p); n > 0 {
			q.readable.disarm()
			return n, nil
		}
		if end != nil {
			q.readable.disarm()
			q.release()
			return 0, *end
		}
		<-q.readable.c
	}
}

// release gives the last segment back once both sides are through. The reader
// calls it.
func (q *queue) release() {
	if q.head != nil && q.err.Load() != nil {
		segments.Put(q.head)
		q.head = nil
	}
}

func (q *queue) take(p []byte) int {
	total := 0
	for total < len(p) && q.head != nil {
		written := q.head.written.Load()
		if q.read < written {
			n := copy(p[total:], q.head.data[q.read:written])
			q.read += int32(n)
			total += n
			continue
		}
		next := q.head.next.Load()
		if next == nil || q.read < segmentSize {
			break
		}
		done := q.head
		q.head, q.read = next, 0
		segments.Put(done)
	}
	if total > 0 && q.waiting.Add(int64(-total)) < queueBound {
		q.writable.wake()
	}
	return total
}

// signal wakes one sleeper. A wake without a sleeper costs one atomic load.
type signal struct {
	asleep atomic.Bool
	c      chan struct{}
}

func (s *signal) arm() { s.asleep.Store(true) }

// disarm takes back an arm that turned out not to be needed. A wake that came
// in between leaves a token: the next sleeper wakes once for nothing.
func (s *signal) disarm() { s.asleep.Store(false) }

func (s *signal) wake() {
	if s.asleep.Load() && s.asleep.CompareAndSwap(true, false) {
		select {
		case s.c <- struct{}{}:
		default:
		}
	}
}

var _ io.Reader = (*queue)(nil)

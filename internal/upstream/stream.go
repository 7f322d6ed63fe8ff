package upstream

import "time"

// stream is the source of an event stream: preamble, content events, finish. It is made while it is read.
type stream struct {
	answer   *answer
	format   streamFormat
	step     int           // 0: the preamble; i: content event i-1; after the last one: the finish
	at       time.Duration // age of the last event
	over     bool          // nothing but the end is left
	comments time.Duration // age of the next keep-alive comment
}

// newStream takes an answer that streams.
func newStream(a *answer) *stream {
	s := &stream{answer: a, format: a.format.(streamFormat), comments: never}
	if every := a.behaviour.KeepAlive; every > 0 && a.headers != never {
		s.comments = a.headers + every
	}
	return s
}

func (s *stream) next() (time.Duration, ending) {
	age, end := s.event()
	if s.comments < age {
		return s.comments, open
	}
	return age, end
}

// event is next without the comments.
func (s *stream) event() (time.Duration, ending) {
	a := s.answer
	sent := s.step - 1 // content events
	struck := a.fault.midway() && sent >= a.events
	switch {
	case s.over:
		return s.at + a.behaviour.Tail, closed
	case a.fault == Hang, a.fault == Stall && struck:
		return never, open
	case a.fault == ErrorEvent:
		return a.due(0), open
	case a.fault == Empty:
		return a.due(0), closed
	case a.fault == Cut && struck:
		return s.at, closed
	case a.fault == Reset && struck:
		return s.at, broken
	case s.step == 0:
		return a.headers, open
	}
	return a.due(min(sent, max(0, a.count()-1))), open
}

func (s *stream) append(dst []byte) []byte {
	a := s.answer
	age, _ := s.event()
	if s.comments < age {
		s.comments += a.behaviour.KeepAlive
		return append(dst, ": keep-alive\n\n"...)
	}
	sent := s.step - 1
	s.step++
	s.at = age
	switch {
	case a.fault == ErrorEvent, a.fault == LateError && sent >= a.events:
		s.over = true
		return s.format.failure(dst, a)
	case sent < 0:
		return s.format.preamble(dst, a)
	case sent < a.count():
		return s.format.content(dst, a, a.delta(sent))
	}
	s.over = true
	return s.format.finish(dst, a)
}

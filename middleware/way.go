package middleware

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"time"
)

// way is how a request gets to its target, as the transport tells. Its hooks run on
// whichever goroutine dials, also for a connection that another request gets in the end.
type way struct {
	hooks httptrace.ClientTrace
	start time.Time

	mu     sync.Mutex // guards all below
	stamps stamps
}

// stamps are what has happened; conn and wrote are after the start, 0: not yet.
type stamps struct {
	dns, connect, tls span
	conn, wrote       time.Duration
	reused            bool
}

type span struct {
	from time.Time
	took time.Duration
}

// follow returns a context under which the transport tells: about the connection, and if
// all is set everything else too, which takes more allocations.
func (w *way) follow(ctx context.Context, start time.Time, all bool) context.Context {
	w.start = start
	w.hooks.GotConn = func(info httptrace.GotConnInfo) { w.got(info.Reused) }
	if all {
		w.followAll()
	}
	return httptrace.WithClientTrace(ctx, &w.hooks)
}

func (w *way) followAll() {
	s, h := &w.stamps, &w.hooks
	h.DNSStart = func(httptrace.DNSStartInfo) { w.began(&s.dns) }
	h.DNSDone = func(info httptrace.DNSDoneInfo) { w.ended(&s.dns, info.Err) }
	h.ConnectStart = func(string, string) { w.began(&s.connect) }
	h.ConnectDone = func(_, _ string, err error) { w.ended(&s.connect, err) }
	h.TLSHandshakeStart = func() { w.began(&s.tls) }
	h.TLSHandshakeDone = func(_ tls.ConnectionState, err error) { w.ended(&s.tls, err) }
	h.WroteRequest = func(info httptrace.WroteRequestInfo) { w.sent(info.Err) }
}

// began stamps a beginning: of several addresses that are tried, the first one's.
func (w *way) began(s *span) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.from.IsZero() && w.stamps.conn == 0 {
		s.from = time.Now()
	}
}

// ended stamps an end, unless it is one of a connection that is not waited for any more.
func (w *way) ended(s *span, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.stamps.conn == 0 && !s.from.IsZero() {
		s.took = time.Since(s.from)
	}
}

func (w *way) got(reused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if reused {
		w.stamps = stamps{reused: true} // what was dialled meanwhile is not ours
	}
	w.stamps.conn = w.age()
}

func (w *way) sent(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.stamps.wrote = w.age()
	}
}

func (w *way) age() time.Duration { return max(time.Since(w.start), 1) }

// again forgets a request that has to be sent once more.
func (w *way) again() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stamps = stamps{}
}

func (w *way) reused() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stamps.reused
}

// timing is what has been told so far.
func (w *way) timing() Timing {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.stamps
	return Timing{
		Reused: s.reused, Conn: s.conn, Wrote: s.wrote,
		DNS: s.dns.took, Connect: s.connect.took, TLS: s.tls.took,
	}
}

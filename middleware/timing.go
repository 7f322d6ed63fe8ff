package middleware

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// Timing is how an attempt's request got to its target. Where the request had to be
// sent again it is the last one's. It is zero where the transport does not tell
// (net/http/httptrace), and for a [Meter] without [Trace].
type Timing struct {
	Reused bool          // the connection was from the pool
	Conn   time.Duration // from the attempt's start until there was a connection
	// Wrote is when the request was written, after the attempt's start. With
	// [Config.Trace] only, as all that follows.
	Wrote time.Duration
	// DNS, Connect and TLS are how long each took; 0 for a connection from the pool.
	DNS, Connect, TLS time.Duration
}

// ServerTiming is what a provider says of where its own time went; 0 where it does
// not say.
type ServerTiming struct {
	Queue   time.Duration // before the model began with the prompt
	Prefill time.Duration // reading the prompt
	Decode  time.Duration // generating
	TTFT    time.Duration // to its first token, all in all
	// Headers is the time until it had something to answer: the first token or
	// earlier for a stream, all of its time for an answer in one piece.
	Headers time.Duration
}

// readServerTiming reads the headers of a response.
func readServerTiming(h http.Header) ServerTiming {
	return ServerTiming{
		Queue:   duration(first(h, "Fireworks-Prefill-Queue-Duration"), time.Second),
		Prefill: duration(first(h, "Fireworks-Prefill-Duration"), time.Second),
		TTFT:    duration(first(h, "Fireworks-Server-Time-To-First-Token"), time.Second),
		Headers: serverHeaders(h),
	}
}

// serverHeaders reads what comes nearest to the model first.
func serverHeaders(h http.Header) time.Duration {
	if d := duration(first(h, "Openai-Processing-Ms"), time.Millisecond); d > 0 {
		return d
	}
	if d := duration(first(h, "X-Envoy-Upstream-Service-Time"), time.Millisecond); d > 0 {
		return d
	}
	_, dur, _ := strings.Cut(first(h, "Server-Timing"), "dur=")
	dur, _, _ = strings.Cut(dur, ",")
	dur, _, _ = strings.Cut(dur, ";")
	return duration(dur, time.Millisecond)
}

// first is http.Header.Get for a name that is in canonical form.
func first(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// duration reads a time of less than a day; 0 if it is none.
func duration(s string, unit time.Duration) time.Duration {
	if s == "" {
		return 0
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(v > 0 && v < float64(24*time.Hour/unit)) {
		return 0
	}
	return time.Duration(v * float64(unit))
}

// add takes in what the answer itself says.
func (s *ServerTiming) add(t *dialect.Timing) {
	all := dialect.Timing{Queue: s.Queue, Prefill: s.Prefill, Decode: s.Decode, TTFT: s.TTFT}
	all.Merge(t)
	s.Queue, s.Prefill, s.Decode, s.TTFT = all.Queue, all.Prefill, all.Decode, all.TTFT
}

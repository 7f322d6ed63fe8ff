package ratelimit

import (
	"net/http"
	"strings"
	"time"
)

// Info is what a response says about its sender's limits. The zero value says nothing. It is a plain value:
// reading it is safe for concurrent use.
type Info struct {
	// RetryAfter is how long to wait from now on, from 0 to [MaxDelay]. It means something only if Told.
	RetryAfter time.Duration

	// Told: a delay was told, 0 included. Never on a 2xx: some send Retry-After with every answer.
	Told bool

	// ShouldRetry: X-Should-Retry was sent. Then Retry is its value, and overrides what the status suggests.
	ShouldRetry, Retry bool

	// Requests and Tokens are the tightest bucket of each kind: that with the least share left.
	Requests, Tokens Bucket
}

// Bucket is one limit of a sender, a plain value as well. The zero value is a bucket of which nothing is known.
type Bucket struct {
	// Known: Remaining was told. Otherwise all else is 0.
	Known bool

	// Limit is what the bucket holds when full, in requests or tokens, at most [MaxCount]; 0: unknown.
	Limit int64

	// Remaining is what is left, from 0 to Limit if that is known, else to [MaxCount].
	Remaining int64

	// Reset is the time from now until the bucket is full again, from 0 to [MaxDelay]: an upper bound of the wait
	// for some of it. 0: full already, or not told.
	Reset time.Duration
}

// Read reads the headers of a response with this status, received now. It neither changes nor keeps h, which may
// be nil.
//
// The delay is that of Retry-After-Ms; else of Retry-After; else the longest reset among the exhausted buckets. On
// a 429 with none of these it is the shortest reset among the buckets that do not say what remains: one of them may
// be what refused, and the worst that comes of asking too early is another 429. A value that makes no sense counts
// as not sent.
func Read(h http.Header, status int, now time.Time) Info {
	r := reader{clock: clock{header: h, now: now}}
	for name, values := range h {
		for _, value := range values {
			r.read(name, value)
		}
	}
	return r.info(status)
}

// reader gathers what the headers of one response say, in any order.
type reader struct {
	clock       clock
	millis      told // of Retry-After-Ms
	after       told // of Retry-After
	yes, no     bool // of X-Should-Retry
	buckets     [maxBuckets]bucket
	count       int  // of buckets
	overflowing bool // more buckets than fit were named
}

func (r *reader) read(name, value string) {
	if name == "" {
		return
	}
	switch name[0] | 0x20 { // its lower case: most headers of most responses go no further
	case 'r':
		switch {
		case strings.EqualFold(name, "Retry-After"):
			r.after.longest(r.clock.delay(value, time.Second))
		case strings.EqualFold(name, "Retry-After-Ms"):
			r.millis.longest(r.clock.delay(value, time.Millisecond))
		case strings.EqualFold(name, "RateLimit"), strings.EqualFold(name, "RateLimit-Policy"):
			r.structured(value)
		default:
			r.limits(ietf, name, value)
			r.limits(sized, name, value)
		}
	case 'x':
		switch {
		case strings.EqualFold(name, "X-Should-Retry"):
			r.shouldRetry(strings.TrimSpace(value))
		case strings.EqualFold(name, "X-Ms-Retry-After-Ms"):
			r.millis.longest(r.clock.delay(value, time.Millisecond))
		default:
			r.limits(generic, name, value)
			r.limits(sized, name, value)
		}
	case 'a':
		r.limits(anthropic, name, value)
	}
}

func (r *reader) shouldRetry(value string) {
	r.yes = r.yes || strings.EqualFold(value, "true")
	r.no = r.no || strings.EqualFold(value, "false")
}

func (r *reader) info(status int) Info {
	info := Info{ShouldRetry: r.yes || r.no, Retry: r.yes && !r.no}
	served := status >= 200 && status <= 299
	drained, unsure := r.sumUp(&info, served)
	switch {
	case served:
	case r.millis.ok:
		info.tell(r.millis)
	case r.after.ok:
		info.tell(r.after)
	case drained.ok:
		info.tell(drained)
	case status == http.StatusTooManyRequests:
		info.tell(unsure)
	}
	return info
}

func (i *Info) tell(t told) { i.RetryAfter, i.Told = t.delay, t.ok }

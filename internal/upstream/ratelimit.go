package upstream

import (
	"net/http"
	"strconv"
	"time"
)

// bucket is a rate limit: it holds up to perMinute requests and fills evenly. Not safe for concurrent use.
type bucket struct {
	used float64 // requests missing to the brim
	at   time.Time
}

// take takes a request out of the bucket if one is left. wait is the time until the next one is.
func (b *bucket) take(now time.Time, perMinute int) (ok bool, wait time.Duration) {
	rate := float64(perMinute) / float64(time.Minute)
	if !b.at.IsZero() {
		b.used = max(0, b.used-float64(now.Sub(b.at))*rate)
	}
	b.at = now
	// The tolerance is for rounding: a request that waited exactly as told has to be let in.
	if lack := b.used + 1 - float64(perMinute); lack > 1e-6 {
		return false, time.Duration(lack/rate + 0.5)
	}
	b.used++
	return true, 0
}

// head writes the headers as OpenAI does: the resets are Go durations until the bucket is full.
func (b *bucket) head(h http.Header, perMinute int) {
	reset := time.Duration(b.used / float64(perMinute) * float64(time.Minute))
	h.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(perMinute))
	h.Set("X-Ratelimit-Remaining-Requests", strconv.Itoa(max(0, perMinute-int(b.used+0.999999))))
	h.Set("X-Ratelimit-Reset-Requests", reset.Round(time.Millisecond).String())
}

// retryAfter writes how long to wait in whole seconds and in milliseconds, both rounded up.
func retryAfter(h http.Header, wait time.Duration) {
	h.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	h.Set("Retry-After-Ms", strconv.Itoa(int((wait+time.Millisecond-1)/time.Millisecond)))
}

package ratelimit

import "strings"

// family keeps apart buckets of the same name that are counted by different parties: a gateway
// passes the headers of the provider behind it on beside its own.
type family uint8

const (
	generic   family = iota // X-RateLimit-*, X-Rate-Limit-*: Azure mixes the two for one bucket
	anthropic               // Anthropic-RateLimit-*
	ietf                    // RateLimit-*, RateLimit
	sized                   // of tokens: X-TokenLimit-* (Together), RateLimitBySize-* and X-RateLimitBySize-* (Mistral)
)

var prefixes = [...][]string{
	generic:   {"X-RateLimit-", "X-Rate-Limit-"},
	anthropic: {"Anthropic-RateLimit-"},
	ietf:      {"RateLimit-"},
	sized:     {"X-TokenLimit-", "RateLimitBySize-", "X-RateLimitBySize-"},
}

// field is what a header tells of its bucket.
type field uint8

const (
	limit field = iota
	remaining
	reset
	status // of Anthropic's unified windows
)

var fields = [...]string{limit: "limit", remaining: "remaining", reset: "reset", status: "status"}

// maxName bounds the name of a bucket: those of providers are half as long.
const maxName = 64

// limits notes a header of this family, if it is one.
func (r *reader) limits(f family, name, value string) {
	for _, prefix := range prefixes[f] {
		if len(name) <= len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
			continue
		}
		bucket, what, ok := split(name[len(prefix):])
		// "Rejected" overage means that nothing is sold beyond the limits, which may be far from used up.
		if ok && len(bucket) <= maxName && !contains(bucket, "overage") && (what != status || contains(bucket, "unified")) {
			r.note(f, bucket, what, value)
		}
		return
	}
}

// split takes a header's name without its prefix apart: limit-requests, requests-limit or limit.
func split(rest string) (bucket string, what field, ok bool) {
	first, after, _ := strings.Cut(rest, "-")
	if what, ok := fieldOf(first); ok {
		return after, what, true
	}
	i := strings.LastIndexByte(rest, '-')
	what, ok = fieldOf(rest[i+1:])
	return rest[:max(i, 0)], what, ok
}

func fieldOf(word string) (field, bool) {
	for f, name := range fields {
		if strings.EqualFold(word, name) {
			return field(f), true
		}
	}
	return 0, false
}

// kind is what a bucket counts.
type kind uint8

const (
	other kind = iota
	requests
	tokens
	kinds
)

func (b *bucket) kind() kind {
	switch {
	case contains(b.name, "unified"), contains(b.name, "concurren"):
		return other
	case contains(b.name, "token"), b.family == sized:
		return tokens
	case b.name == "", b.family == ietf, contains(b.name, "req"), isPeriod(b.name):
		return requests
	default:
		return other
	}
}

// isPeriod: "day", "per-minute", "1h".
func isPeriod(name string) bool {
	if len(name) > 4 && strings.EqualFold(name[:4], "per-") {
		name = name[4:]
	}
	name = strings.TrimLeft(name, "0123456789")
	for _, period := range [...]string{"s", "m", "h", "d", "second", "minute", "hour", "day", "week", "month"} {
		if strings.EqualFold(name, period) {
			return true
		}
	}
	return false
}

// contains reports whether s contains word, which is in lower case, in any case. (strings.ToLower would allocate.)
func contains(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i]|0x20 == word[0] && strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

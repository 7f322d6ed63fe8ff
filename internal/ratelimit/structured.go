package ratelimit

import "strings"

// structured reads RateLimit and RateLimit-Policy of the IETF drafts: since the eighth "name";r=50;t=30 and
// "name";q=100;w=60, before it limit=100, remaining=50, reset=30. It is more lenient than the grammar of structured
// fields, since senders are: Hugging Face's policies have two names, of which the latter is the bucket's.
func (r *reader) structured(value string) {
	for item := range strings.SplitSeq(value, ",") {
		name := ""
		for part := range strings.SplitSeq(item, ";") {
			part = strings.TrimSpace(part)
			if strings.HasPrefix(part, `"`) {
				name = strings.Trim(part, `"`)
				continue
			}
			key, value, _ := strings.Cut(part, "=")
			if what, ok := parameter(key); ok && len(name) <= maxName {
				r.note(ietf, name, what, value)
			}
		}
	}
}

func parameter(key string) (field, bool) {
	switch key {
	case "q", "limit":
		return limit, true
	case "r", "remaining":
		return remaining, true
	case "t", "reset":
		return reset, true
	default:
		return 0, false
	}
}

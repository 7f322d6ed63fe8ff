package middleware

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

const (
	minSecret = 6  // bytes; anything shorter is no credential, and may be a word
	minOwn    = 12 // of a header that need not be a credential
	redacted  = "[redacted]"
)

// Headers of a target's own that hold no secret: to take their values out would
// make an error unreadable.
var plainHeaders = headerSet([]string{
	"Accept", "Accept-Language", "Content-Type", "User-Agent", "Http-Referer", "Referer", "X-Title",
	"OpenAI-Organization", "OpenAI-Project", "OpenAI-Beta", "Anthropic-Beta", "Anthropic-Version", "X-Goog-User-Project",
	"Date", "X-Amz-Date",
})

// secrets are what a request left with that is its target's alone. Some providers
// quote it in their errors.
type secrets struct {
	sent http.Header // the request's, with the credential in it
	own  []string    // what else was added and is long enough to be a secret
}

// secretsOf compares the header of a request with the application's. It allocates
// only where there is something of the target's own.
func secretsOf(sent, callers http.Header) secrets {
	s := secrets{sent: sent}
	for name, values := range sent {
		if plainHeaders[name] || slices.Contains(credentialHeaders, name) {
			continue
		}
		for _, value := range values {
			if token := tokenOf(value); len(token) >= minOwn && !slices.Contains(callers[name], value) {
				s.own = append(s.own, token)
			}
		}
	}
	return s
}

// tokenOf is a header's value without a scheme in front of it.
func tokenOf(value string) string {
	if scheme, token, ok := strings.Cut(value, " "); ok && len(scheme) < len(token) {
		return token
	}
	return value
}

func (s secrets) all(yield func(string) bool) {
	for _, name := range credentialHeaders {
		for _, value := range s.sent[name] {
			if token := tokenOf(value); len(token) >= minSecret && !yield(token) {
				return
			}
		}
	}
	for _, token := range s.own {
		if !yield(token) {
			return
		}
	}
}

// redact takes the secrets out of an error's body.
func (s secrets) redact(body []byte) []byte {
	for secret := range s.all {
		body = bytes.ReplaceAll(body, []byte(secret), []byte(redacted))
	}
	return body
}

func (s secrets) redactHeader(h http.Header) {
	for secret := range s.all {
		for _, values := range h {
			for i, value := range values {
				if strings.Contains(value, secret) {
					values[i] = strings.ReplaceAll(value, secret, redacted)
				}
			}
		}
	}
}

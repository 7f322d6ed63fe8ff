package middleware

import (
	"bytes"
	"iter"
	"net/http"
	"strings"
)

const (
	minSecret = 6 // bytes; anything shorter is no credential, and may be a word
	redacted  = "[redacted]"
)

// secretsOf are the credentials in the header that a request left with. Some
// providers quote them in their errors.
func secretsOf(sent http.Header) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range credentialHeaders {
			for _, value := range sent[name] {
				if scheme, token, ok := strings.Cut(value, " "); ok && len(scheme) < len(token) {
					value = token
				}
				if len(value) >= minSecret && !yield(value) {
					return
				}
			}
		}
	}
}

// redact takes secrets out of an error's body.
func redact(body []byte, sent http.Header) []byte {
	for secret := range secretsOf(sent) {
		body = bytes.ReplaceAll(body, []byte(secret), []byte(redacted))
	}
	return body
}

func redactHeader(h, sent http.Header) {
	for secret := range secretsOf(sent) {
		for _, values := range h {
			for i, value := range values {
				if strings.Contains(value, secret) {
					values[i] = strings.ReplaceAll(value, secret, redacted)
				}
			}
		}
	}
}

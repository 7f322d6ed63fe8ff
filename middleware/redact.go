package middleware

import (
	"bytes"
	"net/http"
	"strings"
)

const (
	minSecret = 6 // bytes; anything shorter is no credential, and may be a word
	redacted  = "[redacted]"
)

// secretsOf are the credentials on a request that is about to leave. Some
// providers quote them in their errors.
func secretsOf(r *http.Request) []string {
	var secrets []string
	for _, name := range credentialHeaders {
		for _, value := range r.Header[name] {
			if scheme, token, ok := strings.Cut(value, " "); ok && len(scheme) < len(token) {
				value = token
			}
			if len(value) >= minSecret {
				secrets = append(secrets, value)
			}
		}
	}
	return secrets
}

// redact takes secrets out of an error's body.
func redact(body []byte, secrets []string) []byte {
	for _, secret := range secrets {
		body = bytes.ReplaceAll(body, []byte(secret), []byte(redacted))
	}
	return body
}

func redactHeader(h http.Header, secrets []string) {
	for _, values := range h {
		for i, value := range values {
			for _, secret := range secrets {
				if strings.Contains(value, secret) {
					values[i] = strings.ReplaceAll(values[i], secret, redacted)
				}
			}
		}
	}
}

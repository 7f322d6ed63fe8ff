package middleware

import (
	"net/http"
	"net/textproto"
	"strings"
)

// Headers by which providers take a credential, in canonical form. A request
// that comes with one of them must carry our placeholder in it.
var credentialHeaders = []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key", "Proxy-Authorization", "Cookie",
	"X-Auth-Token", "X-Amz-Security-Token", "Ocp-Apim-Subscription-Key"}

// Headers of the caller that never travel: they belong to one provider's
// account, to one connection, tell who the application's own user is and how the
// request came to us, or would hide the answer from the meter.
var stayingHeaders = headerSet(append([]string{
	"OpenAI-Organization", "OpenAI-Project", "X-Goog-User-Project",
	"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Host", "Content-Length", "Accept-Encoding", "Expect",
	"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip", "X-Amzn-Trace-Id", "Dpop",
}, credentialHeaders...))

// So do those with one of these beginnings, or with one of these words anywhere in
// their name: a secret is known by no list of names.
var (
	stayingPrefixes = []string{"Proxy-", "X-Forwarded-", "X-Original-", "X-Amz-", "Cf-", "X-Envoy-", "X-Ms-Client-"}
	stayingWords    = []string{"auth", "key", "token", "secret", "cookie", "session", "password", "credential", "jwt"}
)

// Headers that look like those and do travel: providers and gateways read them, and
// they hold no secret.
var (
	harmlessHeaders  = headerSet([]string{"Idempotency-Key", "X-Idempotency-Key", "Sec-Websocket-Key", "X-Session-Affinity"})
	harmlessPrefixes = []string{"Cf-Aig-"} // settings of Cloudflare's AI gateway
)

// stays reports whether a header of the caller, named in canonical form, stays here.
func stays(name string) bool {
	switch {
	case stayingHeaders[name]:
		return true
	case harmlessHeaders[name]:
		return false
	case hasPrefix(name, stayingPrefixes) && !hasPrefix(name, harmlessPrefixes):
		return true
	}
	for i := range len(name) {
		for _, word := range stayingWords {
			if name[i]|0x20 == word[0] && len(name)-i >= len(word) && strings.EqualFold(name[i:i+len(word)], word) {
				return true
			}
		}
	}
	return false
}

func hasPrefix(name string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// Headers of an upstream that never reach the caller.
var upstreamHeaders = headerSet([]string{
	"OpenAI-Organization", "OpenAI-Project", "Anthropic-Organization-Id", "Set-Cookie",
	"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"X-Should-Retry",
})

func headerSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[textproto.CanonicalMIMEHeaderKey(name)] = true
	}
	return set
}

// travelling copies the headers that may go to a target. What the Connection
// header names stays too.
func travelling(from http.Header) http.Header {
	to := make(http.Header, len(from)+4)
	for name, values := range from {
		if !stays(textproto.CanonicalMIMEHeaderKey(name)) {
			to[name] = values[:len(values):len(values)]
		}
	}
	for _, value := range from["Connection"] {
		for name := range strings.SplitSeq(value, ",") {
			to.Del(strings.TrimSpace(name))
		}
	}
	return to
}

package client

import (
	"net"
	"net/http"
	"time"
)

// newBase is an http.Transport fit for many long streams to few hosts. Nothing
// in it bounds an answer: a call's deadline does.
func newBase() *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		// Go keeps 2 idle connections per host; with 64 calls at once most of them
		// would each pay a new handshake.
		MaxIdleConnsPerHost: 512,
		IdleConnTimeout:     90 * time.Second,
		// No answer begins later: a call is given up before.
		ResponseHeaderTimeout: 10 * time.Minute,
		ForceAttemptHTTP2:     true,
		// A connection that died in silence is found out before a call is sent on
		// it, and while one waits for an answer.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		// A header that large is no answer.
		MaxResponseHeaderBytes: 1 << 20,
	}
}

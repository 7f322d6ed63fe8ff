package upstream

import (
	"net"
	"net/http"
)

// Network is an http.RoundTripper in front of several servers, by the URL's host (with the port, if the URL has one). An unknown
// host is a DNS error. Safe for concurrent use while it is not changed.
type Network map[string]http.RoundTripper

// RoundTrip passes the request to its host's server.
func (n Network) RoundTrip(r *http.Request) (*http.Response, error) {
	if server, ok := n[r.URL.Host]; ok {
		return server.RoundTrip(r)
	}
	if r.Body != nil {
		r.Body.Close()
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{
		Err: "no such host", Name: r.URL.Hostname(), IsNotFound: true,
	}}
}

var _ http.RoundTripper = Network(nil)

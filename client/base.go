package client

import (
	"net/http"
	"time"
)

// newBase is Go's own transport, fit for many long streams to few hosts. It has
// no timeout on bodies: a call's deadline bounds them.
func newBase() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	// Go keeps 2 idle connections per host; with 64 calls at once most of them
	// would each pay a new handshake.
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 512
	t.IdleConnTimeout = 90 * time.Second
	t.ForceAttemptHTTP2 = true
	return t
}

package main

import (
	"net"
	"net/http"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/ontime-llm/ontime/internal/upstream"
)

const ms = time.Millisecond

// behaviour answers in about a tenth of a second. What goes wrong is the
// proxy's doing; only what no proxy can do is the server's.
var behaviour = upstream.Behaviour{
	TTFT:         upstream.Latency{Median: 20 * ms, Sigma: 0.5, StragglerShare: 0.01, StragglerFactor: 50},
	Pace:         upstream.Latency{Median: 2 * ms, Sigma: 0.3},
	Output:       upstream.Length{Median: 30, Sigma: 0.7},
	EarlyHeaders: 0.5, KeepAlive: 30 * ms, EventsPerBurst: 3, Tail: ms,
	Faults: upstream.Faults{HTTPError: 0.005, ErrorEvent: 0.005, LateError: 0.005, Cut: 0.005, Empty: 0.005},
}

// target is a simulated provider and the proxy in front of it.
type target struct {
	name    string
	server  *upstream.Server
	address string
	serving *http.Server
	proxy   *toxiproxy.Proxy
}

func newTarget(name string, seed uint64) (*target, error) {
	t := &target{name: name, server: upstream.New(name, behaviour, seed), address: "127.0.0.1:0"}
	if err := t.up(); err != nil {
		return nil, err
	}
	return t, t.front("127.0.0.1:0")
}

// front puts a new proxy before the server.
func (t *target) front(address string) error {
	api := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	t.proxy = toxiproxy.NewProxy(api, t.name, address, t.address)
	return t.proxy.Start()
}

// up begins to listen, where it did before if it did.
func (t *target) up() error {
	l, err := net.Listen("tcp", t.address)
	if err != nil {
		return err
	}
	t.address = l.Addr().String()
	t.serving = &http.Server{Handler: t.server}
	go t.serving.Serve(l) //nolint:errcheck // it ends by Close
	return nil
}

// down breaks every connection off and listens no more.
func (t *target) down() error { return t.serving.Close() }

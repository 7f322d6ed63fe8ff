package client_test

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
)

// wire is net/http on both sides over connections in memory.
type wire struct {
	*http.Transport
	dials atomic.Int32
}

func newWire(t *testing.T, h http.Handler) *wire {
	conns := make(chan net.Conn)
	l := pipeListener{conns, make(chan struct{})}
	srv := &http.Server{Handler: h}
	go srv.Serve(l)
	w := &wire{Transport: &http.Transport{}}
	w.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		w.dials.Add(1)
		near, far := net.Pipe()
		select {
		case conns <- far:
			return near, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	t.Cleanup(func() {
		w.CloseIdleConnections()
		srv.Close()
	})
	return w
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error   { close(l.closed); return nil }
func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// A connection is used again although a little follows the end marker: the SDK
// alone stops reading there, and closes it.
func TestConnectionIsReused(t *testing.T) {
	for way, say := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := upstream.New("one", upstream.Behaviour{Tail: 2 * ms}, 1)
				w := newWire(t, server)
				c, err := client.New(client.Config{
					Targets: []client.Target{{Name: "one", BaseURL: "http://localhost/v1", APIKey: "k"}}, Transport: w,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				for range 20 {
					text, err := say(t.Context(), &c.Client, question("hello"))
					if err != nil || text != server.Text(16) {
						t.Fatalf("%q, %v", text, err)
					}
					time.Sleep(5 * ms)
				}
				if n := w.dials.Load(); n != 1 {
					t.Errorf("20 calls took %d connections, want one", n)
				}
			})
		})
	}
}

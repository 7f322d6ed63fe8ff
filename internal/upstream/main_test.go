package upstream_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"go.uber.org/goleak"

	"github.com/ontime-llm/ontime/internal/upstream"
)

const ms = time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// median is a latency that is always the same.
func median(d time.Duration) upstream.Latency { return upstream.Latency{Median: d} }

// rig is a server and a client of it, through one of its faces, in virtual time.
type rig struct {
	*testing.T
	server *upstream.Server
	http   *http.Client
	openai openai.Client
	face   string
}

// both runs a test through both faces.
func both(t *testing.T, b upstream.Behaviour, test func(rig)) {
	t.Helper()
	for _, face := range []string{"handler", "roundtripper"} {
		t.Run(face, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := upstream.New("eu", b, 1)
				c := &http.Client{Transport: s}
				if face == "handler" {
					c.Transport = serve(t, s)
				}
				test(rig{t, s, c, openai.NewClient(
					option.WithBaseURL("http://eu.test/v1"), option.WithHTTPClient(c), option.WithMaxRetries(0), option.WithAPIKey("test"),
				), face})
			})
		})
	}
}

// serve puts a handler behind net/http, over connections in memory.
func serve(t *testing.T, h http.Handler) *http.Transport {
	l := pipes{make(chan net.Conn), make(chan struct{})}
	srv := &http.Server{Handler: h}
	go srv.Serve(l)
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		client, server := net.Pipe()
		select {
		case l.conns <- server:
			return client, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		srv.Close()
	})
	return tr
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// got is a response as it came, with the age of everything.
type got struct {
	status  int
	header  http.Header
	headers time.Duration
	lines   []line // without blank ones
	body    string
	end     time.Duration
	err     error // of reading; nil at a clean end
}

type line struct {
	At   time.Duration
	Text string
}

// post sends a body and reads the response to its end.
func (r rig) post(ctx context.Context, path, body string, header ...string) (got, error) {
	req, err := http.NewRequestWithContext(ctx, "POST", "http://eu.test"+path, strings.NewReader(body))
	if err != nil {
		return got{}, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	start := time.Now()
	res, err := r.http.Do(req)
	if err != nil {
		return got{headers: time.Since(start)}, err
	}
	defer res.Body.Close()
	g := got{status: res.StatusCode, header: res.Header, headers: time.Since(start)}
	in := bufio.NewReader(res.Body)
	for {
		text, err := in.ReadString('\n')
		g.body += text
		if text = strings.TrimSpace(text); text != "" {
			g.lines = append(g.lines, line{time.Since(start), text})
		}
		if err != nil {
			g.end = time.Since(start)
			if !errors.Is(err, io.EOF) {
				g.err = err
			}
			return g, nil
		}
	}
}

// must is post for calls that get a response.
func (r rig) must(path, body string, header ...string) got {
	r.Helper()
	g, err := r.post(r.Context(), path, body, header...)
	if err != nil {
		r.Fatal(err)
	}
	return g
}

// settled returns the statistics once nothing moves any more.
func (r rig) settled() upstream.Stats {
	synctest.Wait()
	return r.server.Stats()
}

const (
	streamed = `{"model":"m","stream":true,"messages":[{"role":"user","content":"abcd"}]}` // one token of prompt
	plain    = `{"model":"m","messages":[{"role":"user","content":"abcd"}]}`
)

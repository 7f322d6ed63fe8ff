package middleware_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/ontime-llm/ontime/internal/transporttest"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

const (
	wholeAnswer = `{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`
	firstEvent  = `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"hi"}}]}` + "\n\n"
	nextEvent   = `data: {"id":"c1","choices":[{"index":0,"delta":{"content":" there"}}]}` + "\n\n"
	lastEvent   = `data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
)

// exchanges are what a transport is tried with: what it measures, and what it
// does not look at.
func exchanges() map[string]*transporttest.Exchange {
	return map[string]*transporttest.Exchange{
		"whole": {
			Path: "/chat/completions", Body: `{"model":"m","messages":[]}`, ContentType: "application/json",
			Answer: []string{wholeAnswer[:30], wholeAnswer[30:]},
		},
		"streamed": {
			Path: "/chat/completions", Body: `{"model":"m","stream":true,"messages":[]}`, ContentType: "text/event-stream",
			Answer: []string{firstEvent, nextEvent, lastEvent, "data: [DONE]\n\n"},
		},
		"passing": nil,
	}
}

// protocols start a server each in its own way.
var protocols = map[string]func(*httptest.Server){
	"HTTP/1.1": (*httptest.Server).Start,
	"HTTP/2": func(srv *httptest.Server) {
		srv.EnableHTTP2 = true
		srv.StartTLS()
	},
}

// listen starts a server for one check.
func listen(t *testing.T, h http.Handler, protocol string) *httptest.Server {
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are broken off on purpose
	protocols[protocol](srv)
	t.Cleanup(srv.Close)
	return srv
}

func TestMeterTransportKeepsTheContract(t *testing.T) {
	for name, exchange := range exchanges() {
		for protocol := range protocols {
			t.Run(name+", "+protocol, func(t *testing.T) {
				transporttest.Test(t, transporttest.Subject{
					New: func(t *testing.T, h http.Handler) (http.RoundTripper, string) {
						srv := listen(t, h, protocol)
						return middleware.MeterTransport(srv.Client().Transport), srv.URL
					},
					Exchange: exchange, Upgrades: exchange == nil && protocol == "HTTP/1.1",
				})
			})
		}
	}
}

// The transport under the embedded client, and the one of an endpoint: what is
// not inference goes home.
func TestTransportKeepsTheContract(t *testing.T) {
	for name, exchange := range exchanges() {
		if name == "whole" {
			exchange.Whole = true
		}
		for face, of := range map[string]func(*middleware.Transport) http.RoundTripper{
			"plain":    func(tr *middleware.Transport) http.RoundTripper { return tr },
			"endpoint": func(tr *middleware.Transport) http.RoundTripper { return tr.Endpoint(router.DefaultEndpoint) },
		} {
			protocol := map[string]string{"plain": "HTTP/1.1", "endpoint": "HTTP/2"}[face]
			t.Run(name+", "+face+", "+protocol, func(t *testing.T) {
				transporttest.Test(t, transporttest.Subject{
					New: func(t *testing.T, h http.Handler) (http.RoundTripper, string) {
						return of(newTransport(t, listen(t, h, protocol))), "https://ontime.invalid/v1"
					},
					Exchange: exchange, Upgrades: exchange == nil && protocol == "HTTP/1.1",
				})
			})
		}
	}
}

// newTransport routes to two targets behind one server.
func newTransport(t *testing.T, srv *httptest.Server) *middleware.Transport {
	t.Helper()
	cfg := middleware.Config{Home: "one", Base: srv.Client().Transport}
	cfg.Origin, _ = url.Parse("https://ontime.invalid/v1/")
	var targets []router.Target
	for _, name := range []string{"one", "two"} {
		base, _ := url.Parse(srv.URL + "/" + name + "/v1")
		targets = append(targets, router.Target{Name: name})
		cfg.Upstreams = append(cfg.Upstreams, middleware.Upstream{Name: name, BaseURL: base})
	}
	var err error
	if cfg.Router, err = router.New(router.Config{Targets: targets}); err != nil {
		t.Fatal(err)
	}
	tr, err := middleware.NewTransport(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

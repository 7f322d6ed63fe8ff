package client_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/transporttest"
)

// The exchanges that the client has an opinion on: a call whose answer it holds
// until all of it is there, and one whose answer it passes on as it comes.
var (
	wholeExchange = transporttest.Exchange{
		Path: "/chat/completions", Body: askBody, ContentType: "application/json",
		Answer: []string{wholeAnswer[:40], wholeAnswer[40:]}, Whole: true,
	}
	streamExchange = transporttest.Exchange{
		Path: "/chat/completions", Body: streamBody, ContentType: "text/event-stream",
		Answer: []string{delta("half"), delta(" and half"), finish, done},
	}
)

// servers are what a target is reached by, and the transport that knows how; nil
// is the client's own.
var servers = map[string]func(http.Handler) (*httptest.Server, http.RoundTripper){
	"HTTP/1.1": func(h http.Handler) (*httptest.Server, http.RoundTripper) { return httptest.NewServer(h), nil },
	"HTTP/2": func(h http.Handler) (*httptest.Server, http.RoundTripper) {
		srv := httptest.NewUnstartedServer(h)
		srv.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are broken off on purpose
		srv.EnableHTTP2 = true
		srv.StartTLS()
		return srv, srv.Client().Transport
	},
}

// What HTTPClient gives other SDKs is a transport as any other: for calls that
// are routed, and for what passes. Package middleware tries the rest.
func TestHTTPClientKeepsTheContract(t *testing.T) {
	for _, test := range []struct {
		name     string
		exchange *transporttest.Exchange
		protocol string
	}{
		{"whole", &wholeExchange, "HTTP/1.1"},
		{"streamed", &streamExchange, "HTTP/2"},
		{"passing", nil, "HTTP/1.1"},
	} {
		t.Run(test.name+", "+test.protocol, func(t *testing.T) {
			transporttest.Test(t, transporttest.Subject{
				New: func(t *testing.T, h http.Handler) (http.RoundTripper, string) {
					srv, base := servers[test.protocol](h)
					t.Cleanup(srv.Close)
					c, err := client.New(client.Config{
						Targets: []client.Target{
							{Name: "one", BaseURL: srv.URL + "/one/v1", APIKey: "key-of-one"},
							{Name: "two", BaseURL: srv.URL + "/two/v1", APIKey: "key-of-two"},
						},
						Endpoints: chatBudget(), Transport: base,
					})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { c.Close() })
					return c.HTTPClient().Transport, srv.URL + "/one/v1"
				},
				Header:   http.Header{"Authorization": {"Bearer " + client.APIKey}},
				Exchange: test.exchange, Upgrades: test.exchange == nil,
			})
		})
	}
}

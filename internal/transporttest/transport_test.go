package transporttest_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ontime-llm/ontime/internal/transporttest"
)

// What net/http itself does is the measure: the checks ask no more.
func TestHTTPTransport(t *testing.T) {
	for name, s := range map[string]transporttest.Subject{
		"HTTP/1.1": {New: served((*httptest.Server).Start), Upgrades: true},
		"HTTP/2":   {New: served(startHTTP2)},
	} {
		t.Run(name, func(t *testing.T) { transporttest.Test(t, s) })
	}
}

func served(start func(*httptest.Server)) func(*testing.T, http.Handler) (http.RoundTripper, string) {
	return func(t *testing.T, h http.Handler) (http.RoundTripper, string) {
		srv := httptest.NewUnstartedServer(h)
		srv.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are broken off on purpose
		start(srv)
		t.Cleanup(srv.Close)
		return srv.Client().Transport, srv.URL
	}
}

func startHTTP2(srv *httptest.Server) {
	srv.EnableHTTP2 = true
	srv.StartTLS()
}

package middleware_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/middleware"
)

// A mistake in an address or a certificate is told as what it is, without a word of the
// server's. The errors are real ones.
func TestConnectErrorSaysWhatToLookAt(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	picky := httptest.NewUnstartedServer(http.NotFoundHandler())
	picky.Config.ErrorLog = secure.Config.ErrorLog
	picky.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	picky.StartTLS()
	defer picky.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	trusted := x509.NewCertPool()
	trusted.AddCert(secure.Certificate())
	later := func() time.Time { return secure.Certificate().NotAfter.Add(time.Hour) }

	for name, test := range map[string]struct {
		url  string
		tls  *tls.Config
		want string
	}{
		"authority": {secure.URL, &tls.Config{}, "TLS failed: the certificate is by an unknown authority"},
		"host":      {secure.URL, &tls.Config{RootCAs: trusted, ServerName: "api.test"}, "TLS failed: the certificate is for another host"},
		"time":      {secure.URL, &tls.Config{RootCAs: trusted, Time: later}, "TLS failed: the certificate has expired or is not valid yet"},
		"alert":     {picky.URL, &tls.Config{RootCAs: trusted}, "TLS failed"},
		"no TLS":    {strings.Replace(plain.URL, "http:", "https:", 1), &tls.Config{}, "TLS failed: the server speaks plain HTTP"},
	} {
		t.Run(name, func(t *testing.T) {
			transport := &http.Transport{TLSClientConfig: test.tls}
			defer transport.CloseIdleConnections()
			r := httptest.NewRequest(http.MethodGet, test.url, nil)
			resp, err := transport.RoundTrip(r)
			if err == nil {
				resp.Body.Close()
				t.Fatal("there is an answer")
			}
			if got := (&middleware.ConnectError{Err: err}).Error(); got != test.want {
				t.Errorf("%q for %v, want %q", got, err, test.want)
			}
		})
	}
	for want, err := range map[string]error{
		"no connection in time": &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
		"timeout":               &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
	} {
		if got := (&middleware.ConnectError{Err: err}).Error(); got != want {
			t.Errorf("%q for %v, want %q", got, err, want)
		}
	}
}

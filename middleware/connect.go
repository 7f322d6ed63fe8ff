package middleware

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// ConnectError is a target that could not be reached, or a connection that
// broke. Its text is ours, in JSON too; Unwrap has the cause,
// which may come from anywhere.
type ConnectError struct {
	Target string
	Err    error `json:"-"`
}

// Error says what kind of failure it was.
func (e *ConnectError) Error() string { return connectKind(e.Err) }

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

func connectKind(err error) string {
	var (
		dns     *net.DNSError
		alert   tls.AlertError
		cert    *tls.CertificateVerificationError
		host    x509.HostnameError
		unknown x509.UnknownAuthorityError
		netErr  net.Error
	)
	switch {
	case errors.As(err, &dns):
		return "host not found"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.As(err, &alert), errors.As(err, &cert), errors.As(err, &host), errors.As(err, &unknown):
		return "TLS failed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return "timeout"
	default:
		return "connection failed"
	}
}

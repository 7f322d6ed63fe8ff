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
// broke. Its text is ours, in JSON too; Unwrap has the cause, which may come from
// anywhere.
type ConnectError struct {
	Target string
	Err    error `json:"-"`
}

// Error says what kind of failure it was.
func (e *ConnectError) Error() string { return connectKind(e.Err) }

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// connectKind is what broke, in few words that are ours; where it is a mistake of
// somebody, in words that say whose.
func connectKind(err error) string {
	var dns *net.DNSError
	var netErr net.Error
	switch {
	case errors.As(err, &dns):
		return "host not found"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case isTLS(err):
		return "TLS failed" + tlsFault(err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
			return "no connection in time"
		}
		return "timeout"
	default:
		return "connection failed"
	}
}

func isTLS(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "remote error" || op.Op == "local error") {
		return true // an alert, whose type package tls keeps to itself
	}
	var cert *tls.CertificateVerificationError
	return errors.As(err, &cert) || tlsFault(err) != ""
}

// tlsFault is what is wrong with TLS where that is the address's or the certificate's
// fault, else empty.
func tlsFault(err error) string {
	var (
		record  tls.RecordHeaderError
		host    x509.HostnameError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/":
		return ": the server speaks plain HTTP"
	case errors.As(err, &record):
		return ": the server speaks something else"
	case errors.As(err, &host):
		return ": the certificate is for another host"
	case errors.As(err, &unknown):
		return ": the certificate is by an unknown authority"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return ": the certificate has expired or is not valid yet"
	default:
		return ""
	}
}

package otel

import (
	"net/http"

	"go.opentelemetry.io/otel/propagation"
)

// Propagate returns a RoundTripper that tells providers of the trace that a call is part
// of, in the header traceparent (W3C Trace Context; no baggage, which may hold an
// application's data). Their spans become children of the span that the call was made in,
// since a call's own span is made when it has ended. Without Propagate nothing is told.
//
// It is for the client's Config.Transport, or the transport of an http.Client whose calls
// are metered. A nil next is http.DefaultTransport.
func Propagate(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return propagator{next}
}

type propagator struct{ next http.RoundTripper }

// RoundTrip sends a copy of the request, with the header.
func (p propagator) RoundTrip(r *http.Request) (*http.Response, error) {
	told := r.Clone(r.Context())
	propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(told.Header))
	resp, err := p.next.RoundTrip(told)
	if resp != nil && resp.Request == told {
		resp.Request = r
	}
	return resp, err
}

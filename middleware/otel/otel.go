package otel

import (
	"context"

	global "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/ontime-llm/ontime/middleware"
)

// Option configures [New].
type Option func(*settings)

type settings struct {
	tracers trace.TracerProvider
	meters  metric.MeterProvider
}

// TracerProvider makes the spans. Without it the global one does; one of package
// trace/noop makes none.
func TracerProvider(p trace.TracerProvider) Option {
	return func(s *settings) { s.tracers = p }
}

// MeterProvider makes the metrics. Without it the global one does; one of package
// metric/noop makes none.
func MeterProvider(p metric.MeterProvider) Option {
	return func(s *settings) { s.meters = p }
}

// Observer makes spans and metrics of calls that have ended. It is made by [New], safe
// for concurrent use, and starts no goroutine.
type Observer struct {
	tracer trace.Tracer
	meters *instruments
}

// New returns an Observer for a client's Config.Observers or a middleware.Meter. The error
// is the MeterProvider's, such as for a metric of the same name that is of another kind.
func New(opts ...Option) (*Observer, error) {
	s := settings{tracers: global.GetTracerProvider(), meters: global.GetMeterProvider()}
	for _, opt := range opts {
		opt(&s)
	}
	in, err := newInstruments(s.meters.Meter(scope))
	if err != nil {
		return nil, err
	}
	return &Observer{tracer: s.tracers.Tracer(scope), meters: in}, nil
}

// ObserveAttempt does nothing: a call carries its attempts.
func (o *Observer) ObserveAttempt(middleware.Attempt) {}

// ObserveCall makes the spans of a call a trace of their own. It is for those who have
// the call alone; a client and a Meter give its context too.
func (o *Observer) ObserveCall(c middleware.Call) { o.ObserveCallContext(context.Background(), c) }

// ObserveCallContext makes the spans of a call, as children of the span in ctx, and its
// metrics. Neither that span nor ctx need be alive.
func (o *Observer) ObserveCallContext(ctx context.Context, c middleware.Call) {
	a := answering(&c)
	ctx = o.span(ctx, &c, a)
	o.meters.record(ctx, &c, a)
}

// answering is the attempt that a call stands for: the one that its answer came from, or
// else the last one tried. Nil: there was none.
func answering(c *middleware.Call) *middleware.Attempt {
	for i := len(c.Attempts) - 1; i >= 0; i-- {
		if a := &c.Attempts[i]; a.Target == c.Target {
			return a
		}
	}
	return nil
}

// TraceID is for the client's Config.TraceID, and for middleware.TraceID: logs and
// exemplars of Prometheus then have the id of the trace that a call is part of.
func TraceID(ctx context.Context) string {
	if s := trace.SpanContextFromContext(ctx); s.HasTraceID() {
		return s.TraceID().String()
	}
	return ""
}

var _ middleware.ContextObserver = (*Observer)(nil)

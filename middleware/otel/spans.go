package otel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/ontime-llm/ontime/middleware"
)

// span makes the span of a call, with those of its attempts, and returns a context that
// has it.
func (o *Observer) span(ctx context.Context, c *middleware.Call, a *middleware.Attempt) context.Context {
	operation := operationOf(c)
	name := operation
	if c.Model != "" {
		name += " " + clip(c.Model)
	}
	// Samplers see what is given here alone.
	known := attributes{attribute.String(operationName, operation), attribute.String(providerName, providerOf(c, a))}
	known.text(requestModel, clip(c.Model))
	known.text(endpointName, clip(c.Endpoint))
	known.server(a)
	ctx, span := o.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(c.Start), trace.WithAttributes(known...))
	if span.IsRecording() {
		span.SetAttributes(ofCall(c, a)...)
		finish(span, c.Outcome, c.Err)
		for _, e := range eventsOf(c, a) {
			span.AddEvent(e.name, trace.WithTimestamp(c.Start.Add(e.at)), trace.WithAttributes(ofEvent(e.of)...))
		}
		for i := range c.Attempts {
			o.attemptSpan(ctx, c, i)
		}
	}
	span.End(trace.WithTimestamp(c.Start.Add(c.Total)))
	return ctx
}

// attemptSpan makes the span of the attempt with the index i.
func (o *Observer) attemptSpan(ctx context.Context, c *middleware.Call, i int) {
	a := &c.Attempts[i]
	start := c.Start.Add(a.Start)
	_, span := o.tracer.Start(ctx, "attempt "+a.Target, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(start), trace.WithAttributes(ofAttempt(c, i)...))
	finish(span, a.Outcome, a.Err)
	span.End(trace.WithTimestamp(start.Add(a.Total)))
}

// finish sets the status of a span, and what went wrong. That the application wanted no
// more is no failure, but no answer either: it has a type of error and no status.
func finish(span trace.Span, outcome middleware.Outcome, err error) {
	word := errorWord(outcome, err)
	if word == "" {
		return
	}
	span.SetAttributes(attribute.String(errorType, word))
	if outcome != middleware.Cancelled {
		span.SetStatus(codes.Error, "")
	}
	if e, ok := errors.AsType[*middleware.ProviderError](err); ok && e.Code != "" {
		span.SetAttributes(attribute.String(errorCode, clip(e.Code)))
	}
}

// event is something that happened during a call, at a time after its start.
type event struct {
	name string
	at   time.Duration
	of   *middleware.Attempt
}

// eventsOf are a call's events, in the order of their times.
func eventsOf(c *middleware.Call, answer *middleware.Attempt) []event {
	var events []event
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if a.Hedge {
			events = append(events, event{hedgeEvent, a.Start, a})
		}
		if errors.Is(a.Err, middleware.ErrAbandoned) {
			events = append(events, event{abandonEvent, a.Start + a.Total, a})
		}
	}
	if at := committed(c); at > 0 && answer != nil {
		events = append(events, event{commitEvent, at, answer})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return events
}

// committed is when a call was bound to an attempt: at its first content, or with all of
// an answer that has none or comes in one piece. 0: never.
func committed(c *middleware.Call) time.Duration {
	if c.TTFT > 0 || c.Outcome != middleware.Completed {
		return c.TTFT
	}
	return c.Total
}

package otel

import (
	"context"
	"errors"
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/ontime-llm/ontime/middleware"
)

// instruments are the metrics of calls.
type instruments struct {
	names names

	duration, firstChunk, perChunk      metric.Float64Histogram
	input, cacheRead, output, reasoning metric.Int64Counter
	callInput, callOutput               metric.Int64Histogram

	embedDuration metric.Float64Histogram
	embedInput    metric.Int64Histogram
}

func newInstruments(m metric.Meter) (*instruments, error) {
	var errs []error
	seconds := func(name, help string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(help), metric.WithExplicitBucketBoundaries(timeBuckets...))
		errs = append(errs, err)
		return h
	}
	tokens := func(name, help string) metric.Int64Histogram {
		h, err := m.Int64Histogram(name, metric.WithUnit("{token}"), metric.WithDescription(help), metric.WithExplicitBucketBoundaries(tokenBuckets...))
		errs = append(errs, err)
		return h
	}
	count := func(name, help string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit("{token}"), metric.WithDescription(help))
		errs = append(errs, err)
		return c
	}
	in := &instruments{
		duration:   seconds(inferenceDuration, "time from the start of a call to its end"),
		firstChunk: seconds(timeToFirstChunk, "time from the start of a streamed call to its first content"),
		perChunk:   seconds(timePerOutputChunk, "gaps between content events"),
		input:      count(inputTokens, "input tokens, cached ones included"),
		cacheRead:  count(cacheReadTokens, "of them, tokens read from a provider's cache"),
		output:     count(outputTokens, "output tokens, reasoning included"),
		reasoning:  count(reasoningTokens, "of them, tokens spent on reasoning"),
		callInput:  tokens(callInputTokens, "input tokens of a call"),
		callOutput: tokens(callOutputTokens, "output tokens of a call"),

		embedDuration: seconds(embeddingsDuration, "time from the start of an embeddings call to its end"),
		embedInput:    tokens(embeddingsCallInput, "input tokens of an embeddings call"),
	}
	return in, errors.Join(errs...)
}

// record enters a call, which the attempt a answered. ctx has the call's span, for
// exemplars.
func (in *instruments) record(ctx context.Context, c *middleware.Call, a *middleware.Attempt) {
	l := in.names.label(c, a)
	about := l.attributes(operationOf(c), providerOf(c, a))
	answer := metric.WithAttributes(about...)
	about = append(about, attribute.String(outcomeName, c.Outcome.String()))
	about.text(errorType, errorWord(c.Outcome, c.Err))
	ended := metric.WithAttributes(about...)

	var usage middleware.Usage
	if told(&c.Usage) {
		usage = c.Usage
	}
	if operationOf(c) == embeddings {
		in.embedDuration.Record(ctx, c.Total.Seconds(), ended)
		in.embedInput.Record(ctx, int64(usage.Input), ended)
		return
	}
	in.duration.Record(ctx, c.Total.Seconds(), ended)
	in.callInput.Record(ctx, int64(usage.Input), ended)
	in.callOutput.Record(ctx, int64(usage.Output), ended)
	if c.Streamed && c.TTFT > 0 {
		in.firstChunk.Record(ctx, c.TTFT.Seconds(), answer)
	}
	if a != nil && a.ITL.N() > 0 && in.perChunk.Enabled(ctx) {
		in.chunks(&a.ITL, answer)
	}
	in.spent(ctx, c, a)
}

// spent counts the tokens of all attempts whose providers told them, each with where it
// went. Where none did the call counts for none, as the conventions have it.
func (in *instruments) spent(ctx context.Context, c *middleware.Call, answer *middleware.Attempt) {
	counted := false
	for i := range c.Attempts {
		if a := &c.Attempts[i]; told(&a.Usage) {
			counted = true
			in.count(ctx, c, a, &a.Usage)
		}
	}
	if !counted {
		in.count(ctx, c, answer, &middleware.Usage{})
	}
}

func (in *instruments) count(ctx context.Context, c *middleware.Call, a *middleware.Attempt, u *middleware.Usage) {
	at := *c
	if a != nil {
		at.Target = a.Target
	}
	l := in.names.label(&at, a)
	as := append(l.attributes(operationOf(c), providerOf(c, a)), attribute.String(tokenModality, unknownModality))
	with := metric.WithAttributes(as...)
	in.input.Add(ctx, int64(u.Input), with)
	in.output.Add(ctx, int64(u.Output), with)
	if u.CachedInput > 0 {
		in.cacheRead.Add(ctx, int64(u.CachedInput), with)
	}
	if u.Reasoning > 0 {
		in.reasoning.Add(ctx, int64(u.Reasoning), with)
	}
}

// chunks enters the gaps of one stream. They were counted in buckets: each stands for its
// upper bound, scaled so that the mean is what was measured. Where the pace is even it is
// exact.
func (in *instruments) chunks(gaps *middleware.Gaps, with metric.RecordOption) {
	ctx, opts := context.Background(), []metric.RecordOption{with}
	bounds := 0.0
	for bound, n := range gaps.Buckets() {
		bounds += float64(bound) * float64(n)
	}
	scale := float64(gaps.Mean()) * float64(gaps.N()) / bounds
	for bound, n := range gaps.Buckets() {
		v := time.Duration(math.Round(float64(bound) * scale)).Seconds()
		for range n {
			in.perChunk.Record(ctx, v, opts...)
		}
	}
}

// attributes are those that all metrics have.
func (l *labels) attributes(operation, provider string) attributes {
	as := make(attributes, 0, 12)
	as.text(operationName, operation)
	as.text(providerName, provider)
	as.text(requestModel, l.model)
	as.text(responseModel, l.served)
	as.text(endpointName, l.endpoint)
	as.text(targetName, l.target)
	as.server(&middleware.Attempt{Address: l.address})
	return as
}

package otel_test

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

var errBroken = errors.New("no such counter")

// broken is a MeterProvider whose counters cannot be made.
type broken struct{ metric.MeterProvider }

func (b broken) Meter(name string, opts ...metric.MeterOption) metric.Meter {
	return brokenMeter{b.MeterProvider.Meter(name, opts...)}
}

type brokenMeter struct{ metric.Meter }

func (brokenMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, errBroken
}

package otel_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/ontime-llm/ontime/middleware/otel"
)

const ms = time.Millisecond

// recorder is an Observer over the SDK, with all that it made.
type recorder struct {
	*otel.Observer
	t        *testing.T
	tracer   trace.Tracer // the application's
	exporter *tracetest.InMemoryExporter
	reader   *sdkmetric.ManualReader
}

func newRecorder(t *testing.T, opts ...sdktrace.TracerProviderOption) *recorder {
	t.Helper()
	r := &recorder{t: t, exporter: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	tracers := sdktrace.NewTracerProvider(append(opts, sdktrace.WithSyncer(r.exporter))...)
	r.tracer = tracers.Tracer("app")
	var err error
	r.Observer, err = otel.New(otel.TracerProvider(tracers),
		otel.MeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// spans are those that have ended, by name; those of the same name in their order.
func (r *recorder) spans() map[string][]tracetest.SpanStub {
	all := map[string][]tracetest.SpanStub{}
	for _, s := range r.exporter.GetSpans() {
		all[s.Name] = append(all[s.Name], s)
	}
	return all
}

// span is the only one of that name.
func (r *recorder) span(name string) tracetest.SpanStub {
	r.t.Helper()
	found := r.spans()[name]
	if len(found) != 1 {
		r.t.Fatalf("%d spans %q among %v, want one", len(found), name, r.spans())
	}
	return found[0]
}

// values are attributes by their names.
func values(as []attribute.KeyValue) map[string]any {
	all := map[string]any{}
	for _, a := range as {
		all[string(a.Key)] = a.Value.AsInterface()
	}
	return all
}

// metrics are those that were recorded, by name.
func (r *recorder) metrics() map[string]metricdata.Metrics {
	r.t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.reader.Collect(r.t.Context(), &all); err != nil {
		r.t.Fatal(err)
	}
	found := map[string]metricdata.Metrics{}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			found[m.Name] = m
		}
	}
	return found
}

// point is a histogram's or a counter's, for one set of attributes.
type point struct {
	Count     uint64
	Sum       float64
	Exemplars []metricdata.Exemplar[float64]
	Bounds    []float64
	Attrs     map[string]any
}

// points are those of one metric.
func (r *recorder) points(name string) []point {
	r.t.Helper()
	var found []point
	switch data := r.metrics()[name].Data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			found = append(found, point{p.Count, p.Sum, p.Exemplars, p.Bounds, values(p.Attributes.ToSlice())})
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			found = append(found, point{p.Count, float64(p.Sum), nil, p.Bounds, values(p.Attributes.ToSlice())})
		}
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			found = append(found, point{1, float64(p.Value), nil, nil, values(p.Attributes.ToSlice())})
		}
	}
	slices.SortFunc(found, func(a, b point) int { return strings.Compare(text(a.Attrs), text(b.Attrs)) })
	return found
}

func text(attrs map[string]any) string {
	target, _ := attrs["ontime.target"].(string)
	return target
}

// sum is a metric's over all attributes.
func (r *recorder) sum(name string) float64 {
	r.t.Helper()
	total := 0.0
	for _, p := range r.points(name) {
		total += p.Sum
	}
	return total
}

// stringsOf are the values of attributes as text.
func stringsOf(as []attribute.KeyValue) []string {
	var all []string
	for _, a := range as {
		all = append(all, a.Value.String())
	}
	return all
}

package metrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/ontime-llm/ontime/middleware/metrics"
)

// scrape is what a registry has, by name.
type scrape map[string]*dto.MetricFamily

func scraped(t testing.TB, reg prometheus.Gatherer) scrape {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	s := scrape{}
	for _, f := range families {
		s[f.GetName()] = f
	}
	return s
}

// find returns the series with exactly these values of its labels, written as in
// "endpoint=chat model=m"; nil if there is none.
func (s scrape) find(name, labels string) *dto.Metric {
	for _, m := range s[name].GetMetric() {
		if labelsOf(m) == labels {
			return m
		}
	}
	return nil
}

// labelsOf are in the order of their names; those without a value are left out.
func labelsOf(m *dto.Metric) string {
	var all []string
	for _, l := range m.GetLabel() {
		if l.GetValue() != "" {
			all = append(all, l.GetName()+"="+l.GetValue())
		}
	}
	return strings.Join(all, " ")
}

// values are a family's series by their labels: the value of a counter or a gauge, count
// and sum of a histogram.
func (s scrape) values(name string) map[string]string {
	all := map[string]string{}
	for _, m := range s[name].GetMetric() {
		var v string
		switch {
		case m.Histogram != nil:
			v = fmt.Sprintf("%d in %.6gs", m.Histogram.GetSampleCount(), m.Histogram.GetSampleSum())
		case m.Counter != nil:
			v = fmt.Sprintf("%.6g", m.Counter.GetValue())
		default:
			v = fmt.Sprintf("%.6g", m.Gauge.GetValue())
		}
		all[labelsOf(m)] = v
	}
	return all
}

// names are in order.
func (s scrape) names() []string {
	var all []string
	for name := range s {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// observed returns Metrics of their own registry.
func observed(t testing.TB, opts ...metrics.Option) (*metrics.Metrics, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	m, err := metrics.New(reg, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return m, reg
}

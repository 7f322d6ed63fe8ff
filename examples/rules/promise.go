package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/router"
)

// promise is one layer of one endpoint.
type promise struct {
	endpoint string
	budget.Layer
}

// promises are those of a configuration by endpoint, that every call is answered among
// them. There is always an endpoint for calls that name none.
func promises(cfg client.Config) []promise {
	endpoints := maps.Clone(cfg.Endpoints)
	if endpoints == nil {
		endpoints = map[string]budget.Budget{}
	}
	if _, ok := endpoints[router.DefaultEndpoint]; !ok {
		endpoints[router.DefaultEndpoint] = budget.Budget{}
	}
	var all []promise
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		for _, layer := range budget.NewLedger(endpoints[name]).Layers() {
			all = append(all, promise{name, layer})
		}
	}
	return all
}

// label is the layer as metrics have it.
func (p promise) label() string {
	if p.Metric == budget.Answered {
		return p.Metric.String()
	}
	return p.Metric.String() + "_p" + p.percentile()
}

func (p promise) percentile() string { return strconv.FormatFloat(p.Percentile, 'g', -1, 64) }

// matchers select its series.
func (p promise) matchers() []string {
	return []string{is("endpoint", p.endpoint), is("layer", p.label())}
}

// key is where the layer's limit is in the configuration.
func (p promise) key() string {
	return "endpoints." + p.endpoint + "." + p.Metric.String() + ".p" + p.percentile()
}

// maker makes rules for what is scraped under one job.
type maker struct{ job string }

// of selects a metric's series by matchers. Without a job each job's series are kept
// apart: they are aggregated by it.
func (m maker) of(metric string, matchers ...string) string {
	if m.job != "" {
		matchers = slices.Insert(slices.Clone(matchers), 0, is("job", m.job))
	}
	if len(matchers) == 0 {
		return metric
	}
	return metric + "{" + strings.Join(matchers, ",") + "}"
}

// is matches one value of a label.
func is(label, value string) string { return label + "=" + strconv.Quote(value) }

// number writes a figure without the last bits, in which 1-0.999 is off.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// percent writes a share.
func percent(share float64) string { return number(100*share) + "%" }

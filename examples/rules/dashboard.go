package main

import (
	"encoding/json"
	"io"
	"strings"
)

// The parts of Grafana's dashboard model that are used, as of version 10.
type (
	dashboard struct {
		Title         string    `json:"title"`
		UID           string    `json:"uid"`
		Tags          []string  `json:"tags"`
		SchemaVersion int       `json:"schemaVersion"`
		Refresh       string    `json:"refresh"`
		Time          timeRange `json:"time"`
		Templating    struct {
			List []variable `json:"list"`
		} `json:"templating"`
		Panels []panel `json:"panels"`
	}
	timeRange struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	variable struct {
		Name       string  `json:"name"`
		Label      string  `json:"label"`
		Type       string  `json:"type"`
		Query      string  `json:"query"`
		Datasource *source `json:"datasource,omitempty"`
		Refresh    int     `json:"refresh,omitempty"` // 2: whenever the time range changes
		Multi      bool    `json:"multi,omitempty"`
		IncludeAll bool    `json:"includeAll,omitempty"`
		AllValue   string  `json:"allValue,omitempty"`
		Current    any     `json:"current,omitempty"`
	}
	source struct {
		Type string `json:"type"`
		UID  string `json:"uid"`
	}
	panel struct {
		ID          int      `json:"id"`
		Type        string   `json:"type"`
		Title       string   `json:"title"`
		Description string   `json:"description,omitempty"`
		GridPos     place    `json:"gridPos"`
		Datasource  *source  `json:"datasource,omitempty"`
		Targets     []target `json:"targets,omitempty"`
		FieldConfig *fields  `json:"fieldConfig,omitempty"`
		Options     *options `json:"options,omitempty"`
	}
	place struct {
		X int `json:"x"`
		Y int `json:"y"`
		W int `json:"w"`
		H int `json:"h"`
	}
	target struct {
		RefID  string `json:"refId"`
		Expr   string `json:"expr"`
		Legend string `json:"legendFormat"`
		// Instant asks for one value, that of the end of the time shown.
		Instant bool `json:"instant,omitempty"`
	}
	options struct {
		Orientation string `json:"orientation"`
	}
	fields struct {
		Defaults  defaults `json:"defaults"`
		Overrides []any    `json:"overrides"`
	}
	defaults struct {
		Unit       string     `json:"unit"`
		Min        *float64   `json:"min,omitempty"`
		Thresholds *limits    `json:"thresholds,omitempty"`
		Custom     *lineStyle `json:"custom,omitempty"`
	}
	limits struct {
		Mode  string `json:"mode"`
		Steps []step `json:"steps"`
	}
	step struct {
		Color string   `json:"color"`
		Value *float64 `json:"value"` // null: from the bottom
	}
	lineStyle struct {
		ThresholdsStyle lineLimit `json:"thresholdsStyle"`
	}
	lineLimit struct {
		Mode string `json:"mode"`
	}
)

const (
	panelWidth, panelHeight = 8, 8 // three in a row of 24
	maxColumns              = 3
)

var datasource = &source{"prometheus", "${datasource}"}

// writeDashboard prints what [questions] describe.
func writeDashboard(out io.Writer) error {
	d := dashboard{
		Title: "ontime", UID: "ontime", Tags: []string{"ontime", "llm"}, SchemaVersion: 38, Refresh: "1m",
		Time: timeRange{"now-6h", "now"},
	}
	d.Templating.List = variables()
	y := 0
	for _, q := range questions {
		d.Panels = append(d.Panels, panel{ID: len(d.Panels) + 1, Type: "row", Title: q.row + ": " + q.asks, GridPos: place{0, y, 24, 1}})
		y++
		for i, c := range q.charts {
			p := c.panel(len(d.Panels) + 1)
			p.GridPos = place{i % maxColumns * panelWidth, y + i/maxColumns*panelHeight, panelWidth, panelHeight}
			d.Panels = append(d.Panels, p)
		}
		y += (len(q.charts) + maxColumns - 1) / maxColumns * panelHeight
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(d)
}

// variables narrow down what is shown. All of a label's values includes none: a call that
// failed before it had an attempt has no target.
func variables() []variable {
	of := func(name, label, query string) variable {
		return variable{
			Name: name, Label: label, Type: "query", Query: "label_values(" + query + ", " + name + ")", Datasource: datasource,
			Refresh: 2, Multi: true, IncludeAll: true, AllValue: ".*", Current: map[string]any{"text": "All", "value": "$__all"},
		}
	}
	return []variable{
		{Name: "datasource", Label: "Prometheus", Type: "datasource", Query: "prometheus"},
		of("job", "Job", "ontime_layer_calls_total"),
		of("endpoint", "Endpoint", `ontime_layer_calls_total{job=~"$job"}`),
		of("target", "Target", `ontime_route_state{job=~"$job"}`),
		of("model", "Model", `ontime_route_state{job=~"$job"}`),
	}
}

// selectors stand for what the variables choose of the series that have these labels.
var selectors = strings.NewReplacer(
	"{calls", `{job=~"$job",endpoint=~"$endpoint",target=~"$target",model=~"$model"`,
	"{routes", `{job=~"$job",target=~"$target",model=~"$model"`,
	"{models", `{job=~"$job",endpoint=~"$endpoint",model=~"$model"`,
	"{endpoints", `{job=~"$job",endpoint=~"$endpoint"`,
)

// panel makes a chart's.
func (c chart) panel(id int) panel {
	p := panel{
		ID: id, Type: "timeseries", Title: c.title, Description: c.text, Datasource: datasource,
		FieldConfig: &fields{Defaults: defaults{Unit: c.unit, Min: new(float64)}, Overrides: []any{}},
	}
	if c.now {
		p.Type, p.Options = "bargauge", &options{"horizontal"}
	}
	if c.limit > 0 {
		p.FieldConfig.Defaults.Thresholds = &limits{"absolute", []step{{"green", nil}, {"red", &c.limit}}}
		if !c.now {
			p.FieldConfig.Defaults.Custom = &lineStyle{ThresholdsStyle: lineLimit{"line"}}
		}
	}
	for i, l := range c.lines {
		p.Targets = append(p.Targets, target{string(rune('A' + i)), selectors.Replace(l.expr), l.legend, c.now})
	}
	return p
}

package load

import (
	"cmp"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Series is all calls of one subject under one load.
type Series struct {
	Subject string `json:"subject"`
	Routed  bool   `json:"routed,omitempty"`
	Load    Load   `json:"load"`
	Took    Span   `json:"took_ms"` // all rounds, from the first start to the last end

	Figures     []Figure `json:"figures"`     // by our definitions
	Definitions []Figure `json:"definitions"` // by those of other tools
	Totals      Totals   `json:"totals"`
	Promise     []Layer  `json:"promise,omitempty"`

	Samples []Sample `json:"samples"`
}

// Title names the series' subject.
func (s *Series) Title() string { return title(s.Subject, s.Routed) }

// Figure is the percentiles of one metric.
type Figure struct {
	Tool      string     `json:"tool,omitempty"` // whose definition; empty: ours
	Metric    string     `json:"metric"`
	Calls     int        `json:"calls"` // that have it
	Quantiles []Quantile `json:"quantiles"`
}

// Totals are the figures of a series as a whole. Rates are per second of Took.
type Totals struct {
	Calls     int            `json:"calls"`
	Answered  int            `json:"answered"`
	Failures  map[string]int `json:"failures,omitempty"` // by kind
	CallRate  float64        `json:"answers_per_second"`
	TokenRate float64        `json:"tokens_per_second"`        // output of all streams together
	PerStream float64        `json:"tokens_per_second_stream"` // of one, half of the calls have more; 0: not known
	Good      int            `json:"good"`                     // calls within the last limit of every metric
	Goodput   float64        `json:"good_per_second"`
	Requests  int            `json:"requests"`
	Hedged    int            `json:"hedged,omitempty"`
	Cost      float64        `json:"cost"` // USD
	Lag       Span           `json:"lag_p99_ms"`

	Input     Lengths        `json:"input"`
	Output    Lengths        `json:"output"`
	CacheHits int            `json:"cache_hits"`    // calls with any
	Cached    int            `json:"cached_tokens"` // of all input
	Models    map[string]int `json:"models"`        // as answered
	Targets   map[string]int `json:"targets"`       // that answered
	Finish    map[string]int `json:"finish"`        // reasons
}

// Lengths are the numbers of tokens that were counted.
type Lengths struct {
	Min    int `json:"min"`
	Median int `json:"median"`
	Max    int `json:"max"`
	Sum    int `json:"sum"`
}

// metric is a time that each call has one of.
type metric struct {
	name string
	of   func(*Sample) Span
}

// metrics are in the order of tables. ITL is apart: a call has many gaps.
var metrics = []metric{
	{"TTFT", func(s *Sample) Span { return s.TTFT }},
	{"TTFA", func(s *Sample) Span { return s.TTFA }},
	{"TPOT", func(s *Sample) Span { return s.TPOT }},
	{"stall", func(s *Sample) Span { return s.Stall }},
	{"total", func(s *Sample) Span { return s.Total }},
}

// values are those of the samples that have the metric.
func (m metric) values(samples []Sample) []Span {
	var all []Span
	for i := range samples {
		if v := m.of(&samples[i]); v != 0 {
			all = append(all, v)
		}
	}
	return all
}

// sorted are the values in rising order.
func (m metric) sorted(samples []Sample) []Span {
	return slices.Sorted(slices.Values(m.values(samples)))
}

func summarise(subject *Subject, l Load, m *measured, layers []budget.Layer) Series {
	s := Series{Subject: subject.name, Routed: subject.Routed(), Load: l, Took: Span(m.took)}
	for _, o := range m.all {
		s.Samples = append(s.Samples, o.Sample)
	}
	for _, metric := range metrics {
		if metric.name == "stall" { // beside what it is the worst of
			s.Figures = append(s.Figures, gapFigure(m.all))
		}
		values := metric.values(s.Samples)
		s.Figures = append(s.Figures, Figure{"", metric.name, len(values), Quantiles(values)})
	}
	s.Figures = slices.DeleteFunc(s.Figures, func(f Figure) bool { return f.Calls == 0 })
	s.Definitions = otherTools(m.all)
	s.Promise = judge(s.Samples, layers)
	s.Totals = totals(s.Samples, m.took, layers)
	return s
}

func totals(samples []Sample, took time.Duration, layers []budget.Layer) Totals {
	t := Totals{
		Calls: len(samples), Failures: make(map[string]int), Models: make(map[string]int),
		Targets: make(map[string]int), Finish: make(map[string]int),
	}
	last := lastLimits(layers)
	var paces []float64
	var lags []Span
	var input, output []int
	for i := range samples {
		s := &samples[i]
		t.enter(s, last)
		lags = append(lags, s.Lag)
		if !s.answered() {
			continue
		}
		input, output = append(input, s.Input), append(output, s.Output)
		if pace := s.pace(); pace > 0 {
			paces = append(paces, pace)
		}
	}
	t.Input, t.Output = lengths(input), lengths(output)
	t.PerStream, t.Lag = at(paces, 0.5), at(lags, 0.99)
	if seconds := took.Seconds(); seconds > 0 {
		t.CallRate, t.TokenRate, t.Goodput = float64(t.Answered)/seconds, float64(t.Output.Sum)/seconds, float64(t.Good)/seconds
	}
	return t
}

// enter counts one call.
func (t *Totals) enter(s *Sample, last map[budget.Metric]time.Duration) {
	t.Requests += s.Requests
	t.Cost += s.Cost
	if s.Hedged {
		t.Hedged++
	}
	if !s.answered() {
		t.Failures[s.Failure]++
		return
	}
	t.Answered++
	if good(s, last) {
		t.Good++
	}
	if s.Cached > 0 {
		t.CacheHits++
		t.Cached += s.Cached
	}
	t.Models[s.Model]++
	t.Targets[s.Target]++
	t.Finish[s.Finish]++
}

// pace is how many tokens a second came on the sample's stream, once they came; for an
// answer in one piece, over all of its time.
func (s *Sample) pace() float64 {
	switch {
	case s.TPOT > 0:
		return 1000 / s.TPOT.ms()
	case s.TTFT == 0 && !s.Estimated && s.Total > 0:
		return 1000 * float64(s.Output) / s.Total.ms()
	}
	return 0
}

func lengths(of []int) Lengths {
	if len(of) == 0 {
		return Lengths{}
	}
	l := Lengths{Min: slices.Min(of), Median: at(of, 0.5), Max: slices.Max(of)}
	for _, n := range of {
		l.Sum += n
	}
	return l
}

// at is the value at a share of all, by nearest rank; zero of none.
func at[T cmp.Ordered](values []T, q float64) (v T) {
	if len(values) == 0 {
		return v
	}
	return slices.Sorted(slices.Values(values))[rank(len(values), q)-1]
}

package load_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/examples/loadtest/load"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/router"
)

const ms = time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// steady answers after 100 ms, with 8 tokens in 8 events, 10 ms apart.
var steady = upstream.Behaviour{
	TTFT: upstream.Latency{Median: 100 * ms}, Pace: upstream.Latency{Median: 10 * ms}, Output: upstream.Length{Median: 8},
}

// world is targets in memory, by name.
type world map[string]http.RoundTripper

func (w world) config(b budget.Budget) client.Config {
	network := upstream.Network{}
	cfg := client.Config{Endpoints: map[string]budget.Budget{"chat": b}, Transport: network, Seed: 1}
	names := make([]string, 0, len(w))
	for name := range w {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		network[name+".test"] = w[name]
		cfg.Targets = append(cfg.Targets, client.Target{
			Name: name, Region: name + "-1", BaseURL: "https://" + name + ".test/v1", APIKey: "test",
			Models: map[string]string{"small": "small-2026"}, Price: router.Price{Input: 1, Output: 2},
		})
	}
	return cfg
}

func direct(t *testing.T, cfg client.Config, target string) *load.Subject {
	t.Helper()
	return closed(t)(load.Direct(cfg, target, "small", budget.Budget{}))
}

func routed(t *testing.T, cfg client.Config) *load.Subject {
	t.Helper()
	return closed(t)(load.Routed(cfg, "chat", "small"))
}

func closed(t *testing.T) func(*load.Subject, error) *load.Subject {
	return func(s *load.Subject, err error) *load.Subject {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
}

// plan is a small test of subjects.
func plan(subjects ...*load.Subject) load.Plan {
	return load.Plan{
		Subjects: subjects, Loads: []load.Load{{Concurrency: 2}}, Calls: 10, Rounds: 1,
		Prompts: load.Synthetic(100), Output: 8, Stream: true, Bust: true, Seed: 1,
	}
}

func run(t *testing.T, p load.Plan) *load.Report {
	t.Helper()
	r, err := load.Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func span(d time.Duration) load.Span { return load.Span(d) }

func figure(t *testing.T, s *load.Series, tool, metric string) load.Figure {
	t.Helper()
	for _, f := range append(s.Figures, s.Definitions...) {
		if f.Tool == tool && f.Metric == metric {
			return f
		}
	}
	t.Fatalf("%s has no %s %s", s.Title(), tool, metric)
	return load.Figure{}
}

// Every subject gets as many calls as the plan says, one subject at a time, and warm-ups do
// not count.
func TestRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := upstream.New("a", steady, 1), upstream.New("b", steady, 1)
		var busy, overlaps atomic.Int64
		alone := func(other *upstream.Server) func(*http.Request, []byte) {
			return func(*http.Request, []byte) {
				if other.Stats().InFlight > 0 {
					overlaps.Add(1)
				}
				busy.Add(1)
			}
		}
		a.OnRequest(alone(b))
		b.OnRequest(alone(a))
		cfg := world{"a": a, "b": b}.config(budget.Budget{})
		p := plan(direct(t, cfg, "a"), direct(t, cfg, "b"))
		p.Loads = []load.Load{{Concurrency: 1}, {Concurrency: 4}, {Rate: 20}}
		p.Rounds, p.Warmup = 2, -1
		var steps atomic.Int64
		report, err := load.Run(t.Context(), p, func() { steps.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		// 2 subjects, 2 rounds: 10 calls each and 1, 4 and 4 to warm up.
		if v := p.Volume(); v.Calls != 2*2*(3*10+1+4+4) || v.Calls != int(busy.Load()) || v.Calls != int(steps.Load()) {
			t.Errorf("a volume of %d calls, %d were made and %d counted", v.Calls, busy.Load(), steps.Load())
		}
		if overlaps.Load() > 0 {
			t.Errorf("%d calls while another subject was under load", overlaps.Load())
		}
		if len(report.Series) != 6 {
			t.Fatalf("%d series, want 6", len(report.Series))
		}
		for _, s := range report.Series {
			if s.Totals.Calls != 20 || s.Totals.Answered != 20 || s.Totals.Requests != 20 {
				t.Errorf("%s at %v: %+v", s.Title(), s.Load, s.Totals)
			}
		}
		// Both meet the same arrivals.
		same := func(i int) (starts []load.Span) {
			for _, s := range report.Series[i].Samples {
				starts = append(starts, s.Start)
			}
			return starts
		}
		if diff := cmp.Diff(same(4), same(5)); diff != "" {
			t.Errorf("the arrivals of a and b differ:\n%s", diff)
		}
	})
}

// Directly at a target a refusal is an answer: nothing is waited for and nothing is tried
// again, however long the provider says to wait. Calls without an answer took for ever.
func TestDirectIsDirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := steady
		b.RequestsPerMinute = 30
		server := upstream.New("a", b, 1)
		cfg := world{"a": server}.config(budget.Budget{})
		cfg.Targets[0].Limits = router.Limits{Concurrent: 1}
		p := plan(direct(t, cfg, "a"))
		p.Loads, p.Calls = []load.Load{{Concurrency: 10}}, 100
		start := time.Now()
		r := run(t, p)
		s := &r.Series[0]
		if time.Since(start) > 2*time.Second {
			t.Errorf("it took %v", time.Since(start))
		}
		if refused := s.Totals.Failures["HTTP 429"]; refused < 60 || refused != s.Totals.Calls-s.Totals.Answered || server.Stats().Requests != 100 {
			t.Errorf("%+v with %d requests", s.Totals, server.Stats().Requests)
		}
		if q := figure(t, s, "", "TTFT").Quantiles[1]; q.Value != load.Never {
			t.Errorf("p90 of TTFT is %v, most calls were refused", q)
		}
		if f := figure(t, s, "", "TPOT"); f.Calls != s.Totals.Answered {
			t.Errorf("TPOT of %d calls, %d were answered", f.Calls, s.Totals.Answered)
		}
	})
}

func TestCacheBusting(t *testing.T) {
	for _, bust := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := steady
			b.PromptCache = time.Hour
			p := plan(direct(t, world{"a": upstream.New("a", b, 1)}.config(budget.Budget{}), "a"))
			p.Bust = bust
			r := run(t, p)
			hits := r.Series[0].Totals.CacheHits
			if bust && hits != 0 || !bust && hits < 8 {
				t.Errorf("cache-busting %t: %d of 10 calls were found in the cache", bust, hits)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := upstream.New("a", steady, 1)
		server.Script(upstream.Step{Fault: upstream.Hang})
		p := plan(direct(t, world{"a": server}.config(budget.Budget{}), "a"))
		p.Timeout = 5 * time.Second
		r := run(t, p)
		if got := r.Series[0].Totals.Failures; !cmp.Equal(got, map[string]int{"timeout": 1}) {
			t.Errorf("failures %v, want one timeout", got)
		}
	})
}

// Whole answers have a total, and nothing that is of streams.
func TestWithoutStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(direct(t, world{"a": upstream.New("a", steady, 1)}.config(budget.Budget{}), "a"))
		p.Stream = false
		s := run(t, p).Series[0]
		if len(s.Figures) != 1 || s.Figures[0].Metric != "total" || s.Figures[0].Quantiles[0].Value != span(170*ms) {
			t.Errorf("%+v", s.Figures)
		}
		if got := s.Totals.PerStream; got < 47 || got > 47.1 { // 8 tokens in 170 ms
			t.Errorf("%v tokens/s of a stream", got)
		}
	})
}

// A test that is stopped reports the series that are complete, and no part of one.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := plan(direct(t, world{"a": upstream.New("a", steady, 1)}.config(budget.Budget{}), "a"))
		p.Loads, p.Rounds = []load.Load{{Concurrency: 1}, {Rate: 5}}, 2
		var n atomic.Int64
		r, err := load.Run(ctx, p, func() {
			if n.Add(1) == 15 {
				cancel()
			}
		})
		if err != context.Canceled || len(r.Series) != 1 || r.Series[0].Totals.Calls != 10 {
			t.Errorf("%v, %+v", err, r.Series)
		}
		var table strings.Builder
		if err := r.WriteTable(&table); err != nil || !strings.Contains(table.String(), "1 at once: 1 of 2 rounds of 10 calls") {
			t.Errorf("%v: the table does not say that one of two rounds is complete:\n%s", err, table.String())
		}
	})
}

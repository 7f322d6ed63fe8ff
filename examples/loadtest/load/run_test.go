package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

// outage is a target whose calls all wait while it stands still.
type outage struct {
	http.RoundTripper
	from, until time.Time
}

func (o outage) RoundTrip(r *http.Request) (*http.Response, error) {
	if now := time.Now(); !now.Before(o.from) && now.Before(o.until) {
		select {
		case <-time.After(o.until.Sub(now)):
		case <-r.Context().Done():
			r.Body.Close()
			return nil, r.Context().Err()
		}
	}
	return o.RoundTripper.RoundTrip(r)
}

// A server that answers in 100 ms stands still for 10 of 100 s. Of 1,000 calls that arrive
// by themselves about 100 meet that, and wait for 10 s to 0, evenly: p90 is just the usual
// 100 ms or so, p95 half of the outage, p99 nine tenths of it. One stream in a closed loop
// meets it with a single call, and reports a p99 of 100 ms: coordinated omission.
func TestNoCoordinatedOmission(t *testing.T) {
	const calls, rate = 1000, 10
	results := make(map[load.Load]*load.Report)
	for _, l := range []load.Load{{Rate: rate}, {Concurrency: 1}} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			w := world{"one": outage{upstream.New("one", steady, 1), start.Add(40 * time.Second), start.Add(50 * time.Second)}}
			s := direct(t, w.config(budget.Budget{}), "one")
			p := plan(s)
			p.Loads, p.Calls = []load.Load{l}, calls
			results[l] = run(t, p)
			for _, sample := range results[l].Series[0].Samples {
				want := 100 * ms
				if at := time.Duration(sample.Start); at >= 40*time.Second && at < 50*time.Second {
					want += 50*time.Second - at
				}
				if sample.TTFT != span(want) || sample.Failure != "" {
					t.Fatalf("%v: a call that was meant to start at %v has TTFT %v (%s), want %v", l, sample.Start, sample.TTFT, sample.Failure, want)
				}
			}
			s.Close()
		})
	}
	q := figure(t, &results[load.Load{Rate: rate}].Series[0], "", "TTFT").Quantiles
	for i, between := range [][2]time.Duration{
		{100 * ms, 100 * ms}, {100 * ms, 2 * time.Second}, {4 * time.Second, 6 * time.Second}, {8500 * ms, 9800 * ms},
	} {
		if !q[i].Known || q[i].Value < span(between[0]) || q[i].Value > span(between[1]) {
			t.Errorf("open loop: p%v is %v, want %v", q[i].Percentile, q[i], between)
		}
	}
	q = figure(t, &results[load.Load{Concurrency: 1}].Series[0], "", "TTFT").Quantiles
	if q[3].Value != span(100*ms) {
		t.Errorf("closed loop: p99 is %v, which hides the outage no more", q[3])
	}
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

// One stream, 8 tokens of 10 ms after 100 ms: each call takes 170 ms.
func TestFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.Budget{TTFT: budget.Layers{50: 90 * ms, 99: 180 * ms}, Total: budget.Layers{95: 171 * ms}}
		cfg := world{"a": upstream.New("a", steady, 1)}.config(b)
		p := plan(direct(t, cfg, "a"), routed(t, cfg))
		p.Loads, p.Calls, p.Budget = []load.Load{{Concurrency: 1}}, 50, b
		r := run(t, p)
		for i := range r.Series {
			s := &r.Series[i]
			for metric, want := range map[string]time.Duration{
				"TTFT": 100 * ms, "TTFA": 100 * ms, "TPOT": 10 * ms, "stall": 10 * ms, "total": 170 * ms,
			} {
				if q := figure(t, s, "", metric).Quantiles[0]; q.Value != span(want) || q.Low != q.High {
					t.Errorf("%s: p50 of %s is %v, want %v", s.Title(), metric, q, want)
				}
			}
			if q := figure(t, s, "", "ITL").Quantiles[0]; q.Value < span(10*ms) || q.Value > span(13*ms) {
				t.Errorf("%s: p50 of ITL is %v, want 10 ms, a quarter more at most", s.Title(), q)
			}
			want := load.Totals{
				Calls: 50, Answered: 50, Failures: map[string]int{}, Requests: 50,
				CallRate: 50 / 8.5, TokenRate: 400 / 8.5, PerStream: 100, Good: 50, Goodput: 50 / 8.5,
				Models: map[string]int{"small-2026": 50}, Targets: map[string]int{"a": 50}, Finish: map[string]int{"stop": 50},
				Output: load.Lengths{Min: 8, Median: 8, Max: 8, Sum: 400},
			}
			if diff := cmp.Diff(want, s.Totals, cmpopts.IgnoreFields(load.Totals{}, "Input", "Cost"), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Errorf("%s: -want +got\n%s", s.Title(), diff)
			}
			kept := []load.Layer{
				{"p50 TTFT 90ms", 50, 0, false}, {"p99 TTFT 180ms", 50, 1, true}, {"p95 total 171ms", 50, 1, true}, {"99.9% answered", 50, 1, true},
			}
			if diff := cmp.Diff(kept, s.Promise); diff != "" {
				t.Errorf("%s: -want +got\n%s", s.Title(), diff)
			}
			// 1 and 2 dollars a million tokens.
			if want := (float64(s.Totals.Input.Sum) + 2*400) / 1e6; s.Totals.Cost < want*0.999 || s.Totals.Cost > want*1.001 {
				t.Errorf("%s: cost %v, want %v", s.Title(), s.Totals.Cost, want)
			}
		}
	})
}

// Definitions differ for the same calls: a role chunk that comes at once is vLLM's first
// token, and LLMPerf's ITL has the wait in it.
func TestDefinitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := steady
		b.EarlyHeaders = 1
		cfg := world{"a": upstream.New("a", b, 1)}.config(budget.Budget{})
		p := plan(direct(t, cfg, "a"))
		r := run(t, p)
		s := &r.Series[0]
		for _, tt := range []struct {
			tool, metric string
			want         time.Duration
		}{
			{"", "TTFT", 100 * ms},
			{"SGLang", "TTFT", 100 * ms},
			{"AIPerf", "ITL", 10 * ms},
			{"GuideLLM", "TPOT", 170 * ms / 8},
			{"OTel GenAI", "E2E", 170 * ms},
		} {
			if q := figure(t, s, tt.tool, tt.metric).Quantiles[0]; q.Value != span(tt.want) {
				t.Errorf("%s of %s: %v, want %v", tt.metric, tt.tool, q.Value, tt.want)
			}
		}
		if q := figure(t, s, "vLLM", "TTFT").Quantiles[0]; q.Value >= span(ms) {
			t.Errorf("vLLM's TTFT is %v: the role chunk came at once", q.Value)
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
		p.Loads = []load.Load{{Concurrency: 1}, {Rate: 5}}
		n := 0
		r, err := load.Run(ctx, p, func() {
			if n++; n == 15 {
				cancel()
			}
		})
		if err != context.Canceled || len(r.Series) != 1 || r.Series[0].Totals.Calls != 10 {
			t.Errorf("%v, %+v", err, r.Series)
		}
	})
}

// What is written has no prompt, no answer and no key, and reads back as it was.
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const secret = "sesame-opens"
		prompts, err := load.ReadPrompts(strings.NewReader("what " + secret + "\n\n\tand again " + secret + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		faulty := steady
		faulty.Faults.HTTPError = 0.2
		b := budget.Budget{TTFT: budget.Layers{50: 150 * ms}}
		cfg := world{"a": upstream.New("answerword", steady, 1), "b": upstream.New("b", faulty, 1)}.config(b)
		cfg.Targets[0].APIKey = "key-" + secret
		p := plan(direct(t, cfg, "a"), direct(t, cfg, "b"), routed(t, cfg))
		p.Prompts, p.Budget, p.Calls, p.Loads = prompts, b, 40, []load.Load{{Rate: 10}, {Rate: 20}}
		r := run(t, p)
		var all bytes.Buffer
		var data bytes.Buffer
		if err := r.WriteJSON(&data); err != nil {
			t.Fatal(err)
		}
		all.Write(data.Bytes())
		again, err := load.ReadReport(&data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-written +read\n%s", diff)
		}
		for _, err := range []error{
			r.WriteTable(&all), r.WriteCSV(&all), r.WriteDistribution(&all), r.WritePercentiles(&all), load.Compare(r, again).WriteTable(&all),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		if strings.Contains(all.String(), secret) || strings.Contains(all.String(), "answerword ") {
			t.Error("a prompt, an answer or a key was written")
		}
		s := r.Setup
		if s.Date.IsZero() || s.Library == "" || s.Seed != 1 || s.Prompts == "" || len(s.Subjects) != 3 || s.Subjects[0].Targets[0].Model != "small-2026" {
			t.Errorf("not enough to repeat it: %+v", s)
		}
	})
}

func TestReadReport(t *testing.T) {
	if _, err := load.ReadReport(strings.NewReader("subject,load\n")); err == nil {
		t.Error("a CSV is no report")
	}
	for text, want := range map[string]load.Span{"1.5": span(1500 * time.Microsecond), "null": load.Never, "0.000001": 1} {
		var got load.Span
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{`"1"`, "1e300"} {
		if err := json.Unmarshal([]byte(text), new(load.Span)); err == nil {
			t.Errorf("%s is no time", text)
		}
	}
}

func TestWrongPlan(t *testing.T) {
	if _, err := load.Run(t.Context(), load.Plan{Loads: []load.Load{{}}, Timeout: -1}, nil); err == nil {
		t.Error("an empty plan was run")
	} else {
		for _, part := range []string{"nothing to test", "above 0", "at least 1", "token", "prompt", "timeout"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is missing in: %v", part, err)
			}
		}
	}
	for _, err := range []error{
		second(load.Direct(client.Config{}, "none", "small", budget.Budget{})),
		second(load.Routed(client.Config{}, "none", "small")),
		second(load.ReadPrompts(strings.NewReader("\n \n"))),
	} {
		if err == nil {
			t.Error("no error")
		}
	}
}

func second[T any](_ T, err error) error { return err }

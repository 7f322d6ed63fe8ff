package load_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/examples/loadtest/load"
	"github.com/ontime-llm/ontime/internal/upstream"
)

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
	if _, err := load.ReadReport(strings.NewReader(`{"figures": []}`)); err == nil {
		t.Error("somebody else's JSON is no report")
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

package metrics_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/middleware/metrics"
	"github.com/ontime-llm/ontime/router"
)

const ms = time.Millisecond

// hedged is a call whose hedge won, after a first target had failed: three attempts.
func hedged() middleware.Call {
	return middleware.Call{
		Endpoint: "chat", Model: "m", Target: "three", Outcome: middleware.Completed, Streamed: true, Capped: true, Hedged: true,
		TTFT: 500 * ms, TTFA: 600 * ms, TPOT: 20 * ms, Total: time.Second, Waited: 50 * ms, FinishReason: "stop",
		Attempts: []middleware.Attempt{
			{Target: "one", Outcome: middleware.Failed, Total: 100 * ms, Usage: middleware.Usage{Input: 100}, Cost: 0.25},
			{Target: "two", Outcome: middleware.Lost, Total: 300 * ms, Usage: middleware.Usage{Input: 100, Estimated: true}, Cost: 0.5},
			{Target: "three", Hedge: true, Outcome: middleware.Completed, TTFT: 200 * ms, LastContent: 600 * ms, Total: 700 * ms, Cost: 2,
				Usage:  middleware.Usage{Input: 100, CachedInput: 60, Output: 40, Reasoning: 10},
				Timing: middleware.Timing{Conn: 10 * ms, Wrote: 15 * ms}},
		},
	}
}

// What a call came to counts under the model that was asked, that it fell back under the
// one that it named.
func TestFallback(t *testing.T) {
	r, err := router.New(router.Config{Targets: []router.Target{{Name: "one", Models: []string{"big"}}, {Name: "two", Models: []string{"small"}}}})
	if err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	m, err := metrics.New(reg, metrics.State(func() *router.Router { return r }))
	if err != nil {
		t.Fatal(err)
	}
	m.ObserveCall(middleware.Call{
		Model: "big", Fallback: "small", Target: "two", Outcome: middleware.Completed, Waited: 50 * ms, FinishReason: "stop",
		Attempts: []middleware.Attempt{
			{Target: "one", Outcome: middleware.Failed},
			{Target: "two", Fallback: "small", Outcome: middleware.Completed},
		},
	})
	s := scraped(t, reg)
	for name, want := range map[string]map[string]string{
		"ontime_calls_total": {"endpoint=default model=small outcome=completed target=two": "1"},
		"ontime_attempts_total": {
			"endpoint=default kind=first model=big outcome=failed target=one":         "1",
			"endpoint=default kind=failover model=small outcome=completed target=two": "1",
		},
		"ontime_finish_reasons_total": {"endpoint=default model=small reason=stop target=two": "1"},
		"ontime_wait_seconds":         {"endpoint=default model=big": "1 in 0.05s"},
		"ontime_fallbacks_total":      {"endpoint=default model=big": "1"},
	} {
		if diff := cmp.Diff(want, s.values(name)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestOneCall(t *testing.T) {
	m, reg := observed(t)
	m.ObserveCall(hedged())
	s := scraped(t, reg)
	for name, want := range map[string]map[string]string{
		"ontime_calls_total": {"endpoint=chat model=m outcome=completed target=three": "1"},
		"ontime_attempts_total": {
			"endpoint=chat kind=first model=m outcome=failed target=one":      "1",
			"endpoint=chat kind=failover model=m outcome=lost target=two":     "1",
			"endpoint=chat kind=hedge model=m outcome=completed target=three": "1",
		},
		"ontime_ttft_seconds":  {"endpoint=chat model=m target=three": "1 in 0.5s"},
		"ontime_ttfa_seconds":  {"endpoint=chat model=m target=three": "1 in 0.6s"},
		"ontime_tpot_seconds":  {"endpoint=chat model=m target=three": "1 in 0.02s"},
		"ontime_total_seconds": {"endpoint=chat model=m outcome=completed target=three": "1 in 1s"},
		"ontime_wait_seconds":  {"endpoint=chat model=m": "1 in 0.05s"},
		"ontime_tokens_total": {
			"endpoint=chat kind=input model=m target=one":          "100",
			"endpoint=chat kind=input model=m target=three":        "40", // 100 - 60
			"endpoint=chat kind=cached_input model=m target=three": "60",
			"endpoint=chat kind=output model=m target=three":       "30", // 40 - 10
			"endpoint=chat kind=reasoning model=m target=three":    "10",
		},
		"ontime_cost_usd_total": {
			"endpoint=chat model=m outcome=failed target=one":      "0.25",
			"endpoint=chat model=m outcome=lost target=two":        "0.5",
			"endpoint=chat model=m outcome=completed target=three": "2",
		},
		"ontime_finish_reasons_total":  {"endpoint=chat model=m reason=stop target=three": "1"},
		"ontime_caps_applied_total":    {"endpoint=chat model=m": "1"},
		"ontime_starved_answers_total": {},
		"ontime_fallbacks_total":       {},
		// 200 - 15 = 185 of waiting, 600 - 200 of decoding
		"ontime_phase_seconds": {
			"model=m phase=connect target=three": "1 in 0.01s",
			"model=m phase=send target=three":    "1 in 0.005s",
			"model=m phase=wait target=three":    "1 in 0.185s",
			"model=m phase=decode target=three":  "1 in 0.4s",
		},
	} {
		if diff := cmp.Diff(want, s.values(name)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestCallThatFailed(t *testing.T) {
	m, reg := observed(t)
	m.ObserveCall(middleware.Call{Outcome: middleware.TimedOut, Model: "m", Total: 2 * time.Second, FinishReason: "a word of the provider's"})
	s := scraped(t, reg)
	got := map[string]map[string]string{}
	for _, name := range s.names() {
		got[name] = s.values(name)
	}
	want := map[string]map[string]string{
		"ontime_calls_total":          {"endpoint=default model=m outcome=timed_out": "1"},
		"ontime_total_seconds":        {"endpoint=default model=m outcome=timed_out": "1 in 2s"},
		"ontime_finish_reasons_total": {"endpoint=default model=m reason=other": "1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestHistogramsAreNativeAndClassic(t *testing.T) {
	m, reg := observed(t)
	m.ObserveCall(hedged())
	h := scraped(t, reg).find("ontime_ttft_seconds", "endpoint=chat model=m target=three").GetHistogram()
	if h.GetSchema() != 3 || len(h.GetPositiveDelta()) != 1 {
		t.Errorf("schema %d with %d native buckets, want 3 (at most 1.1 wide) with one", h.GetSchema(), len(h.GetPositiveDelta()))
	}
	for _, b := range h.GetBucket() {
		if within := b.GetUpperBound() >= 0.5; (b.GetCumulativeCount() == 1) != within {
			t.Errorf("%d calls took up to %v s, want 1 from 0.5 s on", b.GetCumulativeCount(), b.GetUpperBound())
		}
	}
}

func TestLabelsAreBoundedWithoutARouter(t *testing.T) {
	m, reg := observed(t)
	for i := range 200 {
		m.ObserveCall(middleware.Call{
			Endpoint: fmt.Sprint("endpoint-", i), Model: fmt.Sprint("model-", i), Target: fmt.Sprint("host-", i), Outcome: middleware.Completed,
			Attempts: []middleware.Attempt{{Target: fmt.Sprint("host-", i), Outcome: middleware.Completed}},
		})
	}
	m.ObserveCall(middleware.Call{Endpoint: "endpoint-7", Model: "\xff", Target: "host-7", Outcome: middleware.Completed})
	s := scraped(t, reg)
	if attempts := s.values("ontime_attempts_total"); len(attempts) != 65 { // 64, and what is over
		t.Errorf("%d series of attempts, want 65", len(attempts))
	}
	calls := s.values("ontime_calls_total")
	if len(calls) != 66 { // 64, what is over, and the odd one
		t.Errorf("%d series, want 66", len(calls))
	}
	for labels, want := range map[string]string{
		"endpoint=endpoint-63 model=model-63 outcome=completed target=host-63": "1",
		"endpoint=other model=other outcome=completed target=other":            "136",
		"endpoint=endpoint-7 model=other outcome=completed target=host-7":      "1",
	} {
		if calls[labels] != want {
			t.Errorf("%s: %s, want %s", labels, calls[labels], want)
		}
	}
}

func TestExemplars(t *testing.T) {
	for trace, want := range map[string]string{
		"": "", "4bf92f3577b34da6a3ce929d0e0e4736": "4bf92f3577b34da6a3ce929d0e0e4736",
		strings.Repeat("x", 200): "", "\xff": "",
	} {
		m, reg := observed(t)
		c := hedged()
		c.TraceID = trace
		m.ObserveCall(c)
		h := scraped(t, reg).find("ontime_ttft_seconds", "endpoint=chat model=m target=three").GetHistogram()
		got := ""
		for _, b := range h.GetBucket() {
			for _, l := range b.GetExemplar().GetLabel() {
				got += l.GetValue()
			}
		}
		if got != want {
			t.Errorf("trace id %q: the exemplar is %q, want %q", trace, got, want)
		}
	}
}

func TestRegisteredTwice(t *testing.T) {
	m, reg := observed(t)
	_, err := metrics.New(reg)
	if err == nil || !strings.Contains(err.Error(), "WrapRegistererWith") {
		t.Errorf("a second one on the same registry: %v, want an error that says what to do", err)
	}
	m.Unregister()
	if _, err := metrics.New(reg); err != nil {
		t.Errorf("in the place of one that is gone: %v", err)
	}
	reg = prometheus.NewRegistry()
	for _, name := range []string{"one", "two"} {
		if _, err := metrics.New(prometheus.WrapRegistererWith(prometheus.Labels{"client": name}, reg)); err != nil {
			t.Errorf("set apart by a label: %v", err)
		}
	}
}

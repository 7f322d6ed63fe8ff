package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
)

// counted are the counters of one name in a registry, by the values of their labels in
// the order of the labels' names.
func counted(t *testing.T, reg prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			all[strings.Join(values, " ")] = m.GetCounter().GetValue()
		}
	}
	return all
}

func TestRegisterer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewPedanticRegistry()
		cfg := client.Config{Targets: inOrder("one", "two"), Endpoints: chatBudget(), Registerer: reg}
		f := newFleet(t, steady, cfg, "one", "two")
		f.servers["one"].Script(upstream.Step{Fault: upstream.Refused})
		f.answers(t, stream, f.chat(), "two")
		_, _ = stream(budget.With(t.Context(), "made-up"), &f.Client.Client, question("hello"))

		want := map[string]float64{"chat gpt-4o-mini completed two": 1, "other other failed ": 1}
		if diff := cmp.Diff(want, counted(t, reg, "ontime_calls_total")); diff != "" {
			t.Errorf("calls: -want +got\n%s", diff)
		}
		want = map[string]float64{"chat first gpt-4o-mini failed one": 1, "chat failover gpt-4o-mini completed two": 1}
		if diff := cmp.Diff(want, counted(t, reg, "ontime_attempts_total")); diff != "" {
			t.Errorf("attempts: -want +got\n%s", diff)
		}
		want = map[string]float64{"chat answered": 1, "chat total_p99": 1, "chat ttft_p50": 1, "chat ttft_p95": 1, "default answered": 0}
		if diff := cmp.Diff(want, counted(t, reg, "ontime_layer_calls_total")); diff != "" {
			t.Errorf("calls of layers: -want +got\n%s", diff)
		}
	})
}

// A hedge that wins is counted as one, and what the loser cost stands apart.
func TestHedgesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewPedanticRegistry()
		targets := inOrder("one", "two")
		for i := range targets {
			targets[i].Price.Input = targets[i].Price.Output
		}
		f := newFleet(t, unhurried, client.Config{Targets: targets, Registerer: reg, Endpoints: map[string]budget.Budget{
			"chat": {TTFT: budget.Layers{95: 600 * ms, 99: 2 * time.Second}, Hedge: 1},
		}}, "one", "two")
		f.servers["one"].Script(hang(0))
		f.answers(t, stream, f.chat(), "two")
		want := map[string]float64{"chat first gpt-4o-mini lost one": 1, "chat hedge gpt-4o-mini completed two": 1}
		if diff := cmp.Diff(want, counted(t, reg, "ontime_attempts_total")); diff != "" {
			t.Errorf("attempts: -want +got\n%s", diff)
		}
		cost := counted(t, reg, "ontime_cost_usd_total")
		if lost := cost["chat gpt-4o-mini lost one"]; lost <= 0 || lost >= cost["chat gpt-4o-mini completed two"] {
			t.Errorf("the cost is %v, want some of the loser, and more of the winner", cost)
		}
		for name, want := range map[string]float64{"ontime_hedges_started_total": 1, "ontime_hedges_won_total": 1, "ontime_hedges_refused_total": 0} {
			if got := counted(t, reg, name)["chat"]; got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
	})
}

func TestRegistererOfTwoClients(t *testing.T) {
	reg := prometheus.NewRegistry()
	cfg := client.Config{Targets: []client.Target{{Name: "one", BaseURL: "https://one.test/v1"}}, Registerer: reg}
	first, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.New(cfg); err == nil || !strings.Contains(err.Error(), "WrapRegistererWith") {
		t.Errorf("a second client on the same registry: %v, want an error that says what to do", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := client.New(cfg)
	if err != nil {
		t.Fatalf("a second client after the first was closed: %v", err)
	}
	defer second.Close()
	if families, err := reg.Gather(); err != nil || len(families) == 0 {
		t.Errorf("%d metrics, %v", len(families), err)
	}
}

type spanKey struct{}

func TestTraceID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{TraceID: func(ctx context.Context) string {
			id, _ := ctx.Value(spanKey{}).(string)
			return id
		}}, "one")
		if _, err := ask(context.WithValue(t.Context(), spanKey{}, "4bf92f35"), &f.Client.Client, question("hello")); err != nil {
			t.Fatal(err)
		}
		if call := f.lastCall(t); call.TraceID != "4bf92f35" {
			t.Errorf("trace id %q, want that of the caller's context", call.TraceID)
		}
	})
}

// Over a real socket with TLS the way of the first request is known part by part, and
// that of the second is short.
func TestTrace(t *testing.T) {
	body := answer(2)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Openai-Processing-Ms", "7")
		_, _ = w.Write([]byte(body))
	}))
	defer srv.Close()
	for _, trace := range []bool{false, true} {
		var calls []middleware.Call
		base := srv.Client().Transport.(*http.Transport).Clone()
		defer base.CloseIdleConnections()
		c, err := client.New(client.Config{
			Targets: []client.Target{{Name: "one", BaseURL: srv.URL + "/v1", APIKey: "k"}}, Transport: base, Trace: trace,
			Observers: []middleware.Observer{middleware.CallFunc(func(c middleware.Call) { calls = append(calls, c) })},
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := stream(t.Context(), &c.Client, question("hello")); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for i, call := range calls {
			if err := wayOf(&call.Attempts[0], i > 0, trace); err != nil {
				t.Errorf("call %d, traced %t: %v", i+1, trace, err)
			}
		}
	}
}

// wayOf says what is wrong with the times of an attempt over a real socket.
func wayOf(a *middleware.Attempt, reused, traced bool) error {
	w := a.Timing
	var wrong []error
	check := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, errors.New(what))
		}
	}
	check(w.Reused == reused, "Reused")
	check(w.Conn > 0 && w.Conn < a.Headers, "Conn")
	check(traced || w.Wrote == 0, "Wrote")
	check((w.Connect > 0 && w.TLS > 0 && w.Connect+w.TLS <= w.Conn) == (traced && !reused), "Connect, TLS")
	check(w.DNS == 0, "DNS of an address")
	check(a.Server.Headers == 7*time.Millisecond, "Server.Headers")
	check(a.LastContent >= a.TTFT && a.LastContent <= a.Total, "LastContent")
	return errors.Join(wrong...)
}

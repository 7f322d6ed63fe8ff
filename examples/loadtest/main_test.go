package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ontime-llm/ontime/examples/loadtest/load"
)

func parsed(t *testing.T, args ...string) *options {
	t.Helper()
	o, err := parseOptions(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A small test over real sockets, twice: everything is written, and the second one is held
// against the first.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	small := []string{"-calls", "12", "-rounds", "2", "-warmup", "2", "-rate", "200,400"}
	var out bytes.Buffer
	first := parsed(t, append(small, "-json", in("old.json"), "-csv", in("figures.csv"), "-plots", in("plots"))...)
	if err := run(t.Context(), first, &out); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]string{
		"old.json": `"subject":"chat","routed":true`, "figures.csv": "chat,true,rate,400,ontime,TTFT p50,",
		"plots/ttft.svg": "</svg>", "plots/percentiles.svg": "</svg>",
	} {
		data, err := os.ReadFile(in(name))
		if err != nil || !bytes.Contains(data, []byte(part)) {
			t.Errorf("%s: %v; %q is not in it", name, err, part)
		}
	}
	if err := run(t.Context(), parsed(t, append(small, "-compare", in("old.json"))...), &out); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"200 calls/s: 2 rounds of 12 calls", "near", "chat (routed)", "other tools' definitions", "LLMPerf", "promised: p50 TTFT",
		"figures have changed", "too few calls",
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q was not printed:\n%s", part, out.String())
		}
	}
}

// What would cost money is not sent before somebody has said yes.
func TestCostGuard(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "test")
	o := parsed(t, "-provider", "openai", "-model", "small", "-calls", "1000", "-concurrency", "1", "-rounds", "1", "-warmup", "0",
		"-prompt", "100", "-output", "50")
	err := run(t.Context(), o, io.Discard)
	if err == nil {
		t.Fatal("it was sent")
	}
	for _, part := range []string{"1000 calls", "100000 tokens of input", "50000 of output", "Nothing was sent", "-yes"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
	for base, want := range map[string]bool{
		"http://localhost:8000/v1": true, "http://127.0.0.1/v1": true, "http://[::1]:1/v1": true,
		"https://api.example.com/v1": false, "": false, "://": false, "http://10.0.0.1/v1": false,
	} {
		if isLoopback(base) != want {
			t.Errorf("%q is this machine: %t", base, !want)
		}
	}
}

func TestStoppedEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	before := filepath.Join(t.TempDir(), "before.json")
	if err := os.WriteFile(before, []byte("an hour's work"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(ctx, parsed(t, "-calls", "2", "-json", before), &out); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if kept, err := os.ReadFile(before); string(kept) != "an hour's work" {
		t.Errorf("%q, %v: a report of nothing was written over an older one", kept, err)
	}
}

func TestPrepare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ontime.yaml")
	config := `
targets:
  - {name: a, base_url: http://127.0.0.1:1/v1, models: {small: s, large: l}, price: {input: 1, output: 2}}
  - {name: b, base_url: http://127.0.0.1:2/v1, models: {small: s}, price: {input: 2, output: 1}}
endpoints:
  chat: {ttft: {p95: 600ms}, targets: [b]}
`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args, want string // the subjects
	}{
		{"-model small", "a, b"},
		{"-model small -endpoint chat", "b, chat (routed)"},
		{"-model small -endpoint chat -target -", "chat (routed)"},
		{"-model small -endpoint chat -target a,b", "a, b, chat (routed)"},
		{"", "choose one with -model"},
		{"-model small -target c", `no target "c"`},
		{"-model small -endpoint c", `no endpoint "c"`},
		{"-model small -prompts /nonexistent", "no such file"},
	} {
		made, err := parsed(t, append(strings.Fields(tt.args), "-config", file, "-calls", "10")...).prepare()
		var got string
		if err != nil {
			got = err.Error()
		} else {
			var names []string
			for _, s := range made.plan.Subjects {
				names = append(names, s.String())
			}
			got = strings.Join(names, ", ")
			if !made.free || made.price <= 0 {
				t.Errorf("%s: free %t, price %v", tt.args, made.free, made.price)
			}
			made.close()
		}
		if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
			t.Errorf("%s: %s, want %s", tt.args, got, tt.want)
		}
	}
}

func TestOptions(t *testing.T) {
	o := parsed(t, "-rate", "1,2.5", "-stream=false", "-bust=false", "-ignore-eos")
	if len(o.loads) != 2 || o.loads[1] != (load.Load{Rate: 2.5}) || o.stream || o.bust || !o.ignoreEOS {
		t.Errorf("%+v", o)
	}
	for _, args := range []string{
		"-rate 0", "-calls 0", "-rate x", "-rate 1e9", "-concurrency 1.5", "-concurrency 4,4", "-rate 1 -concurrency 1", "more", "-nothing",
		"-config a -url b", "-url http://localhost/v1", "-url http://localhost/v1 -model m -endpoint chat", "-key K", "-fail-on-regression",
	} {
		if _, err := parseOptions(strings.Fields(args), io.Discard); err == nil || errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if _, err := parseOptions([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
	if err := run(t.Context(), parsed(t, "-compare", "/nonexistent"), io.Discard); err == nil {
		t.Error("an old report that is not there")
	}
	if err := run(t.Context(), parsed(t, "-url", "http://localhost:1/v1", "-model", "m", "-key", "NOT_SET_ANYWHERE"), io.Discard); err == nil {
		t.Error("a key that is not there")
	}
}

func TestFailOnRegression(t *testing.T) {
	slow, quick := reportOf(t, 40), reportOf(t, 10)
	var out bytes.Buffer
	o := &options{compare: "old.json", failOnRegression: true}
	if err := o.against(quick, slow, &out); err == nil || !strings.Contains(out.String(), "worse") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := o.against(slow, quick, &out); err != nil {
		t.Errorf("better is no failure: %v", err)
	}
	o.failOnRegression = false
	if err := o.against(quick, slow, &out); err != nil {
		t.Errorf("it was not asked to fail: %v", err)
	}
}

// A gate does not pass because nothing could be held against each other.
func TestFailOnNothingInCommon(t *testing.T) {
	old, now := reportOf(t, 10), reportOf(t, 10)
	old.Series[0].Load.Rate = 2
	o := &options{compare: "old.json", failOnRegression: true}
	if err := o.against(old, now, io.Discard); err == nil {
		t.Error("two tests without a series in common")
	}
	few := reportOf(t, 10)
	few.Series[0].Samples = nil
	if err := o.against(few, now, io.Discard); err == nil {
		t.Error("an old report without a call")
	}
	o.failOnRegression = false
	if err := o.against(old, now, io.Discard); err != nil {
		t.Errorf("it was not asked to fail: %v", err)
	}
}

// What cannot be written is found before the calls, not after.
func TestNowhereToWrite(t *testing.T) {
	var out bytes.Buffer
	missing := filepath.Join(t.TempDir(), "missing", "file")
	for _, name := range []string{"-json", "-csv"} {
		err := run(t.Context(), parsed(t, "-calls", "2", "-rounds", "1", "-rate", "1000", "-target", "near", "-endpoint", "chat", name, missing), &out)
		if !errors.Is(err, os.ErrNotExist) || strings.Contains(out.String(), "TTFT") {
			t.Errorf("%s: %v, having printed %q", name, err, out.String())
		}
	}
}

// reportOf is a report of 100 calls with TTFTs from ms on.
func reportOf(t *testing.T, ms int) *load.Report {
	t.Helper()
	r := &load.Report{Series: []load.Series{{Subject: "a", Load: load.Load{Rate: 1}}}}
	for i := range 100 {
		first := load.Span(1e6*ms + 1e4*i)
		r.Series[0].Samples = append(r.Series[0].Samples, load.Sample{Round: 1, TTFT: first, TTFA: first, Total: 2 * first})
	}
	return r
}

package redis_test

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
	"github.com/ontime-llm/ontime/router/redis"
)

var (
	costFor = flag.Duration("cost", 0, "measure for so long what replicas cost a Redis; 0: not at all")
	costOf  = flag.Int("replicas", 50, "of how many replicas")
	costAt  = flag.Float64("rate", 1, "calls per second of each replica")
)

// TestCost prints what the package documentation says of commands and memory:
//
//	go test ./router/redis -run TestCost -v -cost 60s
func TestCost(t *testing.T) {
	if *costFor == 0 {
		t.Skip("it is measured with -cost 60s")
	}
	s := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), *costFor)
	defer cancel()
	var running sync.WaitGroup
	for range *costOf {
		st := store(t, s.option(), redis.Options{})
		r, err := router.New(router.Config{Targets: four(), Shared: st, Budgets: map[string]budget.Budget{
			"chat": {TTFT: budget.Layers{50: 400 * ms, 95: time.Second, 99: 2 * time.Second}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() { r.Share(ctx) })
		running.Go(func() { call(ctx, r) })
	}
	time.Sleep(*costFor / 3) // all connections are made by now
	s.do("CONFIG", "RESETSTAT")
	start := time.Now()
	<-ctx.Done()
	took := time.Since(start).Seconds()
	running.Wait()

	stats := s.do("INFO", "commandstats")
	for _, m := range regexp.MustCompile(`cmdstat_(\S+):calls=(\d+),usec=(\d+)`).FindAllStringSubmatch(stats, -1) {
		calls, _ := strconv.ParseFloat(m[2], 64)
		micros, _ := strconv.ParseFloat(m[3], 64)
		t.Logf("%-16s %7.1f a second, %5.1f us each", m[1], calls/took, micros/calls)
	}
	out := regexp.MustCompile(`total_net_output_bytes:(\d+)`).FindStringSubmatch(s.do("INFO", "stats"))
	bytes, _ := strconv.ParseFloat(out[1], 64)
	entries, _ := strconv.ParseFloat(s.do("XLEN", "ontime:log"), 64)
	memory, _ := strconv.ParseFloat(s.do("MEMORY", "USAGE", "ontime:log", "SAMPLES", "0"), 64)
	t.Logf("%.0f entries take %.0f bytes each; half an hour of %d replicas takes %.1f MB", entries, memory/entries, *costOf,
		memory/costFor.Seconds()*1800/1e6)
	t.Logf("Redis sent %.0f kB a second", bytes/took/1000)
}

// four are four targets of one model.
func four() (targets []router.Target) {
	for i := range 4 {
		targets = append(targets, router.Target{Name: fmt.Sprintf("target-%d", i), Provider: fmt.Sprint(i), Models: []string{"gpt-4o-mini"}})
	}
	return targets
}

// call makes calls that take no time, of some luck.
func call(ctx context.Context, r *router.Router) {
	req := router.Request{Endpoint: "chat", Model: "gpt-4o-mini", PromptBytes: 4000, Streamed: true}
	tick := time.NewTicker(time.Duration(float64(time.Second) / *costAt))
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		ttft := time.Duration(200+(i*7919)%400) * ms
		if f, err := r.Start(r.Plan(req).Choices[0], req); err == nil {
			f.Content(ttft)
			r.Report(router.Report{Flight: f, Elapsed: 5 * ttft, Total: 5 * ttft, TPOT: ttft / 20, PromptTokens: 1000, OutputTokens: 80})
			tally := r.Ledger("chat").Tally(true)
			tally.Content(ttft)
			tally.Completed(ttft/20, 5*ttft)
		}
	}
}

package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// TestChaos makes thousands of calls, of every format, on eight targets where
// everything goes wrong now and then, from an application that cancels, runs out
// of time and walks away. Each call has to end once, as it says it did. ONTIME_CHAOS is how
// many there are, and ONTIME_CHAOS_SEED what the first batch of them is drawn from.
func TestChaos(t *testing.T) {
	calls := 5_000
	if os.Getenv("ONTIME_LONG") != "" {
		calls = 100_000
	}
	if n, err := strconv.Atoi(os.Getenv("ONTIME_CHAOS")); err == nil {
		calls = n
	}
	const batch = 5_000 // what one client is asked before it is closed and its books are checked
	first := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("ONTIME_CHAOS_SEED"), 10, 64); err == nil {
		first = n
	}
	for seed := first; calls > 0; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runChaos(t, seed, min(calls, batch)) })
		})
		calls -= batch
	}
}

// disorderly is a target on which everything goes wrong now and then, each in its
// own way.
func disorderly(luck *rand.Rand) upstream.Behaviour {
	often := func() float64 { return 0.02 * luck.Float64() }
	b := upstream.Behaviour{
		TTFT:           upstream.Latency{Median: time.Duration(100+luck.IntN(500)) * ms, Sigma: 0.5, StragglerShare: 0.05, StragglerFactor: 20},
		Pace:           upstream.Latency{Median: time.Duration(2+luck.IntN(20)) * ms, Sigma: 0.3},
		Output:         upstream.Length{Median: 30, Sigma: 0.7},
		TokensPerEvent: 1 + luck.IntN(3), EventsPerBurst: 1 + luck.IntN(4),
		EarlyHeaders: luck.Float64(), Tail: time.Duration(luck.IntN(5)) * ms, PromptCache: time.Minute,
		Preamble: upstream.Preamble(luck.IntN(3)), NoDone: luck.IntN(4) == 0, NoStream: luck.IntN(16) == 0,
		Faults: upstream.Faults{
			Refused: often(), HTTPError: often(), Hang: often(), Stall: often() / 4, Cut: often(), Reset: often(),
			ErrorEvent: often(), LateError: often(), Empty: often(), HTML: often(),
			Status: []int{429, 500, 503, 529}[luck.IntN(4)],
		},
	}
	if luck.IntN(2) == 0 {
		b.KeepAlive = 700 * ms
	}
	if luck.IntN(3) == 0 {
		b.RequestsPerMinute = 300
	}
	if luck.IntN(2) == 0 {
		b.Spells = upstream.Spells{Good: 40 * time.Second, Bad: 10 * time.Second, Slow: upstream.Slow{Share: 0.5, TTFT: 8},
			Faults: upstream.Faults{HTTPError: 0.3, Hang: 0.1}}
	}
	return b
}

const chaosHedges = 0.1 // of the calls of "chat"

// chaos is a fleet and what the application did with it.
type chaos struct {
	*fleet
	sent    counting
	started time.Time
}

func runChaos(t *testing.T, seed uint64, calls int) {
	luck := rand.New(rand.NewPCG(seed, 0))
	s := &chaos{sent: counting{next: upstream.Network{}, sent: map[string]int{}}, started: time.Now()}
	cfg := client.Config{Seed: seed, Transport: &s.sent, Grace: time.Second, Endpoints: map[string]budget.Budget{
		"chat": {TTFT: budget.Layers{50: 400 * ms, 95: time.Second, 99: 3 * time.Second}, Hedge: chaosHedges},
		"tight": {Total: budget.Layers{95: 2 * time.Second}, Deadline: 3 * time.Second,
			MaxTokens: budget.MaxTokens{Limit: 20}, Hedge: -1},
		"some": {TTFT: budget.Layers{95: 800 * ms}, Targets: []string{"t1", "t2", "t3"}, Abandon: time.Second},
	}}
	var names []string
	for i := range 8 {
		name := fmt.Sprint("t", i)
		names = append(names, name)
		target := client.Target{
			Name: name, Region: fmt.Sprint("r", i%3), Price: router.Price{Input: 1 + float64(i), Output: 4 + float64(i)},
			APIKeys: []string{"key-of-" + name, "other-key-of-" + name},
		}
		if i%4 == 1 {
			target.Limits = router.Limits{RequestsPerMinute: 600, Concurrent: 8}
		}
		cfg.Targets = append(cfg.Targets, target)
	}
	s.fleet = newFleet(t, quick, cfg, names...)
	for i, name := range names {
		b := disorderly(luck)
		if i == 3 {
			b.Keys = []string{"key-of-" + name} // its other key is refused
		}
		s.servers[name].Set(func(to *upstream.Behaviour) { *to = b })
		s.sent.next.(upstream.Network)[name+".test"] = s.servers[name]
	}
	results := make([]*deed, calls)
	var running sync.WaitGroup
	for i := range results {
		results[i] = newDeed(rand.New(rand.NewPCG(seed, uint64(i+1))))
		running.Go(func() { results[i].do(t.Context(), s.HTTPClient().Transport) })
		time.Sleep(time.Duration(luck.ExpFloat64() * float64(40*ms)))
	}
	running.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, d := range results {
		s.check(t, d)
		if t.Failed() {
			return // the first is enough to look at
		}
	}
	s.checkBooks(t, calls)
}

// check holds what the application saw against the call's own books.
func (s *chaos) check(t *testing.T, d *deed) {
	t.Helper()
	c := d.call
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s\n%s %s to %s, streamed %v, %q after %v: status %d, %v, whole %v\n%+v", fmt.Sprintf(format, args...),
			d.endpoint, d.format.path, c.Target, d.streamed, d.end, d.after, d.status, d.err, d.whole, *c)
	}
	if c.Start.IsZero() || c.Outcome == 0 {
		fail("the call was not sealed")
		return
	}
	text := d.text()
	words := len(strings.Fields(text))
	if d.status == 200 && text != "" && text != s.servers[c.Target].Text(words) {
		fail("the answer is %q: not that target's own, or not in order", text)
	}
	if (c.Outcome == middleware.Completed) != (c.Err == nil) {
		fail("outcome and error do not fit")
	}
	switch {
	case d.err != nil && d.err != context.Canceled && d.err != context.DeadlineExceeded:
		if e, ok := errors.AsType[*middleware.Error](d.err); !ok || c.Err != error(e) {
			fail("the application has an error that is not the call's")
		}
	case d.whole && d.status == 200:
		if c.Outcome != middleware.Completed {
			fail("the application has a whole answer")
		}
		if d.format.limit != "" && !c.Usage.Estimated && c.Usage.Output != words {
			fail("the answer has %d tokens", words)
		}
	case d.whole && c.Outcome == middleware.Completed:
		fail("an error status of a call that completed")
	}
	if limit := c.MaxTokens; limit > 0 && words > limit {
		fail("%d tokens, above the cap", words)
	}
	s.checkTime(fail, d)
	s.checkAttempts(fail, c)
}

// checkTime makes sure that nothing goes on after the deadline.
func (s *chaos) checkTime(fail func(string, ...any), d *deed) {
	limit := time.Duration(-1)
	switch {
	case d.end == "deadline" || d.end == "cancel":
		limit = d.after
	case d.endpoint == "tight":
		limit = 3 * time.Second
	}
	if d.endpoint == "tight" {
		limit = min(limit, 3*time.Second)
	}
	if limit >= 0 && d.pause == 0 && d.took > limit+ms {
		fail("it took %v, and should have ended at %v", d.took, limit)
	}
}

// checkAttempts makes sure that a call adds up.
func (s *chaos) checkAttempts(fail func(string, ...any), c *middleware.Call) {
	cost, won, hedges := 0.0, 0, 0
	for _, a := range c.Attempts {
		cost += a.Cost
		if a.Hedge {
			hedges++
		}
		if a.Outcome == middleware.Completed {
			won++
		}
		if a.Outcome == 0 || a.Total < 0 || a.TTFT > a.Total || a.Start < 0 || a.Start > c.Total+a.Total {
			fail("attempt %+v", a)
		}
		if c.Endpoint == "some" && !slices.Contains([]string{"t1", "t2", "t3"}, a.Target) {
			fail("%s may not serve %s", a.Target, c.Endpoint)
		}
		if price := s.price(a.Target); !a.Usage.Estimated && a.Cost != price.Cost(a.Usage.Input, a.Usage.CachedInput, a.Usage.Output) {
			fail("%s charges %v for %+v", a.Target, a.Cost, a.Usage)
		}
	}
	switch {
	case cost != c.Cost:
		fail("its attempts cost %v", cost)
	case hedges > 1 || hedges == 1 != c.Hedged || hedges > 0 && c.Endpoint != "chat" && c.Endpoint != "some":
		fail("%d hedges", hedges)
	case len(c.Attempts) > 9:
		fail("%d attempts", len(c.Attempts))
	case won == 0 && c.Outcome == middleware.Completed:
		fail("it completed without an attempt that did")
	}
}

func (s *chaos) price(target string) router.Price {
	i := float64(target[1] - '0')
	return router.Price{Input: 1 + i, Output: 4 + i}
}

package router_test

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/router"
)

// Whatever comes, less than 1% of the calls of an endpoint explore, but for the first of
// a route that nothing is known of (never within four calls), none that is pinned or no first attempt, no two of one route at once, and the next
// choice is always at hand.
func TestExplorationOfAnyHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noDeadline := struct{ testing.TB }{t}
		rapid.Check(noDeadline, func(t *rapid.T) {
			c := three()
			c.Budgets["chat"] = p95
			c.Seed = rapid.Uint64().Draw(t, "seed")
			r, err := router.New(c)
			if err != nil {
				t.Fatal(err)
			}
			calls, since, explored := 0, 0, 0
			ended := make(map[string]time.Time) // the first attempt
			exploring := make(map[string]*router.Flight)
			var flights []*router.Flight
			names := make(map[*router.Flight]string)
			request := rapid.Custom(func(t *rapid.T) router.Request {
				req := chat
				req.Attempts = rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "attempts")
				req.Pin = rapid.SampledFrom([]string{"", "", "", "a1"}).Draw(t, "pin")
				req.Single = rapid.Bool().Draw(t, "single")
				req.PromptBytes = rapid.SampledFrom([]int{400, 4000, 40000}).Draw(t, "bytes")
				return req
			})
			for range rapid.IntRange(100, 300).Draw(t, "calls") {
				req := request.Draw(t, "request")
				p := r.Plan(req)
				for i, choice := range p.Choices {
					f, err := r.Start(choice, req)
					if err != nil {
						continue
					}
					calls++
					since++
					if choice.Explore() {
						if since > 100 {
							explored++
						}
						seen, known := ended[choice.Target] // taken in within 250 ms
						early := since <= 4 || since <= 100 && known && time.Since(seen) >= 250*ms
						if early || req.Pin != "" || req.Attempts > 0 || i > 0 || len(p.Choices) < 2 {
							t.Fatalf("%+v explores after %d calls, choice %d of %d", req, since, i, len(p.Choices))
						}
						if exploring[choice.Target] != nil {
							t.Fatalf("two explore %s", choice.Target)
						}
						exploring[choice.Target], since = f, 0
					}
					flights = append(flights, f)
					names[f] = choice.Target
					break
				}
				for len(flights) > rapid.IntRange(0, 5).Draw(t, "under way") {
					f := flights[0]
					flights = flights[1:]
					if ended[names[f]].IsZero() {
						ended[names[f]] = time.Now()
					}
					for target, e := range exploring {
						if e == f {
							delete(exploring, target)
						}
					}
					ttft := rapid.SampledFrom([]time.Duration{200 * ms, 900 * ms}).Draw(t, "ttft")
					if f.Content(ttft); rapid.Bool().Draw(t, "whole") {
						r.Report(router.Report{Flight: f, Elapsed: time.Second})
					} else {
						r.Report(router.Report{Flight: f, Outcome: router.Cancelled, Elapsed: time.Second})
					}
				}
				time.Sleep(rapid.SampledFrom([]time.Duration{0, 0, 300 * ms}).Draw(t, "pause"))
			}
			if explored > calls/100 {
				t.Fatalf("%d of %d calls explored", explored, calls)
			}
		})
	})
}

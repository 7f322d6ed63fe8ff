package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/internal/upstream"
	"github.com/ontime-llm/ontime/router"
)

const ms = time.Millisecond

// simPromise is what chat promises: at most half of the answers begin after
// 200 ms, at most 5% after 500 ms, at most 1% after 2 s.
var simPromise = budget.Budget{TTFT: budget.Layers{50: 200 * ms, 95: 500 * ms, 99: 2000 * ms}}

// region is a simulated provider. Its times are about a quarter of real ones, so
// that a run takes seconds.
type region struct {
	name  string
	ttft  time.Duration // median
	price router.Price
}

// The nearest region is the cheapest too, and the one that will spike.
var regions = []region{
	{"us-east", 60 * ms, router.Price{Input: 0.44, CachedInput: 0.11, Output: 1.76}},
	{"eu-west", 90 * ms, router.Price{Input: 0.50, CachedInput: 0.12, Output: 2.00}},
	{"ap-south", 130 * ms, router.Price{Input: 0.56, CachedInput: 0.14, Output: 2.24}},
}

func (r region) behaviour() upstream.Behaviour {
	return upstream.Behaviour{
		TTFT:           upstream.Latency{Median: r.ttft, Sigma: 0.2},
		Pace:           upstream.Latency{Median: 3 * ms, Sigma: 0.2},
		Output:         upstream.Length{Median: 24, Sigma: 0.4},
		TokensPerEvent: 6,
	}
}

const spikeWords = "us-east spikes: 1 in 3 begins 12 times later, 15% fail"

func spike(b *upstream.Behaviour) {
	b.Slow = upstream.Slow{Share: 0.35, TTFT: 12}
	b.Faults.HTTPError = 0.15
}

// simulate makes the same calls with and without the client. Each application
// has the three regions for itself, and all have the same luck: what happens to
// a call in a region depends on the seed and the number of the call alone.
func simulate(ctx context.Context, o options, s *screen) error {
	var sites [3]*site
	for i := range sites {
		var err error
		if sites[i], err = newSite(o.seed); err != nil {
			return err
		}
		defer sites[i].close()
	}
	c, err := connect(sites[0].targets(), simPromise)
	if err != nil {
		return err
	}
	defer c.Close()

	chat, turns, first := c.Endpoint("chat"), sites[1].plain(), sites[2].plain()[0]
	l := &load{
		calls: o.calls, every: 30 * ms, client: c, screen: s,
		apps: []*app{
			newApp("with ontime", simPromise, func(int) *openai.Client { return chat }),
			newApp("round robin", simPromise, func(n int) *openai.Client { return &turns[n%len(turns)] }),
			newApp("us-east", simPromise, func(int) *openai.Client { return &first }),
		},
		periods: []period{{"before the spike", 0, o.calls / 2}, {"after it", o.calls / 2, o.calls}},
		options: func(n int) []option.RequestOption {
			return []option.RequestOption{option.WithHeader(upstream.DrawHeader, strconv.Itoa(n))}
		},
		incident: &incident{at: o.calls / 2, words: spikeWords, begin: func() {
			for _, site := range sites {
				site.servers[0].Set(spike)
			}
		}},
	}
	s.print(fmt.Sprintf(simIntro, o.calls, l.every))
	return l.run(ctx)
}

const simIntro = `Three simulated regions on real sockets, %d calls, one every %v. Half way the
tail of us-east spikes. What the client knows and does:
`

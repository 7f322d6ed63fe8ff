package sim

import (
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// twice is an effect on the cheapest target, and later on the one that keeps the
// promise by itself, so that no policy goes unharmed by its taste alone.
func twice(e Effect) []Trouble {
	return []Trouble{
		{Who: Cheapest, From: 0.25, Until: 0.45, Effect: e},
		{Who: Steadiest, From: 0.55, Until: 0.70, Effect: e},
	}
}

// Scenarios returns all scenarios, in the order in which they are reported.
func Scenarios() []Scenario {
	return []Scenario{
		{
			Name: "calm", Words: "nothing happens",
			Load: Load{Even: true},
		},
		{
			Name: "drift", Words: "the steadiest target slows down to 4 times, evenly, and recovers; so does the cheapest, to 3 times",
			Troubles: []Trouble{
				{Who: Steadiest, From: 0.2, Until: 0.8, Drift: true, Effect: Effect{Slow: 4}},
				{Who: Cheapest, From: 0.4, Until: 0.9, Drift: true, Effect: Effect{Slow: 3}},
			},
		},
		{
			Name: "spike", Words: "the cheapest target is 6 times slower for a while, later the steadiest",
			Troubles: twice(Effect{Slow: 6}),
		},
		{
			Name: "brownout", Words: "35% of the calls of the cheapest target are 8 times slower for a while, later those of the steadiest",
			Troubles: twice(Effect{Share: 0.35, Slow: 8}),
		},
		{
			Name: "hang", Words: "the cheapest target takes calls and never answers; later half of those of the steadiest",
			Troubles: []Trouble{
				{Who: Cheapest, From: 0.25, Until: 0.45, Effect: Effect{Hang: true}},
				{Who: Steadiest, From: 0.55, Until: 0.70, Effect: Effect{Hang: true, Share: 0.5}},
			},
		},
		{
			Name: "errors", Words: "the cheapest target fails at once, every call; later 40% of those of the steadiest",
			Troubles: []Trouble{
				{Who: Cheapest, From: 0.25, Until: 0.45, Effect: Effect{Status: 500}},
				{Who: Steadiest, From: 0.55, Until: 0.70, Effect: Effect{Status: 503, Share: 0.4}},
			},
		},
		{
			Name: "limit", Words: "the cheapest target takes no more than 30% of all calls for a while, later the steadiest",
			Troubles: twice(Effect{Limit: 0.3}),
		},
		{
			Name: "provider", Words: "the cheapest target and its provider's other region are 5 times slower for a while",
			Troubles: []Trouble{{Who: Provider, From: 0.3, Until: 0.6, Effect: Effect{Slow: 5}}},
		},
		{
			Name: "everyone", Words: "every target is 4 times slower for a while",
			Troubles: []Trouble{{Who: Everyone, From: 0.3, Until: 0.6, Effect: Effect{Slow: 4}}},
		},
		{
			Name: "flapping", Words: "the cheapest target is 6 times slower every other moment, later the steadiest",
			Troubles: []Trouble{
				{Who: Cheapest, From: 0.2, Until: 0.5, Every: 1.0 / 60, Effect: Effect{Slow: 6}},
				{Who: Steadiest, From: 0.55, Until: 0.75, Every: 1.0 / 60, Effect: Effect{Slow: 6}},
			},
		},
		{
			Name: "cold", Words: "from the first call on 35% of those of the cheapest and the steadiest target are 8 times slower",
			Troubles: []Trouble{
				{Who: Cheapest, From: 0, Until: 0.3, Effect: Effect{Share: 0.35, Slow: 8}},
				{Who: Steadiest, From: 0, Until: 0.3, Effect: Effect{Share: 0.35, Slow: 8}},
			},
		},
		{
			Name: "new", Words: "the steadiest target is not there (404) in the first 40%, and then the best by far",
			Troubles: []Trouble{
				{Who: Steadiest, From: 0, Until: 0.4, Effect: Effect{Status: 404}},
				{Who: Steadiest, From: 0.4, Until: 1, Effect: Effect{Slow: 0.6}},
			},
		},
		{
			Name: "infeasible", Words: "nothing happens, and no target can keep the promise",
			Load:   Load{Even: true},
			Budget: budget.Budget{TTFT: budget.Layers{50: 250 * ms, 95: 400 * ms, 99: 600 * ms}},
		},
		{
			Name: "long", Words: "for a while a third of the prompts has 24,000 tokens",
			Load: Load{LongFrom: 0.3, LongUntil: 0.6, LongShare: 0.33, Long: 24000},
			// A long prompt takes 1.4 s of prefill wherever it goes.
			Budget: budget.Budget{TTFT: budget.Layers{50: 800 * ms, 95: 2200 * ms, 99: 3500 * ms}},
		},
		{
			Name: "chats", Words: "four of five calls go on with a conversation, whose prompt the target may still have",
			Load:   Load{Conversations: 0.8},
			Budget: budget.Budget{TTFT: budget.Layers{50: 700 * ms, 95: 1300 * ms, 99: 2500 * ms}},
		},
		{
			Name: "stall", Words: "30% of the streams of the cheapest target pause for 8 s in the middle; later the steadiest writes 4 times slower",
			Troubles: []Trouble{
				{Who: Cheapest, From: 0.25, Until: 0.5, Effect: Effect{Share: 0.3, Stall: 8 * time.Second}},
				{Who: Steadiest, From: 0.55, Until: 0.75, Effect: Effect{Pace: 4}},
			},
			Budget: budget.Budget{
				TTFT:  Usual.TTFT,
				TPOT:  budget.Layers{95: 40 * ms},
				Total: budget.Layers{95: 12 * time.Second, 99: 20 * time.Second},
			},
		},
	}
}

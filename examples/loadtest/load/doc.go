// Package load makes the same calls to several subjects, a target directly or an
// endpoint through the router, and says what came of them and how sure that is.
//
//	near, err := load.Direct(cfg, "near", "small", budget.Budget{})
//	chat, err := load.Routed(cfg, "chat", "small")
//	plan := load.Plan{
//		Subjects: []*load.Subject{near, chat},
//		Loads:    []load.Load{{Rate: 5}, {Rate: 10}},
//		Calls:    100, Rounds: 3, Warmup: 4,
//		Prompts:  load.Synthetic(500), Output: 100, Stream: true,
//	}
//	report, err := load.Run(ctx, plan, nil)
//	report.WriteTable(os.Stdout)
//
// # How it is measured
//
// One subject is under load at a time. A round goes through all loads, and through all
// subjects under each, in an order that turns from round to round, so that a slow hour
// of a provider falls on everyone.
//
// With [Load.Concurrency] so many streams each make their next call when the last one
// has ended (closed loop): a slow server is asked less, and what would have waited
// meanwhile is not seen. With [Load.Rate] calls arrive by themselves, by a Poisson
// process, however slow the server is (open loop). A time counts from the instant at
// which the call was meant to start, so that a load generator that is late itself
// flatters nobody.
//
// A call without an answer has times too: never. It is part of every percentile of TTFT,
// TTFA and total. TPOT, ITL and stall are of the answers that have one.
//
// # How sure that is
//
// See [Quantiles] for the intervals, and [Compare] for what differs between two reports.
//
// The package owns the load, the figures and their statistics. What a time means is
// package middleware's. It keeps no prompt and no answer.
package load

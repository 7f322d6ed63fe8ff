// Package budget says what an endpoint of the application has promised its
// users, and keeps account of how well the promise is kept.
//
// # Layers
//
// One latency number misleads, so a promise is made in layers. A layer says of
// one metric that at most a small share of the calls may take longer than a
// limit: "p95 TTFT 600ms" allows 5% of the calls to wait longer than 600ms for
// their first token. There are three metrics:
//
//   - TTFT, from the start of the call to the first generated content;
//   - TPOT, the time per output token after that;
//   - total, from the start of the call to the end of the answer.
//
// A [Budget] holds all layers of an endpoint, with its token caps, its deadline
// and what it may spend on keeping them:
//
//	chat := budget.Budget{
//		TTFT:      budget.Layers{50: 200 * time.Millisecond, 95: 600 * time.Millisecond, 99: 4 * time.Second},
//		TPOT:      budget.Layers{95: 100 * time.Millisecond},
//		MaxTokens: budget.MaxTokens{Limit: 2048},
//	}
//	if err := chat.Validate(); err != nil {
//		log.Fatal(err) // every problem at once, with the field and the fix
//	}
//
// The zero Budget promises no latency and is a good one for batch work.
// Percentiles are written 95, not 0.95. TTFT and TPOT layers concern streamed
// calls only, total layers concern all calls.
//
// # Debt
//
// How far a layer is behind its promise is its debt. Every call that misses the
// layer adds to it, every call that keeps the layer pays a little back, so that
// the debt shrinks while fewer than four fifths of the allowed share of calls
// miss, and grows while more do. (The promise itself is the whole allowed
// share: the last fifth is kept in reserve.) For a p95 layer a miss costs 0.048
// and a kept call pays back 0.002: one call in 25 may miss. Debt lies between
// 0, which is no debt, and 50, about a thousand misses in a row. A router that
// weighs the layers by their debt takes the cheapest route while the promise is
// kept, and faster ones as it slips.
//
// A [Ledger] keeps the debts of one endpoint, and a [Tally] judges one call
// against it while the call runs. Besides the layers of the budget, every
// ledger has one more: 99.9% of the calls are to be answered at all.
//
// # Token caps
//
// An answer that never ends is a fault of latency and of cost, so every call
// leaves with a cap on its output tokens, decided by [MaxTokens.Cap]: what the
// caller asked for, but no more than the endpoint's limit and the model's own
// ceiling, or a default where the caller asked for nothing. With MaxTokens.Fit the
// router lowers it to what can be written in time.
//
// # Which endpoint
//
// [With] names the endpoint of the calls that are made under a context:
//
//	ctx = budget.With(ctx, "chat")
//
// This package is arithmetic. It reads no clock (ages and latencies are given
// to it), starts no goroutine, and must never know HTTP, routes, providers or
// configuration files.
package budget

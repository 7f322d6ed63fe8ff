// Package router decides which way a call goes: it knows the routes, what has been
// seen of each, and which of them would best keep what an endpoint has promised.
//
//	r, err := router.New(router.Config{
//		Targets: []router.Target{{Name: "openai"}, {Name: "azure-eu", Provider: "azure"}},
//		Budgets: map[string]budget.Budget{"chat": {TTFT: budget.Layers{95: 600 * time.Millisecond}}},
//	})
//	req := router.Request{Endpoint: "chat", Model: "gpt-4o", PromptBytes: len(body), Streamed: true}
//	plan := r.Plan(req)                     // plan.Choices, best first
//	f, err := r.Start(plan.Choices[0], req) // from now on in flight; if not, the next choice
//	f.Content(ttft)                         // the first content came
//	r.Report(router.Report{Flight: f, Outcome: router.Completed, ...})
//
// Every attempt is to be started and reported, whatever becomes of it. [Router.Wait]
// is a Plan that waits while no route may be taken.
//
// # Routes
//
// A route is one target serving one model, as the application names it: the thing
// that has a latency distribution. See [Router] for which there are.
//
// # What an attempt teaches
//
// The end of an attempt is either a time or a bound of one:
//
//	content came           TTFT, at once
//	completed, streamed    TPOT, and the length of the answer
//	completed, not so      the total alone: when its first token was made nobody knows
//	timed out, cancelled,  at least so long without content (censored): neither a
//	lost, failed           latency nor nothing
//	still under way        at least so long until now: a hang is seen before it ends
//	failed                 a failure besides, even after content
//	failed, of no fault    nothing: the caller's own mistake, a rate limit, a key
//
// Survival functions follow by Kaplan-Meier (package internal/latency). What ended
// counts on two time scales, with half-lives of 30 s (fast) and 15 min (slow).
//
// # Size and luck
//
// A long prompt takes longer, which is nobody's fault. A prompt of s tokens accounts
// for
//
//	m(s) = a + b*s
//
// with a and b from the medians of five size buckets (up to 512, 2k, 8k, 32k tokens
// and beyond; the latest 64 of each) by least squares, in which b leans on 0.06
// ms/token. A TTFT y is recorded as y * m(1000)/m(s), what it would have been with
// a prompt of 1000 tokens, and
//
//	P(TTFT > T | s) = S(T * m(1000)/m(s))
//
// so that one curve serves all sizes. (It is the distribution of the luck y/m(s),
// times the constant m(1000). With that constant a spell in which everything takes
// twice as long is counted once: in S. Without, it would be counted again as m
// follows.) The prompt's tokens are estimated from its bytes, by a ratio that each
// route learns from reported usage, 4 at first.
//
// Totals are composed where answers are streamed, TTFT + (n-1)*TPOT for n tokens,
// with n distributed as the endpoint's own answers and cut at the call's cap. They
// are tabled at the fold, for each size bucket and for caps on a grid of two to the
// octave. Answers that are not streamed have a distribution of their own, of the time
// converted to 1000 tokens in and 200 out; while there are few it leans on the
// composed one.
//
// # Relatives
//
// Few samples lean on those of relatives. With n samples
//
//	slow' = (n*slow + 20*relatives)/(n + 20)
//	S     = (n*fast + 8*slow')/(n + 8)
//
// where relatives are the same model on other targets, leaning in the same way on
// other models of the same provider, those on all others, and those on what is built
// in. A cold route starts like its relatives: never at zero, which would send it
// everything, and never at infinity. (Counts are mixed rather than curves: the
// same where nothing is censored, and where something is, it has no say beyond the
// time at which it was cut off.) The share of failures leans likewise.
//
// # The fold
//
// All of this is worked out for the routes of a model by the first plan that finds
// the last time more than 250 ms ago; plans that come meanwhile go on with what
// was known. There is no goroutine, and a plan takes no lock but for that.
//
// # Choice
//
// The least score is first, where
//
//	score = V * cost/median cost + sum over layers j of (Q_j + 0.5)/e_j * P(miss_j)
//
// e_j is the share of calls that may miss the layer and Q_j its debt: how far behind
// its promise it is. While promises are kept, the cheapest route that keeps them
// wins; as debt grows, the fastest. V is the budget's CostWeight. TTFT and TPOT layers
// do not concern calls that are not streamed. With f the share of attempts that
// fail,
//
//	P(miss) = f + (1-f) * P(late)
//
// since an error is late for every layer, so that a route that fails fast attracts
// nothing. For the implicit layer "answered" it is f*f: an error reaches the caller
// only if the next attempt fails as well. A limit beyond the time at which an attempt
// is given up is as good as that time.
//
// Where no layer concerns the call, the score is the median time that is to be
// expected, of the first token or of the whole, with a failure as never. An endpoint
// that promises nothing and sets its CostWeight all the same wants the cheapest: for
// it the score is as above, with "answered" as the only layer.
//
// Of routes within 3% of the best score (or within 0.03 if that is below 1: a
// promise kept several times over) a random one is first, or all traffic would follow
// the noise.
//
// # When to give up
//
// Breach is not abandonment: a late answer is better than none. [Choice.Abandon] is
//
//	max(the budget's Abandon, 3 * p99 of what came, for this size)
//
// with 5 s in place of the budget's where it is 0; the second term is 10 minutes at
// most. Whether an attempt may be given up at all (the last candidate may not) is for
// whoever runs it to know.
//
// # Health
//
// Each route has a circuit breaker. What an attempt comes to is told to it once, at
// the first content or, without any, at the end; a cut after content is told as well.
//
//	5xx, 408, connection error          failure
//	error event, cut or empty stream    failure, after content too
//	given up after Choice.Abandon       failure
//	a tail layer missed                 no failure by itself: feeds the alarm
//	the caller's own 4xx                nothing
//	429                                 nothing; the key cools down
//	401, 402, 403, insufficient_quota   nothing; the key is taken out
//	the caller's cancel or deadline     nothing
//	lost the race                       nothing
//	finish_reason=length                well, as every whole answer
//
// It opens on 5 failures in a row, on failures of half of the latest 2 minutes'
// outcomes if those are 20 or more, or on an alarm that persists: for 15 s, then 30,
// and so on to 5 minutes, each up to a tenth longer by chance; anew from 15 s once it
// has been closed for 5 minutes. Then one small call at a time is a probe
// ([Choice.Probe]): its prompt has at most 1.5 times the typical number of tokens, or
// any after another 15 s. A probe that does well closes the breaker. For the next 30 s
// the route is left, where it would be first, to a share of the calls that grows from
// a tenth to all. One without a result makes room for the next, and so does one of
// which nothing is heard for twice its Choice.Abandon.
//
// The alarm of a layer is a sequential test (CUSUM) of whether it is missed far more
// often than allowed: 30% against 5% for a p95, 10% against 1% for a p99, in general
// 6 or, from p98 on, 10 times as often as allowed; below p90 there is none. It is
// armed once the same test has found the layer kept, since a route that never keeps
// it is not ill but slow, which the score tells for each endpoint by itself. Each
// attempt counts once for each layer, and one still under way as soon as it is past
// the limit. A call larger than those that keep the limit may take longer in
// proportion. A first alarm makes a route degraded: its slow history counts a fifth,
// until the test finds the layer kept again or nothing is heard for 5 minutes. If it
// rings again 10 s or more after it began, the route is opened. A slow probe opens it
// again, until at the longest opening being slow is taken to be its way.
//
// A route is not opened if an endpoint that may use it would have no other left that
// is well. It is not opened for being slow if more than half of an endpoint's routes
// would be, or if 60% have an alarm or had one within 10 s: then it is the client, the
// network or the promise. One that is open for being slow stays in the plan, last
// ([Choice.LastResort]): a late answer is better than none, and endpoints that
// promise no tail take it as ever. One that is open for failing is in the plan only
// if no other is, nor comes back by waiting a little.
//
// # Limits
//
// What providers count by API key and model, so does the router. After a 429 or any
// other failure of the provider that says so, the key is not used for the model until
// Report.RetryAfter is over; if a 429 does not say, for 1 s, and for twice as long,
// up to a minute, each time that it comes again before an answer. A cooldown gets
// longer, never shorter. What responses say is left ([Headroom]) is reckoned to fill up
// evenly until the reset, less what was started since. Of several keys the one with
// most left is used. With less than a fifth left of the best key the score rises by
//
//	5 * ((0.2 - left)/0.2)^2
//
// (where scores are times: in that proportion), so that another route is taken before
// the 429. A key that is refused is out for all models until [Router.Restore]. Lest
// nobody look, one call tries it as a probe, after 15 s, 30 s and so on to every 5
// minutes, and an answer puts it in again.
//
// A target's own [Limits] are kept by counting here: nine tenths of those per minute
// evenly and one tenth at once, so that no minute has more. They are no part of the
// score: to find them used up costs nothing.
//
// All of it is in the Snapshot, with why and until when; Config.OnHealth is told of
// changes.
//
// # Another config
//
// [Router.Reload] makes a router for another config. The two share what was seen, not
// copies of it: records of routes, accounts of layers, keys, limits, cooldowns and the
// queue. So a call under way goes to its end by the old one, and counts for the new.
//
// # What it must never know
//
// HTTP, wire formats, credentials, configuration files. It gets counts and times, and
// reads no clock but package time's.
package router

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
// is a Plan that waits while no route may be taken. What a request's Pin or Avoid leaves
// out is neither refused nor waited for.
//
// # Routes
//
// A route is one target serving one model, as the application names it: the thing
// that has a latency distribution. See [Router] for which there are. A call is sent
// to targets only that take the format of its request (Request.Format), a label of
// which the router knows nothing else.
//
// An endpoint may list further models (budget.Budget.Models). A plan is of one model:
// of the call's own, or of the first behind it, while no route of those before can be
// taken now, open ones included only when none of any model is left. A route may open
// although it is its model's only one, if another model is left. Hedges and
// exploration keep to the plan's model. Request.After asks for the models behind one
// whose routes have failed the call.
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
// A long prompt takes longer, which is nobody's fault. A prompt of s tokens, less those
// that are expected to be cached, accounts for
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
//	score = V * cost/median cost + sum over layers j of (Q_j + 0.2)/e_j * P(miss_j)
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
// Of routes within 3% of the best score (or within 0.012 if that is below 0.4: a
// promise kept several times over) a random one is first, or all traffic would follow
// the noise. A route of which next to nothing is known (less than 8 attempts) takes no
// more calls at a time than it has been seen to answer, and one, while a better known
// one is in the plan: were it slow after all, a burst would have found out all at once.
//
// # Prompt caches
//
// Which targets have read which beginnings of prompts ([Request.Prefixes]) is kept for
// 5 minutes since their last use, from their first content on: providers keep them for
// as long at least. Of the longest that a route has seen, of the same model, a share
// counts as cached:
//
//	s    = tokens of the prompt - share * tokens of the prefix
//	cost = s * Input + cached * CachedInput + output * Output
//
// The share is learned from [Report.CachedTokens] (the latest 32 with something to be
// cached; 0.5 at first, which counts for 2). Below a tenth the route has no cache as far
// as plans are concerned, so that nothing binds a conversation to it. What a cache is
// worth in time and money is thus part of the score, and no rule of its own is needed
// but one: the route that has most of the prompt cached is first if it is within 5% of
// the best score (or 0.05, as above). To move means to pay for the whole prompt again,
// and scores differ by as much from one fold to the next. If several have as much, as
// where conversations share a system prompt, one of them within 3% is drawn.
//
// There are at most 32,768 prefixes; what is new while there is no room is not
// remembered. Plans without prefixes do not look. Limits count cached tokens like all
// others, as providers do.
//
// # Exploration
//
// A route that looked worse than others gets no calls, and without calls it would look
// so for ever. Therefore less than 1% of an endpoint's calls, one after each 100 at the
// earliest, take a route that would be first if it were as well as may be
// ([Choice.Explore]). The optimistic score puts in place of each chance, of a failure
// and of being late for a layer, the lower bound of its Wilson interval (z = 1.645, one
// time in twenty it is lower) for
//
//	n = min(slow, 30*fast)
//
// attempts: as many as there would be if all evidence had come like that of the last
// minutes. What is not renewed halves every 30 s however much there was: of two routes
// at the same cost, one that misses a p95 a third of the time is looked at again after
// some 3 minutes, one that always does after some 5 (sooner where it leans on relatives
// that do better), and one that nobody has seen at the next occasion. Where scores are
// times it is the median's lower bound. Cost is what it is: a route that is dearer by
// more than the first one's misses weigh is not explored.
//
// A route of which nothing was ever seen is judged by its relatives, which may be what is
// slow. While the best that is known is expected to break a promise such a route is tried
// by the fifth call, and not after 100: once, since from then on something is known.
//
// Routes are explored one attempt at a time, and only if their breaker is closed, no
// limit presses and nobody waits for them already. Calls explore that are not pinned,
// with their first attempt; such as may not be hedged ([Request.Single]) or have more
// than 1.5 times the typical prompt only if 200 have passed without a better one. The
// second choice is what would have been the first, so that a hedge mends what exploring
// breaks.
//
// # Fit
//
// Where a budget's MaxTokens.Fit is set, an attempt is started with a cap that its
// route can be expected to use up in time ([Flight.MaxTokens]). With what is left of
// each total layer, at the layer's percentile, and of the deadline, at p95,
//
//	cap = 1 + (left - TTFT)/TPOT
//
// or the n at which the total of an answer that is not streamed comes to what is
// left; the least of them, and of the call's own cap, but 64 at least. A model that
// reasons does so before its first token and within the cap: TTFT is not taken off
// for it, and the least is 64 more than it needs for thinking. A layer that the
// first token is too late for already, at its percentile, has no say: no cap would
// keep it.
//
// It is the attempt that is fitted, not the call: a hedge or a later attempt has less
// time and another route. The choice goes by the cap before, or a slow route would
// look as good as a fast one for cutting its answers short.
//
// # When to give up
//
// Breach is not abandonment: a late answer is better than none. [Choice.Abandon] is
//
//	max(the budget's Abandon, 3 * p99 of what came, for this size)
//
// with 5 s in place of the budget's where it is 0; the second term is 10 minutes at
// most. Of a call with a deadline it is half of the time that is left at most, or the p99
// if that is longer: a call that waits for one route until its end has failed, whatever
// others could do. (A p99 past the deadline is that of an answer of average length: what
// is not known might take very long.) Whether an attempt may be given up at all (the last
// candidate may not) is for whoever runs it to know.
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
//	404                                 nothing; it counts as failed in the choice until one is answered
//	the caller's own other 4xx          nothing
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
// # Hedges
//
// A call that has no content yet may be sent to a second route as well, and goes with
// whichever has content first. [Plan.Hedge] says when that pays, and where; a timer of
// the caller's asks it, first at Plan.HedgeFrom (a quarter of the shortest limit) and
// then as it is told, since prices, debts and routes change. Let x be the first attempt,
// of age t, and y the other. The hedge gains
//
//	G(t) = sum over limits T_j > t of w_j * S_x(T_j)/S_x(t) * k * (1-f_y) * F_y(T_j - t)
//	w_j  = 0.05 * (Q_j + 0.2)/e_j
//
// which is P(x misses the limit and y keeps it), times what a miss adds to the debt, times
// how dear debt is. There is a limit more than promised, at twice the last one, or nothing
// would be rescued after that. S and F are for this prompt: a long one is no bad luck. f_y
// is the share of y's attempts that fail, which never come. x has not failed so far, and
// what fails late is in S_x as taking so long. Limits are those of the call, whatever
// attempts it had before. A limit for the whole of a streamed answer leaves (n-1)*TPOT
// less for its first token, and an answer that is not streamed takes longer if it has more
// tokens, with y as with x: four lengths stand for all. The hedge is due when
//
//	S_x(t) * (G(t) - price - cost)
//
// is at its greatest from now on, and above 0: to wait may spare it, and may lose what it
// would have rescued. (When G(t) first pays is too early: of the slow ones no more were
// rescued, by up to twice as many hedges.) With V the budget's CostWeight,
//
//	cost  = 0.2 * V/12 * cost of y/median cost
//	price = 0.02 * 2500^(1 - tokens/room)
//
// A call earns its endpoint as many tokens as Budget.Hedge says, 0.05, and a hedge takes
// one when it is started, of which there are 20 at first: that is a hard bound. Since the
// price rises as they get few, a bad stretch does not spend them first come, first
// served, and what is spent is what is earned whenever there is use for it. There is room
// for 20 tokens or for what the calls of the last 4 minutes have earned. A new process
// has room for 20: it grows as it fills, and else by a quarter of what is earned. (If it
// were all there, a busy endpoint would save most of what it earns at first, and the
// price be high for nothing.) A hedge that comes to no result (a 429, a refused key, the
// caller's own mistake) gives its token back.
//
// What holds up x may hold up y. k is how many times better hedges do than if the two had
// nothing to do with each other: those that had content in time, and first, over what was
// predicted when they were started, which is P(Y < X, Y <= T-t) for the limit T that
// counted most. It is learned for targets of one provider and region, of one provider,
// and of two, from 0.5, 0.8 and 1 which count for 10 hedges, and kept between 0.05 and 1.5.
// The latest 100 count, and those of 15 min ago half.
//
// A route is not hedged onto while it is late itself: half of its latest 20 attempts or so
// took longer than 95% usually do, or where that is not known yet (of times that a fit has
// converted, not a guess), those of others. Nor, but
// by 5 at a time, if it has not been tried for a while and x's route is late: then the
// whole world may be slow, and more load would make it worse. So that a hang of one
// route, which holds most of what is under way, does not look like the whole world,
// routes are looked at one by one. Attempts count when their content comes or when they
// are late, once each: of those under way at any time many are late, since they are under
// way for longer. And what is usual doubles in no less than 5 minutes, or an incident
// would soon be that. (It takes as long to show as an attempt usually takes at most; until
// then hedges are sent in vain.) Routes near a limit, their provider's or our own, are
// left alone. So are those whose breaker is open, unless only for being slow: F_y tells
// what to expect of them.
//
// A probe is hedged at once, and may be left under way after it has lost to find out: its
// content counts. If it is not, the next probe waits until twice its Choice.Abandon is
// over. Calls without a promise that a hedge can keep are never hedged.
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
// # Calibration
//
// When an attempt starts, the p50, p95 and p99 of its TTFT are noted as predicted for
// its size (of an answer that is not streamed, those of the whole for its length), and
// later whether it came within each. [RouteStatus].Calibration has the shares, with a
// half-life of 15 minutes: 0.5, 0.95 and 0.99 are perfect. An attempt that was cut off
// is late for the percentiles that it had passed and does not count for the others,
// so that a share may look too good where hedges cut off many just before it.
//
// # Changes
//
// What is different of a route from one time on is a [Change]: told to Config.OnHealth
// once, counted, and in the Snapshot. It changes no choice: that is for the distributions.
//
// A model that a route has not answered with before ([Report.ServedModel]) is one. Eight
// are remembered, and make room after a day without them, so that those that take turns
// behind a load balancer are told once, and no more than eight a day whatever comes.
//
// A median TTFT (of the same prompt: y * m(1000)/m(s)) or TPOT that has become another for
// good is one. Latencies make blocks of a minute, or of 10 calls if that takes longer,
// one a second at most, and ten blocks a window, which is the median of their medians.
// With the mean x and the deviation s of the logarithms of the last k windows, 18 at most,
// the next is within
//
//	x ± t * s * sqrt(1 + 1/k)
//
// but for one time in 100,000, with Student's t of k-1 degrees of freedom: a prediction
// interval (Hahn and Meeker, "Statistical Intervals", 1991). It is a change if it is not,
// by a fifth at least, and if 8 of its 10 blocks are on its side of the middle. So noise
// is what this route does anyway, from one window to the next; and the same again with
// blocks three times as long, for routes that wander. At a call a second 30% more are
// noticed within 14 minutes where nothing else moves, and a return from it as soon. Less
// than 0.02 a day and metric are false (two in 363 simulated days of heavy tails,
// wandering, spikes and a day's swing). Spikes of up to 7 minutes are none, nor is what
// comes slowly, or in the first hour, before 6 windows are full.
//
// # Advice
//
// What would make an endpoint faster follows from its latest 256 answered calls, and
// stands in the Snapshot, what saves most over all calls first. Each [Advice] has what it
// saves at the median of the calls that it is for, with a 95% interval. There is none on
// less than 30 calls, none whose interval reaches zero, and none that saves less than 5%
// of the shortest limit of that metric (10% of the median, if nothing is promised). Where
// nobody waits, as with budget.Batch, only what a cap cuts is told.
//
//	stream   the rest of an answer after its first token: n-1 times the slope of totals
//	         by tokens. Not where the end alone is promised, or the model reasons, as its
//	         name or its usage tells.
//	prompt   half the uncached tokens times the slope of TTFT by them, on the route that
//	         the call took; if it has read prompts as short as that
//	cache    the tokens that were read again, of prompts that begin like one of the 5
//	         minutes before and had less than half of that cached, times the same slope
//	cap      half of what comes after the first token, where totals are promised, or
//	         not streamed, and that is more than half of them. Answers that the cap cut
//	         off, or that reasoning left nothing for, by their share (1%, and 0.1%) since
//	         the endpoint has its cap.
//	target   one that the budget does not allow, is well, takes the same formats and
//	         costs no more, as far as prices are known: the median now less what it is
//	         expected to take for the same calls, having had 60 of its own lately
//
// Slopes are medians of those between all pairs of at most 100 points, with the interval
// by Kendall's tau (Sen, 1968) or by what each point contributes to it (Hoeffding, 1948),
// whichever is wider. Medians lie between two order statistics (Conover, "Practical
// Nonparametric Statistics"), shares in Wilson's interval (1927), and the interval of a
// difference is made of those of its parts (Zou and Donner, 2008). Slopes do not lean on
// what is built in, as the fit of plans does: that is no evidence.
//
// # Another config
//
// [Router.Reload] makes a router for another config. The two share what was seen, not
// copies of it: records of routes, accounts of layers, keys, limits, cooldowns and the
// queue. So a call under way goes to its end by the old one, and counts for the new.
//
// # Many replicas
//
// Where an application runs as many processes, each sees few calls. With a [Store]
// ([Config.Shared]) and [Router.Share] running, which client.New sees to, each tells the
// others what it has seen, in spans of 5 s, and looks every second for what they have:
//
//	times, cut off or not   count in full in the slow layer, half in the fast one: what
//	and failures            another place sees now need not be what this one will
//	prompt sizes            the medians of the latest 64 of others, by size bucket, are
//	                        points of the fit beside one's own
//	bytes per token         averaged with one's own, of 64 prompts at most
//	hedges                  count for k as one's own, of 100 at most
//	calls, by layer         make debt as one's own do: the promise is the fleet's
//	cooldowns               at once, by the index of the key
//	probes                  one at a time: see below
//
// A span is one blob, of whatever routes had calls in it: a store counts commands, and so
// there is one every 5 s however many routes there are. Ages are counted from the end of
// the span by the process' own clock, and by the store's from when it was published, so
// that nobody's clock has to agree with anybody's. A replica has an id of its own, by
// chance, and numbers its blobs: what is published or read twice counts once, what is its
// own not at all. After a restart it has another id, so that what it saw before counts as
// another's, as long as the store has it; nothing is counted twice.
//
// What is under way is not shared, so that a hang is seen elsewhere when it is cut off. Nor
// is an opening: what others have seen of failures and times is in the scores, and a replica
// that is cut off itself must not take a route from all. But of those that have opened a
// route one probes it: a call that would be a probe has the replica claim it, for 15 s to a
// minute, and takes another route meanwhile; the next one may. What the probe comes to holds
// for all that have it open. Lengths of answers, prompt caches, alarms and hedge allowances
// are each replica's own.
//
// Targets, models, endpoints and layers are the same if their names and limits are. What is
// not known here is ignored, and so are blobs that are malformed or of another version
// ([SharedStatus].Ignored). While the store is slow, full, gone or wrong everything goes on
// with what the process sees itself; an [Event] without a target says so, once. It is tried
// again after a second, and then less and less often, up to half a minute and half of that
// again by chance; up to 5 minutes of what happened meanwhile are told then.
//
// No plan and no report waits for any of this. What was merged is in the next fold.
//
// # What it must never know
//
// HTTP, wire formats, credentials, configuration files. It gets counts and times, and
// reads no clock but package time's.
package router

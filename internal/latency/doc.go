// Package latency keeps what has been observed of a time, and answers how
// likely it is to take longer than a limit.
//
// A [Histogram] takes observations as they come and forgets them with age. Its
// [Histogram.Fold] weighs them into [Counts], to which the caller adds what is
// still under way or seen of relatives; [Counts.Dist] turns those into a survival
// function by the Kaplan-Meier estimate:
//
//	h := latency.New(1.0/1024, time.Now())    // seconds
//	h.Record(now, 0.21)                       // it took 210 ms
//	h.Censor(now, 0.90)                       // it was given up after 900 ms
//
//	var fast, slow latency.Counts
//	h.Fold(now, &fast, &slow)
//	slow.Censor(4.2, 1)                       // one has been waiting for 4.2 s
//	dist := slow.Dist()
//	dist.Survival(0.6)                        // P(longer than 600 ms)
//
// [Counts.Record] and [Counts.Censor] also make Counts without a Histogram, for what
// is assumed before anything has been seen.
//
// An observation that was cut short is censored: it took at least so long. It is
// neither a latency nor nothing. If it were left out, what hangs would look
// fast, since only its quick answers would ever be counted.
//
// # Buckets
//
// Buckets are logarithmic, base 2^(1/16), and include their upper bound, as those
// of Prometheus native histograms of schema 4 and of OpenTelemetry scale 4. The
// middle of a bucket is within 2.2% of everything in it. [Buckets] of them span
// 20 octaves: from 1 ms to a quarter of an hour with a unit of 1/1024 s.
//
// # Age
//
// Records go into epochs of 5 s. Epochs older than a minute are summed into whole
// minutes, and minutes older than a quarter of an hour into one layer that decays.
// A weight follows from an epoch's own time, never from its place in a ring, so a
// quiet hour ages what came before it.
//
// The package owns buckets, epochs and survival. It must never know what is
// measured: routes, metrics, budgets, providers, HTTP.
package latency

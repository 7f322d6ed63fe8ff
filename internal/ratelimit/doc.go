// Package ratelimit reads what a provider says about its limits in the headers of a response: how long
// to wait, whether to try again at all, and how much is left.
//
//	info := ratelimit.Read(resp.Header, resp.StatusCode, time.Now())
//	if info.Told {
//		// wait for info.RetryAfter, or go elsewhere
//	}
//	if b := info.Tokens; b.Known && b.Limit > 0 {
//		share := float64(b.Remaining) / float64(b.Limit) // what is left
//	}
//
// # Headers
//
// Names are compared without regard to case, in maps whose keys are not canonical too.
//
//   - Retry-After, and in milliseconds Retry-After-Ms and X-Ms-Retry-After-Ms;
//   - X-Should-Retry: true or false;
//   - X-RateLimit-{Limit,Remaining,Reset}-BUCKET, and X-Rate-Limit-* just so; the bucket may be missing,
//     or stand before the field, as in X-RateLimit-Day-Limit;
//   - X-TokenLimit-*, RateLimitBySize-* and X-RateLimitBySize-* likewise: all of their buckets are of tokens;
//   - Anthropic-RateLimit-BUCKET-{Limit,Remaining,Reset}, and the unified windows of subscriptions,
//     whose Status is "rejected" when they are used up;
//   - RateLimit-{Limit,Remaining,Reset}, and the structured RateLimit and RateLimit-Policy of the later
//     IETF drafts: "default";r=50;t=30 and limit=100, remaining=50, reset=30.
//
// A bucket whose name has "token" in it counts tokens. One without a name, with "req" in it, or named
// after a period ("day", "1h") counts requests, as do the IETF's. Others (images, concurrency, unified
// windows) fill no [Bucket], but once exhausted they tell a delay like any other.
//
// # Delays
//
// Wherever a delay is expected each of these forms is read: a number of seconds (milliseconds in the
// -Ms headers), whole or not; above 1e9 a Unix time in seconds, above 1e12 in milliseconds; a Go
// duration (6m0s, 2m59.56s, 20ms); an RFC 3339 instant; an HTTP date. An instant is measured from the
// response's own Date, since the sender's clock need not agree with ours; without one, from now. One
// that has passed is a delay of 0.
//
// A delay of more than [MaxDelay] becomes MaxDelay: who is told to come back in a week asks again after
// a day. A negative delay (Azure's -1) is unknown. So is one of more than a year, and an instant more
// than a year away on either side: a unit misread, or a clock never set. Taken at their word they
// would keep a healthy sender out for a day.
//
// # Several values
//
// Of a list in one value the first item counts. Of several values of a header, in whatever spelling,
// the longest delay counts, the least remaining, the greatest limit, and "false" before "true": the
// answer must not depend on the order of a map. A response that names more than 24 buckets is not
// believed about any.
//
// The package owns header names and their values. It must never know what is done about them
// (cooldowns, routes, keys), nor read bodies and providers' error codes.
package ratelimit

package ratelimit_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ontime-llm/ontime/internal/ratelimit"
)

// forms write a delay in every way, each to a precision.
var forms = []struct {
	name      string
	precision time.Duration
	format    func(d time.Duration, date time.Time) string
}{
	{"whole seconds", time.Second, func(d time.Duration, _ time.Time) string { return strconv.Itoa(int(d / time.Second)) }},
	{"seconds", time.Microsecond, func(d time.Duration, _ time.Time) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) }},
	{"duration", time.Nanosecond, func(d time.Duration, _ time.Time) string { return d.String() }},
	{"Unix seconds", time.Second, func(d time.Duration, date time.Time) string { return strconv.FormatInt(date.Add(d).Unix(), 10) }},
	{"Unix milliseconds", time.Millisecond, func(d time.Duration, date time.Time) string { return strconv.FormatInt(date.Add(d).UnixMilli(), 10) }},
	{"RFC 3339", time.Second, func(d time.Duration, date time.Time) string { return date.Add(d).Format(time.RFC3339) }},
	{"RFC 3339 with fractions", time.Nanosecond, func(d time.Duration, date time.Time) string { return date.Add(d).Format(time.RFC3339Nano) }},
	{"RFC 3339 elsewhere", time.Second, func(d time.Duration, date time.Time) string {
		return date.Add(d).In(time.FixedZone("", -5*3600-1800)).Format(time.RFC3339)
	}},
	{"HTTP date", time.Second, func(d time.Duration, date time.Time) string { return date.Add(d).UTC().Format(http.TimeFormat) }},
	{"RFC 850", time.Second, func(d time.Duration, date time.Time) string {
		return date.Add(d).UTC().Format("Monday, 02-Jan-06 15:04:05 GMT")
	}},
	{"ANSI C", time.Second, func(d time.Duration, date time.Time) string { return date.Add(d).UTC().Format(time.ANSIC) }},
}

// A delay written in any form, under any name that takes one, at any time, is read back.
func TestDelayRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom(forms).Draw(t, "form")
		delay := time.Duration(rapid.Int64Range(0, int64(ratelimit.MaxDelay)).Draw(t, "delay")).Truncate(form.precision)
		sent := time.Unix(rapid.Int64Range(1_100_000_000, 3_000_000_000).Draw(t, "date"), 0).UTC() // 2004 to 2065
		local := sent.Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "skew")))
		name := rapid.SampledFrom([]string{"Retry-After", "retry-after", "x-ratelimit-reset-tokens", "X-Rate-Limit-Reset-Tokens",
			"x-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-reset", "Ratelimit-Reset", "RATELIMIT"}).Draw(t, "name")

		value := form.format(delay, sent)
		h := http.Header{"Date": {sent.Format(http.TimeFormat)}, name: {value}}
		switch name {
		case "Ratelimit-Reset":
			h["Ratelimit-Remaining"] = []string{"0"}
		case "RATELIMIT":
			if strings.Contains(value, ",") {
				return // no date stands in a list
			}
			h[name] = []string{`"x";r=0;t=` + value}
		default:
			h["x-ratelimit-remaining-tokens"], h["anthropic-ratelimit-tokens-remaining"] = []string{"0"}, []string{"0"}
		}
		info := ratelimit.Read(h, 429, local)
		if off := (info.RetryAfter - delay).Abs(); !info.Told || off >= max(form.precision, 2) {
			t.Fatalf("%s: %v as %s %q is read as %v, %t", name, delay, form.name, value, info.RetryAfter, info.Told)
		}
	})
}

// The tightest bucket is found whatever else is there, in whatever order.
func TestTightestOfMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := rapid.SliceOfN(rapid.Int64Range(1, 1e9), 1, 12).Draw(t, "limits")
		h, least, longest, drained := http.Header{}, 2.0, time.Duration(0), false
		for i, limit := range limits {
			left := rapid.Int64Range(0, limit).Draw(t, "remaining")
			reset := time.Duration(rapid.Int64Range(0, 3600).Draw(t, "reset")) * time.Second
			h[fmt.Sprintf("X-Ratelimit-Limit-Tokens-%d", i)] = []string{strconv.FormatInt(limit, 10)}
			h[fmt.Sprintf("x-rate-limit-tokens-%d-remaining", i)] = []string{strconv.FormatInt(left, 10)}
			h[fmt.Sprintf("X-RATELIMIT-RESET-TOKENS-%d", i)] = []string{reset.String()}
			least = min(least, float64(left)/float64(limit))
			if left == 0 {
				drained, longest = true, max(longest, reset)
			}
		}
		info := ratelimit.Read(h, 429, now)
		if b := info.Tokens; !b.Known || float64(b.Remaining)/float64(b.Limit) != least {
			t.Fatalf("%+v, want a share of %v in %v", b, least, h)
		}
		if info.Told != drained || info.RetryAfter != longest {
			t.Fatalf("%v, %t; want %v, %t in %v", info.RetryAfter, info.Told, longest, drained, h)
		}
	})
}

// inBounds says what is wrong with an Info that came of headers with this status.
func inBounds(info ratelimit.Info, status int) error {
	if info.RetryAfter < 0 || info.RetryAfter > ratelimit.MaxDelay || !info.Told && info.RetryAfter != 0 {
		return fmt.Errorf("RetryAfter is %v, told %t", info.RetryAfter, info.Told)
	}
	if info.Told && status/100 == 2 || info.Retry && !info.ShouldRetry {
		return fmt.Errorf("status %d: %+v", status, info)
	}
	for _, b := range []ratelimit.Bucket{info.Requests, info.Tokens} {
		switch {
		case !b.Known && b != ratelimit.Bucket{}:
		case b.Remaining < 0 || b.Remaining > ratelimit.MaxCount:
		case b.Limit < 0 || b.Limit > ratelimit.MaxCount:
		case b.Limit > 0 && b.Remaining > b.Limit:
		case b.Reset < 0 || b.Reset > ratelimit.MaxDelay:
		default:
			continue
		}
		return fmt.Errorf("bucket %+v", b)
	}
	return nil
}

// upper changes the case of ASCII letters only: those of names in HTTP.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, s)
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		dateLine + "\nRetry-After: Tue, 26 Mar 2024 20:00:30 GMT\nretry-after-ms: 44871\nx-should-retry: true",
		"x-ratelimit-limit-requests: 5000\nx-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 6m0s\nx-rate-limit-reset-tokens: 55\nx-ratelimit-remaining-tokens: -1",
		dateLine + "\nanthropic-ratelimit-tokens-limit: 100\nanthropic-ratelimit-tokens-remaining: 0\nanthropic-ratelimit-tokens-reset: 2024-03-26T20:00:01.5+02:00",
		"anthropic-ratelimit-unified-5h-status: rejected\nanthropic-ratelimit-unified-5h-reset: 1711483230",
		"RateLimit: \"burst\";r=90;t=1, \"daily\";r=100;t=3600\nRateLimit-Policy: \"fixed window\";\"burst\";q=100;w=60\nratelimit: limit=100, remaining=50, reset=5",
		"x-ratelimit-reset-day: 1e309\nx-ratelimit-remaining-day: NaN\nx-ratelimit-day-limit: 18446744073709551615\nretry-after: -1\nRetry-After: 0x1p999",
	} {
		f.Add(seed, 429, int64(1711483200))
	}
	f.Fuzz(func(t *testing.T, lines string, status int, unix int64) {
		h, loud := http.Header{}, http.Header{}
		for line := range strings.SplitSeq(lines, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			h[name] = append(h[name], value)
			loud[upper(name)] = append(loud[upper(name)], value)
		}
		at := time.Unix(unix, 0)
		info := ratelimit.Read(h, status, at)
		if err := inBounds(info, status); err != nil {
			t.Fatal(err)
		}
		// Neither the map's order nor the names' case shows.
		for _, h := range []http.Header{h, loud} {
			if diff := cmp.Diff(info, ratelimit.Read(h, status, at)); diff != "" {
				t.Fatalf("read again (-first +again):\n%s", diff)
			}
		}
	})
}

package ratelimit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/internal/ratelimit"
)

// Every form, wherever a delay is expected. The response's Date is 2024-03-26 20:00:00, Unix time 1711483200.
func TestDelayForms(t *testing.T) {
	const day, none = 24 * time.Hour, -1
	tests := []struct {
		value string
		want  time.Duration // none: not told
	}{
		// Seconds.
		{"0", 0}, {"45", 45 * time.Second}, {"0.049", 49 * time.Millisecond}, {"1.5", 1500 * time.Millisecond},
		{" 7 ", 7 * time.Second}, {"+7", 7 * time.Second}, {"1e2", 100 * time.Second}, {"86400", day},

		// Go durations.
		{"0s", 0}, {"20ms", 20 * time.Millisecond}, {"6m0s", 6 * time.Minute}, {"2m59.56s", 179560 * time.Millisecond},
		{"20m52.666s", 1252666 * time.Millisecond}, {"1h0m0s", time.Hour}, {"24h", day},

		// Unix time in seconds and milliseconds.
		{"1711483230", 30 * time.Second}, {"1711483230.25", 30250 * time.Millisecond}, {"1711483230250", 30250 * time.Millisecond},
		{"1711483200", 0}, {"1711483199", 0}, {"1711569600", day},

		// RFC 3339.
		{"2024-03-26T20:00:01Z", time.Second}, {"2024-03-26T20:00:01.5Z", 1500 * time.Millisecond},
		{"2024-03-26T22:30:00+02:30", 0}, {"2024-03-26T13:01:00-07:00", time.Minute}, {"2024-03-26T19:59:59Z", 0},

		// HTTP dates, in their three forms.
		{"Tue, 26 Mar 2024 20:00:30 GMT", 30 * time.Second}, {"Tuesday, 26-Mar-24 20:00:30 GMT", 30 * time.Second},
		{"Tue Mar 26 20:00:30 2024", 30 * time.Second}, {"Tue, 26 Mar 2024 19:00:00 GMT", 0},

		// Longer than a day, but meant.
		{"86401", day}, {"604800", day}, {"168h", day}, {"1712088000", day}, {"2024-04-02T20:00:00Z", day}, {"Tue, 02 Apr 2024 20:00:00 GMT", day},

		// Not meant: above a year, or a clock never set.
		{"31622401", none}, {"999999999", none}, {"8785h", none}, {"1743105601", none}, {"1000000001", none}, {"1711483230000000", none},
		{"1711483230000000000", none}, {"2034-03-26T20:00:00Z", none}, {"0001-01-01T00:00:00Z", none}, {"Thu, 01 Jan 1970 00:00:00 GMT", none},
		{"99999999999999999999999", none}, {"1e300", none}, {"1e999", none}, {"9999999h", none}, {"99999999999999999999h", none},

		// Negative: unknown.
		{"-1", none}, {"-0.5", none}, {"-5s", none}, {"-1e300", none}, {"-0", 0},

		// Lists: the first item.
		{"45, 60", 45 * time.Second}, {"45;w=60", 45 * time.Second}, {"6m0s,1s", 6 * time.Minute}, {",45", none},

		// Nonsense.
		{"", none}, {" ", none}, {"NaN", none}, {"nan", none}, {"Inf", none}, {"+Inf", none}, {"-inf", none}, {"0x1p4", none}, {"1_000", none},
		{"1.2.3", none}, {"e", none}, {"+", none}, {"--5", none}, {"5 s", none}, {"5 seconds", none}, {"soon", none}, {"null", none}, {`"30"`, none},
		{"٣٠", none}, {"2024-03-26", none}, {"2024-13-45T99:99:99Z", none}, {"Tue, 99 Mar 2024 20:00:30 GMT", none}, {"\x00", none},
		{strings.Repeat("9", 1<<20), none}, {strings.Repeat("a", 1<<20), none}, {strings.Repeat("1h", 1<<16), none},
	}
	for _, tt := range tests {
		shown := tt.value[:min(len(tt.value), 40)]
		told, wait := tt.want != none, max(tt.want, 0)

		info := ratelimit.Read(headers(dateLine, "Retry-After: "+tt.value), 429, now)
		if info.Told != told || info.RetryAfter != wait {
			t.Errorf("Retry-After: %s: %v, %t; want %v, %t", shown, info.RetryAfter, info.Told, wait, told)
		}
		info = ratelimit.Read(headers(dateLine, "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: "+tt.value), 429, now)
		if info.Told != told || info.RetryAfter != wait || info.Tokens.Reset != wait {
			t.Errorf("x-ratelimit-reset-tokens: %s: %v, %t, bucket %v; want %v, %t",
				shown, info.RetryAfter, info.Told, info.Tokens.Reset, wait, told)
		}
	}
}

func TestMilliseconds(t *testing.T) {
	tests := []struct {
		value string
		want  time.Duration
		told  bool
	}{
		{"0", 0, true},
		{"44871", 44871 * time.Millisecond, true},
		{"0.5", 500 * time.Microsecond, true},
		{"86400000", 24 * time.Hour, true},
		{"1000000001", 24 * time.Hour, true}, // 11.6 days, no Unix time
		{"1711483230250", 0, false},          // 54 years
		{"2s", 2 * time.Second, true},
		{"-1", 0, false},
		{"1e308", 0, false},
	}
	for _, tt := range tests {
		info := ratelimit.Read(headers(dateLine, "Retry-After-Ms: "+tt.value), 429, now)
		if info.Told != tt.told || info.RetryAfter != tt.want {
			t.Errorf("Retry-After-Ms: %s: %v, %t; want %v, %t", tt.value, info.RetryAfter, info.Told, tt.want, tt.told)
		}
	}
}

// now is 19:53:00, the response's Date 20:00:00.
func TestClock(t *testing.T) {
	const until = "Retry-After: Tue, 26 Mar 2024 20:00:30 GMT"
	run(t, []readTest{
		{name: "the response's", lines: []string{dateLine, until}, want: wait(30 * time.Second)},
		{name: "ours without a Date", lines: []string{until}, want: wait(7*time.Minute + 30*time.Second)},
		{name: "ours if the Date makes no sense", lines: []string{"Date: today", "date: ", until}, want: wait(7*time.Minute + 30*time.Second)},
		{name: "the later of two", lines: []string{"date: Tue, 26 Mar 2024 20:00:10 GMT", dateLine, until}, want: wait(20 * time.Second)},
		{name: "a delay needs none", lines: []string{dateLine, "Retry-After: 30"}, want: wait(30 * time.Second)},
	})
}

package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ontime-llm/ontime/client"
	"github.com/ontime-llm/ontime/middleware"
)

// What the SDK does about a provider that asks for time, this client does where
// it has nowhere else to go: it waits as long as it is told, up to two minutes,
// and then asks again; what is asked too much is the caller's error at once, with
// the headers that say so. The SDK's own options on retries have no part in it.
func TestSDKRetryAfter(t *testing.T) {
	date := func(in time.Duration) func() string {
		return func() string { return time.Now().Add(in).UTC().Format(http.TimeFormat) }
	}
	text := func(s string) func() string { return func() string { return s } }
	for name, test := range map[string]struct {
		header  string
		value   func() string
		also    [2]string
		waits   time.Duration
		refused bool
	}{
		"seconds":                    {header: "Retry-After", value: text("30"), waits: 30 * time.Second},
		"part of a second":           {header: "Retry-After", value: text("0.25"), waits: 250 * ms},
		"milliseconds":               {header: "Retry-After-Ms", value: text("30000"), waits: 30 * time.Second},
		"milliseconds first":         {header: "Retry-After", value: text("121"), also: [2]string{"Retry-After-Ms", "30000"}, waits: 30 * time.Second},
		"HTTP date":                  {header: "Retry-After", value: date(30 * time.Second), waits: 30 * time.Second},
		"two minutes":                {header: "Retry-After", value: text("120"), waits: 2 * time.Minute},
		"more than two minutes":      {header: "Retry-After", value: text("120.001"), refused: true},
		"a date too far":             {header: "Retry-After", value: date(121 * time.Second), refused: true},
		"told to retry, but too far": {header: "Retry-After", value: text("121"), also: [2]string{"X-Should-Retry", "true"}, refused: true},
		// Different: "at once" is taken for a tenth of a second, so that nobody spins.
		"none":         {header: "Retry-After", value: text("0"), waits: 100 * ms},
		"date in past": {header: "Retry-After", value: date(-time.Minute), waits: 100 * ms},
		// Different: a number beyond all sense says nothing; the SDK gives up.
		"absurd": {header: "Retry-After", value: text("1e100"), waits: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, quick, client.Config{}, "one")
				if len(test.value()) == len(http.TimeFormat) {
					time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // a date has no fractions
				}
				headers := []string{test.header, test.value()}
				if test.also[0] != "" {
					headers = append(headers, test.also[:]...)
				}
				f.servers["one"].Script(httpError(429, "rate_limit_exceeded", headers...))
				start := time.Now()
				_, err := ask(t.Context(), &f.Client.Client, question("hello"), option.WithMaxRetries(5), option.WithMaxRetryDelay(time.Millisecond))
				if waited := time.Since(start); waited != test.waits {
					t.Errorf("it took %v, want %v", waited, test.waits)
				}
				if !test.refused && err != nil || f.requests("one") != map[bool]int{false: 2, true: 1}[test.refused] {
					t.Errorf("error %v after %d requests", err, f.requests("one"))
				}
				if test.refused {
					if e := theirs(t, err, 429); e.Response.Header.Get(test.header) != headers[1] {
						t.Errorf("%s is %q, want what the provider said", test.header, e.Response.Header.Get(test.header))
					}
				}
			})
		})
	}
}

// Different: another target is asked at once. Nobody waits while one is idle.
func TestSDKRetryAfterIsNotWaitedForWithAnotherTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		f.servers["one"].Script(httpError(429, "rate_limit_exceeded", "Retry-After", "30"))
		start := time.Now()
		f.answers(t, ask, f.chat(), "two")
		if took := time.Since(start); took != 0 {
			t.Errorf("it took %v, want no time", took)
		}
	})
}

// Different: a wait that cannot end before the caller's deadline is not begun.
// The SDK sleeps to the deadline, and loses what the provider had said.
func TestSDKRetryAfterBeyondTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		f.servers["one"].Script(httpError(429, "rate_limit_exceeded", "Retry-After", "30"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		_, err := ask(ctx, &f.Client.Client, question("hello"))
		if theirs(t, err, 429); time.Since(start) != 0 {
			t.Errorf("it took %v, want no time", time.Since(start))
		}
	})
}

// A cancel ends the wait, as it ends the SDK's.
func TestSDKCancelDuringAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, quick, client.Config{}, "one")
		f.servers["one"].Script(httpError(429, "rate_limit_exceeded", "Retry-After", "30"))
		ctx, cancel := context.WithCancel(t.Context())
		defer time.AfterFunc(5*time.Second, cancel).Stop()
		start := time.Now()
		_, err := ask(ctx, &f.Client.Client, question("hello"))
		if err != context.Canceled || time.Since(start) != 5*time.Second || f.requests("one") != 1 {
			t.Errorf("%v after %v and %d requests, want the cancel after 5s and 1", err, time.Since(start), f.requests("one"))
		}
	})
}

// X-Should-Retry of a provider is its word on its own answer. Different: where it
// says false another target is asked all the same, and where it says true of the
// caller's mistake, that stays one.
func TestSDKShouldRetryOfAProvider(t *testing.T) {
	for name, test := range map[string]struct {
		status   int
		says     string
		one, two int // requests
		fails    bool
	}{
		"server error, no":  {503, "false", 1, 1, false},
		"server error, yes": {503, "true", 1, 1, false},
		"mistake, yes":      {400, "true", 1, 0, true},
		"mistake, no":       {400, "false", 1, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one", "two")
				f.servers["one"].Script(httpError(test.status, "bad", "X-Should-Retry", test.says))
				_, err := ask(t.Context(), f.chat(), question("hello"))
				if (err != nil) != test.fails || f.requests("one") != test.one || f.requests("two") != test.two {
					t.Errorf("%v after %d and %d requests, want %d and %d", err, f.requests("one"), f.requests("two"), test.one, test.two)
				}
			})
		})
	}
}

// Different: the header counts the SDK's retries, of which there are none here.
// Whatever the application makes of it travels with every attempt, as ever.
func TestSDKRetryCountHeader(t *testing.T) {
	for name, test := range map[string]struct {
		opts []option.RequestOption
		want []string
	}{
		"untouched":   {nil, []string{"0"}},
		"deleted":     {[]option.RequestOption{option.WithHeaderDel("X-Stainless-Retry-Count")}, nil},
		"overwritten": {[]option.RequestOption{option.WithHeader("X-Stainless-Retry-Count", "42")}, []string{"42"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOrdered(t, quick, "one")
				f.down(503)
				_, err := ask(t.Context(), f.chat(), question("hello"), test.opts...)
				theirs(t, err, 503)
				if n := f.requests("one"); n != 3 {
					t.Errorf("%d requests, want 3 attempts", n)
				}
				for _, r := range f.seen["one"] {
					if got := r.Header.Values("X-Stainless-Retry-Count"); strings.Join(got, ",") != strings.Join(test.want, ",") {
						t.Errorf("the header is %q, want %q", got, test.want)
					}
				}
			})
		})
	}
}

// another is a client with options of its own over the fleet's first target.
func (f *fleet) another(t *testing.T, opts ...option.RequestOption) *client.Client {
	t.Helper()
	targets := withTarget(nil, "one")
	c, err := client.New(client.Config{Targets: targets, Transport: f.servers["one"]}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Retries that the application asks of the whole client multiply nothing either.
func TestSDKRetriesOfTheClientDoNotMultiply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		c := f.another(t, option.WithMaxRetries(5))
		f.down(503)
		_, err := ask(t.Context(), &c.Client, question("hello"))
		theirs(t, err, 503)
		if n := f.requests("one"); n != 3 {
			t.Errorf("%d requests, want the 3 of one call", n)
		}
	})
}

// Better: the SDK cannot repeat a request whose body it can read only once. Here
// it is kept, and fails over like any other.
func TestSDKBodyThatCanBeReadOnceFailsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		f.servers["one"].Script(httpError(503, "down"))
		text, err := ask(t.Context(), f.chat(), openai.ChatCompletionNewParams{}, reading(askBody))
		if want := f.servers["two"].Text(16); err != nil || text != want {
			t.Errorf("%q, %v, want %q", text, err, want)
		}
		if _, body := f.last(t, "two"); !strings.Contains(body, `"content":"hi"`) {
			t.Errorf("the second target got %s", body)
		}
	})
}

// Different: what is not routed is sent once. The SDK's retries are off, and ours
// are for calls; an application that wants its files retried does it itself.
func TestSDKRetriesOfOtherRequestsAreTheApplications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOrdered(t, quick, "one", "two")
		f.servers["one"].Script(httpError(503, "down"))
		_, err := f.Files.List(t.Context(), openai.FileListParams{})
		theirs(t, err, 503)
		if f.allRequests() != 1 {
			t.Errorf("%d requests, want 1", f.allRequests())
		}
	})
}

// The SDK's timeout for one try is the time for a call, with all that it tries.
// Given to the client it holds for each call; the shorter of it and the context's
// deadline counts.
func TestSDKTimeoutOfTheClient(t *testing.T) {
	for name, test := range map[string]struct {
		context time.Duration // 0: none
		want    time.Duration
	}{"alone": {0, time.Second}, "later deadline": {time.Hour, time.Second}, "earlier deadline": {300 * ms, 300 * ms}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, slow, client.Config{}, "one")
			c := f.another(t, option.WithRequestTimeout(time.Second))
			for way, say := range ways {
				ctx, call := middleware.WithCall(t.Context())
				cancel := func() {}
				if test.context > 0 {
					ctx, cancel = context.WithTimeout(ctx, test.context)
				}
				start := time.Now()
				_, err := say(ctx, &c.Client, question("hello"))
				cancel()
				if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != test.want || call.Outcome != middleware.TimedOut {
					t.Errorf("%s, %s: %v after %v, the call is %v; want timed out after %v", name, way, err, took, call.Outcome, test.want)
				}
			}
		})
	}
}

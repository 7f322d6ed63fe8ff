package metrics_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/middleware"
)

// gapsOf are the gaps of a stream that was measured.
func gapsOf(t *testing.T, gaps ...time.Duration) (of middleware.Gaps) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { of = streamWith(t, gaps).ITL })
	return of
}

// streamWith measures a stream with these gaps.
func streamWith(tb testing.TB, gaps []time.Duration) middleware.Attempt {
	tb.Helper()
	ctx, call := middleware.WithCall(tb.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://one.test/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		tb.Fatal(err)
	}
	resp, err := middleware.MeterTransport(paced(gaps)).RoundTrip(r)
	if err != nil {
		tb.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return call.Attempts[0]
}

// paced is a transport whose answers have an event after each gap, and one before.
type paced []time.Duration

func (gaps paced) RoundTrip(*http.Request) (*http.Response, error) {
	body, w := io.Pipe()
	go func() {
		for i := range len(gaps) + 1 {
			if i > 0 {
				time.Sleep(gaps[i-1])
			}
			fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}`+"\n\n")
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
		w.Close()
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, ContentLength: -1}, nil
}

func TestGaps(t *testing.T) {
	for name, test := range map[string]struct {
		gaps   []time.Duration
		within map[float64]uint64 // by the bound of a classic bucket
	}{
		"even":       {[]time.Duration{20 * ms, 20 * ms, 20 * ms}, map[float64]uint64{0.015: 0, 0.02: 3}},
		"on a bound": {[]time.Duration{50 * ms, 50 * ms, 50 * ms}, map[float64]uint64{0.03: 0, 0.05: 3}},
		"none":       {[]time.Duration{0, 0}, map[float64]uint64{0.002: 2}},
		"mixed":      {[]time.Duration{4 * ms, 4 * ms, 300 * ms, 2 * time.Second}, map[float64]uint64{0.005: 2, 0.2: 2, 0.5: 3, 1: 3, 5: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			m, reg := observed(t)
			m.ObserveCall(middleware.Call{Endpoint: "chat", Model: "m", Attempts: []middleware.Attempt{{Target: "one", ITL: gapsOf(t, test.gaps...)}}})
			h := scraped(t, reg).find("ontime_itl_seconds", "endpoint=chat model=m target=one").GetHistogram()
			var sum time.Duration
			for _, g := range test.gaps {
				sum += g
			}
			if h.GetSampleCount() != uint64(len(test.gaps)) || math.Abs(h.GetSampleSum()-sum.Seconds()) > 1e-6 {
				t.Errorf("%d gaps of %v s, want %d of %v", h.GetSampleCount(), h.GetSampleSum(), len(test.gaps), sum)
			}
			if h.GetSchema() != 3 || len(h.GetPositiveDelta()) == 0 {
				t.Errorf("schema %d with %d native buckets, want 3 with some", h.GetSchema(), len(h.GetPositiveDelta()))
			}
			for _, b := range h.GetBucket() {
				if want, ok := test.within[b.GetUpperBound()]; ok && b.GetCumulativeCount() != want {
					t.Errorf("%d gaps up to %v s, want %d", b.GetCumulativeCount(), b.GetUpperBound(), want)
				}
			}
		})
	}
}

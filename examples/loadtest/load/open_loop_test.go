package load_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/examples/loadtest/load"
	"github.com/ontime-llm/ontime/internal/upstream"
)

// outage is a target whose calls all wait while it stands still.
type outage struct {
	http.RoundTripper
	from, until time.Time
}

func (o outage) RoundTrip(r *http.Request) (*http.Response, error) {
	if now := time.Now(); !now.Before(o.from) && now.Before(o.until) {
		select {
		case <-time.After(o.until.Sub(now)):
		case <-r.Context().Done():
			r.Body.Close()
			return nil, r.Context().Err()
		}
	}
	return o.RoundTripper.RoundTrip(r)
}

// A server that answers in 100 ms stands still for 10 of 100 s. Of 1,000 calls that arrive
// by themselves about 100 meet that, and wait for 10 s to 0, evenly: p90 is just the usual
// 100 ms or so, p95 half of the outage, p99 nine tenths of it. One stream in a closed loop
// meets it with a single call, and reports a p99 of 100 ms: coordinated omission.
func TestNoCoordinatedOmission(t *testing.T) {
	const calls, rate = 1000, 10
	results := make(map[load.Load]*load.Report)
	for _, l := range []load.Load{{Rate: rate}, {Concurrency: 1}} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			w := world{"one": outage{upstream.New("one", steady, 1), start.Add(40 * time.Second), start.Add(50 * time.Second)}}
			s := direct(t, w.config(budget.Budget{}), "one")
			p := plan(s)
			p.Loads, p.Calls = []load.Load{l}, calls
			results[l] = run(t, p)
			for _, sample := range results[l].Series[0].Samples {
				want := 100 * ms
				if at := time.Duration(sample.Start); at >= 40*time.Second && at < 50*time.Second {
					want += 50*time.Second - at
				}
				if sample.TTFT != span(want) || sample.Failure != "" {
					t.Fatalf("%v: a call that was meant to start at %v has TTFT %v (%s), want %v", l, sample.Start, sample.TTFT, sample.Failure, want)
				}
			}
			s.Close()
		})
	}
	q := figure(t, &results[load.Load{Rate: rate}].Series[0], "", "TTFT").Quantiles
	for i, between := range [][2]time.Duration{
		{100 * ms, 100 * ms}, {100 * ms, 2 * time.Second}, {4 * time.Second, 6 * time.Second}, {8500 * ms, 9800 * ms},
	} {
		if !q[i].Known || q[i].Value < span(between[0]) || q[i].Value > span(between[1]) {
			t.Errorf("open loop: p%v is %v, want %v", q[i].Percentile, q[i], between)
		}
	}
	q = figure(t, &results[load.Load{Concurrency: 1}].Series[0], "", "TTFT").Quantiles
	if q[3].Value != span(100*ms) {
		t.Errorf("closed loop: p99 is %v, which hides the outage no more", q[3])
	}
}

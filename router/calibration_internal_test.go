package router

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCoverage(t *testing.T) {
	now := time.Unix(0, 0)
	approx := cmpopts.EquateApprox(0, 1e-12)
	c := coverage{at: now}
	p := &prediction{1, 2, 4}
	if got := c.status(now); got != (Coverage{}) {
		t.Errorf("%+v of none", got)
	}
	c.add(now, 0.5, true, p)  // within all
	c.add(now, 1, true, p)    // limits are inclusive
	c.add(now, 3, false, p)   // has passed two
	c.add(now, 0.2, false, p) // has passed none
	c.add(now, 5, true, p)    // late for all
	want := Coverage{P50: 2. / 4, P95: 2. / 4, P99: 2. / 3, N: 3}
	if diff := cmp.Diff(want, c.status(now), approx); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	now = now.Add(15 * time.Minute) // all of it counts half
	c.add(now, 0.5, true, p)
	want = Coverage{P50: 2. / 3, P95: 2. / 3, P99: 2 / 2.5, N: 2.5}
	if diff := cmp.Diff(want, c.status(now), approx); diff != "" {
		t.Errorf("coverage after 15 min (-want +got):\n%s", diff)
	}
}

// TTFT is 0.5 s for nine in ten and 1 s for the rest, whatever the prompt: p50 lies in
// the bucket that ends at 0.5 s, p95 and p99 in that which ends at 1 s.
func TestPrediction(t *testing.T) {
	x := fixed()
	x.fit = sizeFit{a: 0.5, b: 0.5e-3} // a prompt of 3000 tokens takes twice as long as one of 1000
	x.setQuantiles(ttft)
	x.quantiles[total] = [3]float64{1, 2, 3}
	f := &Flight{streamed: true, tokens: 3000}
	f.predict(x)
	low := x.dist[ttft].Quantile(0.5)
	if low < 0.47 || low > 0.5 {
		t.Errorf("p50 %v", low)
	}
	for i, want := range []float64{2 * low, 2 * x.dist[ttft].Quantile(0.95), 2 * x.dist[ttft].Quantile(0.99)} {
		if got := float64(f.predicted[i]); got < want*(1-1e-6) || got > want*(1+1e-6) {
			t.Errorf("streamed: prediction %d is %v, want %v", i, got, want)
		}
	}
	f = &Flight{tokens: 3000}
	f.predict(x)
	if f.predicted != (prediction{1, 2, 3}) {
		t.Errorf("not streamed: %v, want those of the reference sizes", f.predicted)
	}
}

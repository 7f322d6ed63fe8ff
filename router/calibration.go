package router

import "time"

// Calibration is how well the predictions for one route did.
type Calibration struct {
	TTFT  Coverage // of streamed attempts
	Total Coverage // of whole answers that were not streamed, given their lengths
}

// Coverage is the shares of attempts that came within what was predicted for each when
// it started: perfect are 0.5, 0.95 and 0.99. Less means that the route was slower than
// it was thought to be. One that was cut off counts as late for those percentiles that
// it had passed, and not at all for the others. Shares are 0 before the first.
type Coverage struct {
	P50, P95, P99 float64
	N             float64 // attempts that P99 rests on, those of 15 min ago counting half
}

// predicted are the percentiles that are held against what came of them.
var predicted = [...]float64{0.5, 0.95, 0.99}

// prediction is those percentiles of one attempt, in seconds.
type prediction [len(predicted)]float32

// coverage counts how many attempts came within each, weighed by age. Guarded by the
// route's mu.
type coverage struct {
	within [len(predicted)]tally // failed: were late
	at     time.Time             // when the weights were right
}

// add enters an attempt that took, or was cut off after, so many seconds.
func (c *coverage) add(now time.Time, seconds float64, ended bool, p *prediction) {
	c.fade(now)
	for i, limit := range p {
		switch {
		case seconds > float64(limit):
			c.within[i].failed++
		case ended:
			c.within[i].well++
		}
	}
}

// fade lets the counts age until now, to the second.
func (c *coverage) fade(now time.Time) {
	age := now.Sub(c.at)
	if age < time.Second {
		return
	}
	c.at = now
	weight := halved(age, slowHalfLife)
	for i, t := range c.within {
		c.within[i] = tally{}.add(t, weight)
	}
}

func (c coverage) status(now time.Time) Coverage {
	c.fade(now)
	share := func(t tally) float64 {
		if t.well == 0 {
			return 0
		}
		return t.well / t.attempts()
	}
	return Coverage{P50: share(c.within[0]), P95: share(c.within[1]), P99: share(c.within[2]), N: c.within[2].attempts()}
}

// setQuantiles finds what predictions are made of.
func (f *forecast) setQuantiles(m int) {
	for i, q := range predicted {
		f.quantiles[m][i] = f.dist[m].Quantile(q)
	}
}

// predict notes what is expected of the flight. Of an answer that is not streamed that
// is for the sizes of reference: how long it is will be known in the end.
func (f *Flight) predict(x *forecast) {
	m, factor := ttft, x.fit.factor(f.tokens)
	if !f.streamed {
		m, factor = total, 1
	}
	for i, q := range x.quantiles[m] {
		f.predicted[i] = float32(q * factor)
	}
}

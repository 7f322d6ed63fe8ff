package router

import "time"

// stand tells a plan what to know of a breaker that is not just closed: whether this
// call would be a probe, what share of calls may come, or why none may. Whether a
// slow route is well again is found out by calls whose tail is promised.
func (b *breaker) stand(x *ranked, promised bool, now time.Time) (no refusal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.state.Load() {
	case ramping:
		done := now.Sub(b.closedAt).Seconds() / rampTime.Seconds()
		if x.ramp = float32((1 - rampFrom) * (1 - done)); x.ramp <= 0 {
			x.ramp = 0
			b.set(closed)
		}
	case open:
		due := b.until.Add(shortestOpening)
		switch {
		case !now.After(b.until):
			no = refusal{WhyOpen, b.until}
		case b.probe != nil && now.Before(b.lease):
			no = refusal{WhyProbing, b.lease}
		case b.latency.Load() && !promised:
			no = refusal{WhyProbing, b.until.Add(longestOpening)}
		case x.tokens > smallCall*x.forecast.typical && now.Before(due):
			no = refusal{WhyProbing, due}
		default:
			ok, again := b.mayProbe(2*seconds(x.abandon), now)
			if x.probe = ok; !ok {
				no = refusal{WhyProbing, again}
			}
		}
	}
	return no
}

package middleware

import "time"

// Phases are where the time of an attempt went. Up to Decode they add up to its TTFT;
// for an answer in one piece, and for an attempt that did not get to its first content,
// all of them do to Total. What cannot be told apart is in Wait.
type Phases struct {
	Connect time.Duration // until there was a connection
	Send    time.Duration // until the request was written
	// Network is the rest of what the provider accounts for: the way there and back,
	// and what lies between, such as a gateway.
	Network time.Duration
	Queue   time.Duration // as the provider says
	Prefill time.Duration // as the provider says
	Wait    time.Duration // for the provider, which does not say for what, or not at all
	// Decode is from the first content to the last, as they came; of an answer in one
	// piece it is what the provider says.
	Decode time.Duration
}

// Phases tells apart where the attempt's time went, as far as [Timing] and
// [ServerTiming] do. Send takes [Config.Trace]; without it it is in Network or Wait. A
// provider that claims more than there was is cut short.
func (a *Attempt) Phases() Phases {
	left := a.TTFT
	if left == 0 {
		left = a.Total
	}
	end, s := left, &a.Server
	take := func(d time.Duration) time.Duration {
		d = min(max(d, 0), left)
		left -= d
		return d
	}
	p := Phases{Connect: take(a.Timing.Conn), Send: take(a.Timing.Wrote - a.Timing.Conn)}
	p.Queue, p.Prefill = take(s.Queue), take(s.Prefill)
	streamed := a.TTFT > 0
	if streamed {
		p.Decode = max(a.LastContent-a.TTFT, 0)
	} else {
		p.Decode = take(s.Decode)
	}
	switch {
	case streamed && s.TTFT > 0:
		p.Wait = take(s.TTFT - s.Queue - s.Prefill)
	case s.Queue+s.Prefill > 0:
	case streamed && s.Headers > 0:
		p.Wait = take(s.Headers + end - a.Headers) // after the headers it is the provider that is waited for
	case s.Headers > 0:
		p.Wait = take(s.Headers)
	default:
		p.Wait = take(left)
	}
	p.Network = left
	return p
}

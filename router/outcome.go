package router

import "strconv"

// Outcome is how an attempt ended. The zero value says that it has not.
type Outcome uint8

// The outcomes. The last three say of the time only that it was at least as long:
// no latency, but no failure of the route either.
const (
	Completed Outcome = iota + 1 // a whole answer came
	Failed                       // an error came, or the answer was cut
	TimedOut                     // it was abandoned, or the deadline passed
	Cancelled                    // the caller went away
	Lost                         // another attempt of the same call was first
	outcomes
)

// String returns the outcome's name as metrics and logs have it: "completed",
// "failed", "timed_out", "cancelled" or "lost".
func (o Outcome) String() string {
	switch o {
	case 0:
		return "under way"
	case Completed:
		return "completed"
	case Failed:
		return "failed"
	case TimedOut:
		return "timed_out"
	case Cancelled:
		return "cancelled"
	case Lost:
		return "lost"
	}
	return "outcome(" + strconv.Itoa(int(o)) + ")"
}

// MarshalText writes the outcome as String does.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Cause is why an attempt failed.
type Cause uint8

// The causes. Only the first is a failure of the route; see the table in the
// package comment.
const (
	CauseRoute     Cause = iota // an error of the provider or the way to it, or a cut answer
	CauseCaller                 // the request itself, which any route would refuse
	CauseRateLimit              // 429: the key has to cool down
	CauseKey                    // 401, 402, 403, insufficient_quota: the key is taken out
	CauseAbsent                 // 404: the target does not have the model, or not yet
)

// String returns "route", "caller", "rate_limit", "key" or "absent".
func (c Cause) String() string {
	switch c {
	case CauseRoute:
		return "route"
	case CauseCaller:
		return "caller"
	case CauseRateLimit:
		return "rate_limit"
	case CauseKey:
		return "key"
	case CauseAbsent:
		return "absent"
	}
	return "cause(" + strconv.Itoa(int(c)) + ")"
}

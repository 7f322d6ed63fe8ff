package metrics

import (
	"slices"

	"github.com/ontime-llm/ontime/middleware"
)

// outcomes is how many there are, none among them.
const outcomes = middleware.Lost + 1

// outcomeIndex keeps an outcome that there is none of from being out of range.
func outcomeIndex(o middleware.Outcome) middleware.Outcome {
	if o >= outcomes {
		return 0
	}
	return o
}

// kind is why an attempt was made.
type kind uint8

const (
	first kind = iota
	failover
	hedge
	kinds
)

func (k kind) String() string { return [...]string{"first", "failover", "hedge"}[k] }

// kindOf returns the kind of a call's attempt with the index i.
func kindOf(a *middleware.Attempt, i int) kind {
	switch {
	case a.Hedge:
		return hedge
	case i > 0:
		return failover
	}
	return first
}

// The values of other labels.
var (
	reasons    = [...]string{"stop", "length", "tool_calls", "content_filter", "refusal", "error", other}
	tokenKinds = [...]string{"input", "cached_input", "output", "reasoning"}
	phaseNames = [...]string{"connect", "send", "network", "queue", "prefill", "wait", "decode"}
)

// reasonIndex returns the index of a finish reason, that of other if it is none of them.
func reasonIndex(reason string) int {
	if i := slices.Index(reasons[:], reason); i >= 0 {
		return i
	}
	return len(reasons) - 1
}

package sim

import (
	"slices"
	"time"
)

// single is openai-go by itself: one target, the first configured, and after an error
// it is tried twice more ("Certain errors will be automatically retried 2 times by
// default", README of openai-go, https://github.com/openai/openai-go#retries). The SDK
// waits half a second and more between tries; here it does not, to its advantage.
type single struct {
	patient
	deaf
}

func (single) First(time.Duration, *Call) int { return 0 }

func (single) Next(_ time.Duration, _ *Call, tried []int) int {
	if len(tried) > 2 {
		return -1
	}
	return 0
}

// failover is a list that is gone through in order on errors, and on nothing else:
// what most gateways call fallbacks.
type failover struct {
	patient
	deaf
	targets int
}

func (failover) First(time.Duration, *Call) int { return 0 }

func (f failover) Next(_ time.Duration, _ *Call, tried []int) int {
	for i := range f.targets {
		if !slices.Contains(tried, i) {
			return i
		}
	}
	return -1
}

// roundRobin takes the targets in turn; after an error the call goes to the next one.
type roundRobin struct {
	patient
	deaf
	targets, turn int
}

func (r *roundRobin) First(time.Duration, *Call) int {
	r.turn++
	return (r.turn - 1) % r.targets
}

func (r *roundRobin) Next(_ time.Duration, _ *Call, tried []int) int {
	for i := range r.targets {
		if t := (tried[0] + 1 + i) % r.targets; !slices.Contains(tried, t) {
			return t
		}
	}
	return -1
}

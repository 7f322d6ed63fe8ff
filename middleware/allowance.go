package middleware

import (
	"math"
	"sync"
	"time"
)

const (
	retryShare  = 0.2             // of calls that may take a retry
	retryMemory = 4 * time.Minute // over which calls are counted for the burst
	retryBurst  = 20              // at least
)

// allowance rations retries: a share of the calls, with a burst of that share
// of the calls of the last minutes, so that targets in trouble are not asked
// many times over. The zero value is full.
type allowance struct {
	mu    sync.Mutex
	spent float64 // below a full burst
	calls float64 // of the last minutes, fading
	seen  time.Time
}

// earn counts a call.
func (a *allowance) earn(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fade(now)
	a.calls++
	a.spent = max(a.spent-retryShare, 0)
}

func (a *allowance) fade(now time.Time) {
	if passed := now.Sub(a.seen); passed > 0 {
		a.calls *= math.Exp(-passed.Seconds() / retryMemory.Seconds())
		a.seen = now
	}
}

// take spends one retry, if there is one.
func (a *allowance) take() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fade(time.Now())
	if a.spent+1 > max(retryBurst, retryShare*a.calls) {
		return false
	}
	a.spent++
	return true
}

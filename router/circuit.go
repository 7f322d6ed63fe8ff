package router

import (
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	failuresInRow = 5

	// Half of so many or more outcomes of the latest window.
	leastOutcomes = 20
	outcomeWindow = 2 * time.Minute
	outcomeBucket = 10 * time.Second
)

// What a gobreaker is told; nil is well.
var (
	errFailed  = errors.New("failed")
	errSlow    = errors.New("slow")
	errNothing = errors.New("no result")
)

// circuit is what keeps the count.
type circuit = gobreaker.TwoStepCircuitBreaker[struct{}]

func (b *breaker) newClosed() *circuit {
	return gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Interval:     outcomeWindow,
		BucketPeriod: outcomeBucket,
		ReadyToTrip:  b.ready,
	})
}

// newOpen returns a breaker that is open for so long from now on, and then lets one
// probe through.
func newOpen(timeout time.Duration) *circuit {
	c := gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: 1,
		Timeout:     timeout,
		ReadyToTrip: func(gobreaker.Counts) bool { return true },
		IsExcluded:  func(err error) bool { return err == errNothing },
	})
	if done, err := c.Allow(); err == nil {
		done(errFailed)
	}
	return c
}

// ready tells whether a failure that was just counted opens the breaker. It runs
// under the lock of the gobreaker, within mu.
func (b *breaker) ready(c gobreaker.Counts) bool {
	outcomes := c.TotalSuccesses + c.TotalFailures
	trips := b.slow || b.row >= failuresInRow || outcomes >= leastOutcomes && 2*c.TotalFailures >= outcomes
	b.held.Store(trips && b.alone)
	b.tripped = trips && !b.alone
	return b.tripped
}

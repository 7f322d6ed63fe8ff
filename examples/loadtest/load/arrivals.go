package load

import (
	"math/rand/v2"
	"time"
)

// Arrivals returns when each of n calls arrives, counted from the start, in a Poisson
// process of rate calls per second: the gaps are exponential and independent, as with
// many users who know nothing of each other. The same seed gives the same times.
func Arrivals(n int, rate float64, seed uint64) []time.Duration {
	luck := rand.New(rand.NewPCG(seed, 0x6f6e74696d65))
	times := make([]time.Duration, n)
	at := 0.0 // in s
	for i := range times {
		at += luck.ExpFloat64() / rate
		times[i] = time.Duration(at * float64(time.Second))
	}
	return times
}

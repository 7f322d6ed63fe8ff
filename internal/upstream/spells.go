package upstream

import (
	"math/rand/v2"
	"time"
)

// Spells alternates good and bad periods of random lengths, starting with a good one when the server is made. When they begin
// and end depends on seed and time alone, never on the requests. The zero value has no bad periods.
type Spells struct {
	// Good and Bad are mean lengths, of exponential distributions. Both must be positive, else there are no spells.
	Good, Bad time.Duration
	// Even makes every period exactly as long as the mean.
	Even bool
	// Slow is what a bad period does to calls, in place of Behaviour.Slow.
	Slow Slow
	// Faults are those of a bad period, in place of Behaviour.Faults; all zero: no change.
	Faults Faults
	// Seed of the lengths. 0: the server's own; servers with the same seed are bad at the same time.
	Seed uint64
}

// spellClock knows which period it is. Not safe for concurrent use.
type spellClock struct {
	of    Spells // what the rest was computed for
	n     uint64 // the period under way: even ones are good
	until time.Duration
}

// bad tells whether it is a bad period at this age of the server.
func (c *spellClock) bad(s Spells, seed uint64, age time.Duration) bool {
	if s.Good <= 0 || s.Bad <= 0 {
		return false
	}
	if s.Seed != 0 {
		seed = s.Seed
	}
	if c.of != s || c.until == 0 || age < c.until-s.length(c.n, seed) {
		*c = spellClock{of: s, until: s.length(0, seed)}
	}
	for age >= c.until {
		c.n++
		c.until += s.length(c.n, seed)
	}
	return c.n%2 == 1
}

func (s Spells) length(n, seed uint64) time.Duration {
	mean := s.Good
	if n%2 == 1 {
		mean = s.Bad
	}
	if s.Even {
		return mean
	}
	r := rand.New(rand.NewPCG(mix(seed), mix(n)))
	return max(1, time.Duration(float64(mean)*r.ExpFloat64()))
}

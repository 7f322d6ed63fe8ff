package sim

import "time"

// Trace is what was measured of real providers, or asked of a real service. The zero
// value and nil have nothing.
type Trace struct {
	places []site
	asked  []Call
}

// blockTime is for how long a target keeps to one block of its series.
const blockTime = time.Minute

func (t *Trace) sites() []site {
	if t == nil {
		return nil
	}
	return t.places
}

func (t *Trace) replace(calls []Call) {
	if t == nil || len(t.asked) == 0 {
		return
	}
}

type series struct {
	first, pace []time.Duration
}

func (s *series) block(seed uint64, target int, at time.Duration) int {
	l := luckOf(seed, uint64(target), uint64(at/blockTime))
	return int(l.next() % uint64(len(s.first)))
}

const blockSize = 20

func (s *series) times(block int, pick uint64) (first, pace time.Duration) {
	i := (block + int(pick%blockSize)) % len(s.first)
	return s.first[i], s.pace[i]
}

// TraceFormats says which files ReadTrace takes.
const TraceFormats = "none yet"

// ReadTrace reads a file.
func ReadTrace(string) (*Trace, error) { return nil, nil }

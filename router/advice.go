package router

import "time"

// Advice is one thing that would make an endpoint faster. It is plain data.
type Advice struct {
	Kind string // one of the Advice constants
	Text string // one sentence with the numbers
	// Saves is what is expected to be saved at the median, Low and High are its 95%
	// interval; 0 where it is not a time.
	Saves, Low, High time.Duration
	Calls            int // evidence: calls that it rests on
}

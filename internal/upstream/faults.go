package upstream

import "time"

// Fault is what goes wrong with an answer.
type Fault uint8

// Faults, in the order in which a request's one draw is held against their shares.
const (
	None       Fault = iota
	Refused          // no connection
	HTTPError        // an HTTP error instead of an answer
	Hang             // nothing ever comes, or with early headers only these
	Stall            // the answer stops in the middle, the connection stays
	Cut              // the answer ends in the middle as if it were complete
	Reset            // the connection breaks in the middle
	ErrorEvent       // status 200, then an error event instead of content
	LateError        // an error event in the middle
	Empty            // status 200 without a body
	HTML             // status 200 with a web page
)

// Faults are shares of the calls, between 0 and 1. A call has one fault at most. The zero value is none.
type Faults struct {
	Refused, HTTPError, Hang, Stall, Cut, Reset, ErrorEvent, LateError, Empty, HTML float64
	// Status of HTTPError. 0: 503.
	Status int
	// After is the age at which HTTPError and HTML come. 0: at once.
	After time.Duration
}

// pick returns the fault of a call whose draw is u.
func (f Faults) pick(u float64) Fault {
	shares := [...]float64{f.Refused, f.HTTPError, f.Hang, f.Stall, f.Cut, f.Reset, f.ErrorEvent, f.LateError, f.Empty, f.HTML}
	for i, share := range shares {
		if u < share {
			return Refused + Fault(i)
		}
		u -= share
	}
	return None
}

// midway tells whether the fault strikes after some content.
func (f Fault) midway() bool { return f == Stall || f == Cut || f == Reset || f == LateError }

package router

import "time"

// Hedge is advice on a second attempt beside one that is under way.
type Hedge struct {
	// Choice is the route that it should take, to be started like any other: it
	// takes one of the endpoint's allowance then, or is refused with [WhyAllowance].
	Choice Choice
	// At is the age of the running attempt from which on it pays, as things are
	// now. It is due if At is not above that age.
	At time.Duration
	// Again is the age at which to ask again, At or earlier, since things change. 0:
	// it will not pay any more, and neither Choice nor At means anything.
	Again time.Duration
}

// Hedge advises on a second attempt for a call whose attempt f has no content yet. Of
// the plan's choices those from the given one on are asked.
func (p *Plan) Hedge(f *Flight, from int) Hedge {
	return Hedge{}
}

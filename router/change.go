package router

import "time"

// Change is something that is different of a route from one time on. It is plain data.
type Change struct {
	At       time.Time
	Kind     string // one of the Change constants
	From, To string // the model as answered, or the medians, formatted
}

package load

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Load is how calls are made: one of the two is set.
type Load struct {
	// Concurrency is how many streams make a call each when their last one has ended.
	Concurrency int `json:"concurrency,omitempty"`
	// Rate is how many calls per second arrive on average, whatever became of those
	// before.
	Rate float64 `json:"rate,omitempty"`
}

// Level is the number that a sweep changes.
func (l Load) Level() float64 {
	if l.Open() {
		return l.Rate
	}
	return float64(l.Concurrency)
}

// Open reports whether calls arrive by themselves.
func (l Load) Open() bool { return l.Rate > 0 }

// String is how the load is titled.
func (l Load) String() string {
	if l.Open() {
		return strconv.FormatFloat(l.Rate, 'g', -1, 64) + " calls/s"
	}
	return fmt.Sprintf("%d at once", l.Concurrency)
}

// Span is a time that may be [Never]. In JSON it is a number of milliseconds, exact to
// the nanosecond, and null for Never.
type Span time.Duration

// Never is the time of what did not come.
const Never = Span(1<<63 - 1)

// MarshalJSON writes milliseconds.
func (s Span) MarshalJSON() ([]byte, error) {
	if s == Never {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, s.ms(), 'f', -1, 64), nil
}

// UnmarshalJSON reads milliseconds.
func (s *Span) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*s = Never
		return nil
	}
	ms, err := strconv.ParseFloat(string(data), 64)
	if err != nil || !(ms > -1e15 && ms < 1e15) { // else it has no nanoseconds, or is beyond a Duration
		return fmt.Errorf("%q is no time in milliseconds", data)
	}
	*s = Span(math.Round(ms * 1e6)) // what was written came from a whole number
	return nil
}

func (s Span) ms() float64 { return float64(s) / 1e6 }

// later is s after a delay; what never came stays so.
func (s Span) later(delay time.Duration) Span {
	if s == Never {
		return Never
	}
	return s + Span(delay)
}

// String is the time in three digits or so, with its unit.
func (s Span) String() string {
	switch d := time.Duration(s); {
	case s == Never:
		return "never"
	case d < time.Second:
		return s.digits() + " ms"
	case d < 100*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	default:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
}

// digits is the time in three digits or so, in milliseconds.
func (s Span) digits() string {
	switch ms := s.ms(); {
	case s == Never:
		return "never"
	case ms < 10:
		return fmt.Sprintf("%.2f", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f", ms)
	default:
		return fmt.Sprintf("%.0f", ms)
	}
}

package status

import (
	"cmp"
	"slices"
	"time"
)

const (
	mostTimes = 1000
	oldTime   = time.Hour
)

// times are the latest of one metric of an endpoint, on its calls' own clocks. A call
// that did not get there took at least so long: it is censored.
type times struct {
	list []taken // up to mostTimes, then a ring
	next int
}

type taken struct {
	at       uint32 // Unix seconds
	least    bool   // it took at least so long
	duration time.Duration
}

// add enters a time, or, where that is 0, that it took at least so long.
func (t *times) add(now time.Time, d, least time.Duration) {
	one := taken{at: uint32(now.Unix()), duration: d}
	if d == 0 {
		one.least, one.duration = true, least
	}
	if len(t.list) < mostTimes {
		t.list = append(t.list, one)
		return
	}
	t.list[t.next] = one
	t.next = (t.next + 1) % mostTimes
}

// recent returns those of the last hour in rising order.
func (t *times) recent(now time.Time) []taken {
	first := uint32(now.Add(-oldTime).Unix())
	var list []taken
	for _, one := range t.list {
		if one.at >= first {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b taken) int {
		return cmp.Or(cmp.Compare(a.duration, b.duration), cmp.Compare(a.order(), b.order()))
	})
	return list
}

// order puts those that took a time before those that took at least as long.
func (t taken) order() int {
	if t.least {
		return 1
	}
	return 0
}

// percentile returns the least time that p percent of them do not exceed, by
// Kaplan-Meier. It is false if the evidence does not get that far.
func percentile(rising []taken, p float64) (time.Duration, bool) {
	const slack = 1e-9 // a share that is met exactly must not be missed by rounding
	left := 1.0        // share that takes longer
	for i, one := range rising {
		if one.least {
			continue
		}
		left *= 1 - 1/float64(len(rising)-i)
		if 1-left >= p/100-slack {
			return one.duration, true
		}
	}
	return 0, false
}

package router

import (
	"math"
	"time"
)

const (
	// Ages are looked at on a grid, so many between one limit and the next, and then
	// around the best of them by halving.
	agesPerLimit = 8
	halvings     = 4

	// Not sooner is anybody to ask again: an age and a limit that differ by less than the
	// clock can tell would be asked about for ever.
	soonestAgain = time.Millisecond

	// A hedge now is as good as one at the best age if it is worth this much less.
	hedgeClose = 0.02
)

// seek returns the age, from the given one on, at which a hedge is worth most, and on
// which route: nil if it never pays.
func (c *contest) seek(age, price float64, rivals []rival) (best *rival, at float64) {
	if math.IsInf(price, 1) {
		return nil, age
	}
	var buf [48]float64
	grid := c.ages(age, buf[:0])
	now := c.at(age)
	soonest, soon := c.best(&now, &now, price, rivals)
	best, place, most := soonest, 0, soon
	for i, t := range grid {
		m := c.at(t)
		if c.bound(&m, &now, price) <= most {
			continue
		}
		if y, worth := c.best(&m, &now, price, rivals); worth > most {
			best, place, most = y, i, worth
		}
	}
	if place == 0 {
		return best, age
	}
	at, most = c.sharpen(grid[place-1], grid[place], grid[min(place+1, len(grid)-1)], &now, price, best)
	if soon > (1-hedgeClose)*most {
		return soonest, age
	}
	return best, at
}

// most returns the rival that gains most at an age, whatever the price: for a probe, which
// may fail.
func (c *contest) most(age float64, rivals []rival) (best *rival) {
	m, most := c.at(age), math.Inf(-1)
	for i := range rivals {
		if net := c.gain(&m, &rivals[i]) - rivals[i].cost; net > most {
			best, most = &rivals[i], net
		}
	}
	return best
}

// worth returns what a hedge at m is worth now: what it gains beyond its price and
// cost, if the first attempt is still waiting by then. To wait may spare the hedge, and
// may lose what it would have rescued.
func (c *contest) worth(m, now *moment, price float64, y *rival) float64 {
	net := c.gain(m, y) - y.cost - price
	if now.sum == 0 { // hopeless: it waits for ever
		return net
	}
	return net * m.sum / now.sum
}

// bound returns what a hedge at m would be worth that has no cost and is sure to be in
// time. It is mostly less than what has been found, which spares a look at every rival.
func (c *contest) bound(m, now *moment, price float64) float64 {
	if m.sum == 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for i := range c.stakes {
		s := &c.stakes[i]
		if s.limit <= m.t {
			continue
		}
		for atom := range c.atoms {
			sum += s.weight * min(s.missed[atom], m.waits[atom])
		}
	}
	return (sum - price*m.sum) / now.sum
}

// best returns the rival that is worth most at m, if that is more than nothing.
func (c *contest) best(m, now *moment, price float64, rivals []rival) (best *rival, most float64) {
	for i := range rivals {
		if worth := c.worth(m, now, price, &rivals[i]); worth > most {
			best, most = &rivals[i], worth
		}
	}
	return best, most
}

// sharpen looks for the best age more closely, around that of the grid.
func (c *contest) sharpen(low, at, high float64, now *moment, price float64, y *rival) (float64, float64) {
	best := c.at(at)
	most := c.worth(&best, now, price, y)
	for range halvings {
		before, after := c.at((low+best.t)/2), c.at((best.t+high)/2)
		left, right := c.worth(&before, now, price, y), c.worth(&after, now, price, y)
		switch {
		case left >= most && left >= right:
			high, best, most = best.t, before, left
		case right > most:
			low, best, most = best.t, after, right
		default:
			low, high = before.t, after.t
		}
	}
	return best.t, most
}

// ages returns the grid: from an age on, between each limit and the next.
func (c *contest) ages(from float64, grid []float64) []float64 {
	var buf [8]float64
	limits := append(buf[:0], c.over)
	for i := range c.stakes {
		limits = insert(limits, c.middle(&c.stakes[i]))
	}
	for _, limit := range limits {
		if limit <= from {
			continue
		}
		for k := range agesPerLimit {
			grid = append(grid, from+(limit-from)*float64(k)/agesPerLimit)
		}
		from = limit
	}
	return grid
}

// again returns the age at which to ask again, given when it pays as things are now:
// the longer it has taken, the later.
func (c *contest) again(age, at float64) time.Duration {
	next := c.over
	for i := range c.stakes {
		if limit := c.middle(&c.stakes[i]); limit > age {
			next = min(next, limit)
		}
	}
	again := min(age+max(age/2, (next-age)/4), c.over)
	if at > age {
		again = min(again, at)
	}
	return max(seconds(again), seconds(age)+soonestAgain)
}

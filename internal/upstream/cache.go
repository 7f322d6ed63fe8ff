package upstream

import "time"

// promptCache remembers prefixes of prompts. Not safe for concurrent use.
type promptCache struct {
	seen  map[uint64]time.Time
	sweep time.Time // when to look for old ones next
}

// use returns how many tokens of the prompt are cached, and remembers all of its prefixes.
func (c *promptCache) use(p prompt, now time.Time, ttl time.Duration) (cached int) {
	if ttl <= 0 {
		return 0
	}
	if c.seen == nil {
		c.seen = make(map[uint64]time.Time)
	}
	if now.After(c.sweep) {
		for hash, at := range c.seen {
			if now.Sub(at) > ttl {
				delete(c.seen, hash)
			}
		}
		c.sweep = now.Add(ttl)
	}
	for _, m := range p.marks {
		if at, ok := c.seen[m.hash]; ok && now.Sub(at) <= ttl {
			cached = m.tokens
		}
		c.seen[m.hash] = now
	}
	return cached
}

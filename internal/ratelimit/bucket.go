package ratelimit

import (
	"cmp"
	"strings"
	"time"
)

const (
	// MaxCount bounds every limit and every remainder. No real one comes near: it is for "unlimited", often sent as
	// the largest integer, and is exact in a float64.
	MaxCount = 1e15

	// maxBuckets is more than twice what any provider was seen to send.
	maxBuckets = 24
)

// bucket is one limit while its headers are being gathered.
type bucket struct {
	family    family
	name      string
	limit     int64 // 0: unknown
	remaining int64 // negative: unknown
	reset     told
	none      bool // a limit of 0 was told
	open      bool // a status other than "rejected" was told
}

// note takes down one field of a bucket. A value that makes no sense leaves no trace.
func (r *reader) note(f family, name string, what field, value string) {
	switch what {
	case limit, remaining:
		if n, ok := count(value); ok {
			r.bucket(f, name).count(what, n)
		}
	case reset:
		if t := r.clock.delay(value, time.Second); t.ok {
			r.bucket(f, name).reset.longest(t)
		}
	case status:
		if strings.EqualFold(strings.TrimSpace(value), "rejected") {
			r.bucket(f, name).count(remaining, 0)
		} else {
			r.bucket(f, name).open = true
		}
	}
}

// bucket finds the bucket of that name, or makes it.
func (r *reader) bucket(f family, name string) *bucket {
	for i := range r.buckets[:r.count] {
		if b := &r.buckets[i]; b.family == f && strings.EqualFold(b.name, name) {
			return b
		}
	}
	if r.count == len(r.buckets) {
		r.overflowing = true
		return &bucket{}
	}
	b := &r.buckets[r.count]
	r.count++
	*b = bucket{family: f, name: name, remaining: -1}
	return b
}

func (b *bucket) count(what field, n int64) {
	switch {
	case what == remaining && (b.remaining < 0 || n < b.remaining):
		b.remaining = n
	case what == limit:
		b.limit = max(b.limit, n)
		b.none = b.limit == 0
	}
}

// sumUp puts the tightest bucket of each kind into info. drained is the longest reset of the exhausted buckets,
// unsure the shortest of those that do not say what remains.
func (r *reader) sumUp(info *Info, served bool) (drained, unsure told) {
	if r.overflowing {
		return told{}, told{}
	}
	var tightest [kinds]*bucket
	for i := range r.buckets[:r.count] {
		b := &r.buckets[i]
		switch {
		case b.none && served:
			continue // what has just served a request has no limit of nothing: both zeros are placeholders
		case b.remaining < 0:
			if b.reset.delay > 0 && !b.open { // a reset of 0 is another word for "unknown" of Azure's
				unsure.shortest(b.reset)
			}
			continue
		case b.remaining == 0:
			drained.longest(b.reset)
		case b.limit > 0:
			b.remaining = min(b.remaining, b.limit)
		}
		if k := b.kind(); tightest[k] == nil || b.compare(tightest[k]) < 0 {
			tightest[k] = b
		}
	}
	info.Requests, info.Tokens = tightest[requests].known(), tightest[tokens].known()
	return drained, unsure
}

// compare is negative if b is tighter than c. Buckets that compare equal look equal, so that the order in which
// they came does not show.
func (b *bucket) compare(c *bucket) int {
	return cmp.Or(
		cmp.Compare(b.share(), c.share()),
		cmp.Compare(b.remaining, c.remaining),
		cmp.Compare(c.reset.delay, b.reset.delay),
		cmp.Compare(b.limit, c.limit),
	)
}

// share is how much of the bucket is left, from 0 to 1. If its limit is not known it is 2: looser than all others.
func (b *bucket) share() float64 {
	switch {
	case b.remaining == 0:
		return 0
	case b.limit == 0:
		return 2
	default:
		return float64(b.remaining) / float64(b.limit)
	}
}

func (b *bucket) known() Bucket {
	if b == nil {
		return Bucket{}
	}
	return Bucket{Known: true, Limit: b.limit, Remaining: b.remaining, Reset: b.reset.delay}
}

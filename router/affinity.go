package router

import "fmt"

const (
	// Which share of the prompt tokens that a route should have cached it has, before
	// its usage tells: some providers cache nothing, most nearly all.
	priorHits  = 0.5
	hitsPrior  = 2 // samples that the prior counts for
	hitsLatest = 32

	// leastHits is the share below which a route is taken to have no cache.
	leastHits = 0.1

	// stickyScore is how much worse than the best a route may score, as a part of the
	// best score, and still keep a conversation whose prompts it has seen.
	stickyScore = 0.05
)

// hits is the share of the prompt tokens that should have been cached, since the route
// had seen them, that were reported to be. Each of the first samples counts the same,
// later ones like the latest 32.
type hits struct {
	share   float64
	samples float64 // the prior included
}

func newHits() hits { return hits{share: priorHits, samples: hitsPrior} }

// add learns from one attempt, given how many bytes of its prompt should have been
// cached.
func (h *hits) add(known, bytes int, rep *Report) {
	if known <= 0 || bytes <= 0 {
		return
	}
	expected := float64(rep.PromptTokens) * min(1, float64(known)/float64(bytes))
	one := min(1, max(0, float64(rep.CachedTokens))/expected)
	h.samples = min(h.samples+1, hitsLatest)
	h.share += (one - h.share) / h.samples
}

// expected returns the share to reckon with.
func (h *hits) expected() float64 {
	if h.share < leastHits {
		return 0
	}
	return h.share
}

// knownTo returns how many bytes of the prompt a route should have cached.
func (q *question) knownTo(rt *route) int32 {
	switch {
	case len(q.req.Prefixes) == 0:
		return 0
	case q.known != nil:
		return q.known[rt.target]
	}
	return rt.group.router.prefixes.knownTo(rt.target, q.req, q.now)
}

// cached estimates how many tokens of a prompt are cached of which so many bytes
// should be.
func (f *forecast) cached(known int) float64 {
	return f.hits * float64(known) / f.bytesPerToken
}

// uncached estimates how many tokens of a prompt have to be read.
func (f *forecast) uncached(bytes, known int) float64 {
	return max(0, f.tokens(bytes)-f.cached(known))
}

// keep puts the route first that has most of the prompt cached, unless it is worse than
// the best by more than a conversation should bear: if it moved for every difference it
// would pay for its whole prompt each time. Of several as good a random one is first.
// The list is sorted; keep returns false if it changed nothing.
func (r *Router) keep(list []ranked, tolerance float64) bool {
	most := int32(0)
	for i := range list {
		most = max(most, list[i].known)
	}
	if most == 0 {
		return false
	}
	limit, keepers := list[0].score+tolerance*(stickyScore/closeScore), 0
	for i := range list {
		if x := &list[i]; x.known == most && x.score <= limit {
			if keepers == 0 {
				limit = min(limit, x.score+tolerance)
			}
			keepers++
		}
	}
	if keepers == 0 {
		return false
	}
	drawn := 0
	if keepers > 1 {
		drawn = int(r.random() % uint64(keepers))
	}
	for i := range list {
		if x := &list[i]; x.known == most && x.score <= limit {
			if drawn == 0 {
				toFront(list, i)
				break
			}
			drawn--
		}
	}
	return true
}

// whyCached says how much of the prompt a route should have cached, if it has any.
func (x *ranked) whyCached() string {
	cached := x.forecast.cached(int(x.known))
	if cached < 1 {
		return ""
	}
	return fmt.Sprintf("; has %.0f%% of the prompt cached", 100*cached/(cached+x.tokens))
}

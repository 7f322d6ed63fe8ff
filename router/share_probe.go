package router

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"
)

// At most so long has one replica the say over who probes a route. If it comes to no
// result by then, such as because it has no call, another may try.
const (
	shortestVote = shortestOpening
	longestVote  = time.Minute
	voteAgain    = time.Second // before one that lost asks again
)

// vote is whether this replica, of all, may probe a route that was opened.
type vote struct {
	wanted time.Duration // for so long; 0: no call wanted to
	won    time.Time     // it may until then
	lost   time.Time     // it need not ask before
}

// mayProbe tells whether a call may be a probe, for so long, or when to ask again. While
// other replicas cannot be heard each probes for itself. The caller holds mu.
func (b *breaker) mayProbe(lease time.Duration, now time.Time) (bool, time.Time) {
	s := b.route.Load().group.router.sharing
	if !s.live(now) || now.Before(b.vote.won) {
		return true, time.Time{}
	}
	if now.Before(b.vote.lost) {
		return false, b.vote.lost
	}
	if b.vote.wanted == 0 {
		b.vote.wanted = min(max(lease, shortestVote), longestVote)
		s.call()
	}
	return false, now.Add(voteAgain)
}

// elect asks for the routes that calls wanted to probe.
func (s *sharing) elect(ctx context.Context, r *Router) error {
	groups := *r.groups.Load()
	for _, model := range slices.Sorted(maps.Keys(groups)) {
		if groups[model].unwell.Load() == 0 {
			continue
		}
		for i, rt := range groups[model].routes {
			if rt == nil || rt.breaker.state.Load() != open {
				continue
			}
			if err := s.ask(ctx, &rt.breaker, r.targets[i].Name, model); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *sharing) ask(ctx context.Context, b *breaker, target, model string) error {
	wanted := b.wanted()
	if wanted == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, shareTimeout)
	defer cancel()
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%s", target, model)
	asked := time.Now() // the store counts from later on
	won, err := s.store.Claim(ctx, fmt.Sprintf("probe/%016x", h.Sum64()), wanted)
	if err != nil {
		return err
	}
	b.voted(won, asked.Add(wanted), time.Now())
	return nil
}

func (b *breaker) wanted() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.vote.wanted
}

func (b *breaker) voted(won bool, until, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.vote = vote{lost: now.Add(voteAgain)}
	if won {
		b.vote = vote{won: until}
	}
}

// tellProbe tells the other replicas what a probe has come to. The caller holds mu.
func (b *breaker) tellProbe() {
	p := newProbe{result: probeWell}
	if b.state.Load() == open {
		p = newProbe{result: probeFailed, until: b.until, openings: b.openings}
	}
	b.route.Load().tellProbe(p)
}

// hear takes note of what a probe of another replica has come to. That a route was
// opened elsewhere is no reason to open it here: the other may have been cut off.
func (b *breaker) hear(p *saidProbe, at, now time.Time) {
	if p.result == probeNothing {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state.Load() != open || !at.After(b.opened) {
		return
	}
	until := at.Add(millis(p.millis))
	if p.result == probeFailed && !until.After(now) {
		return
	}
	if b.probe != nil {
		b.settle(errNothing)
	}
	if p.result == probeWell {
		b.close(now, "a probe of another replica did well")
		return
	}
	b.openings = max(b.openings, p.openings)
	b.openUntil(until, "a probe of another replica failed", now)
}

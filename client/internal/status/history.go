package status

import (
	"slices"
	"sync"
	"time"

	"github.com/ontime-llm/ontime/router"
)

const (
	sampleEvery = 10 * time.Second
	samples     = 90 // a quarter of an hour
)

// history is what was expected of the routes in the last quarter of an hour. It is
// sampled from what the router reckons with, not from answers that came: a route that
// hangs has none. A sample is taken when a call ends or somebody looks, so that no
// goroutine is needed; while neither happens there is nothing to see.
type history struct {
	mu   sync.Mutex // guards all below
	last time.Time
	list []sample // oldest first
	seq  uint64   // of the latest
}

type sample struct {
	at     time.Time
	routes []routeSample
}

type routeSample struct {
	target, model                      string
	ttftP50, ttftP95, tpotP50, tpotP95 time.Duration
}

// due tells, to one of those who ask, whether it is time for a sample.
func (h *history) due(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Sub(h.last) < sampleEvery {
		return false
	}
	h.last = now
	return true
}

// add takes a sample.
func (h *history) add(s *router.Snapshot) {
	one := sample{at: s.At}
	for i := range s.Routes {
		if r := &s.Routes[i]; tried(r) {
			one.routes = append(one.routes, routeSample{
				target: r.Target, model: r.Model,
				ttftP50: r.TTFT.P50, ttftP95: r.TTFT.P95, tpotP50: r.TPOT.P50, tpotP95: r.TPOT.P95,
			})
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	h.list = append(h.list, one)
	if len(h.list) > samples {
		h.list = slices.Delete(h.list, 0, len(h.list)-samples)
	}
}

func tried(r *router.RouteStatus) bool { return r.Attempts != router.Attempts{} || r.InFlight > 0 }

// lines returns the history of each route, by [target, model], and how many samples
// there have been. There are none if that is no more than seen.
func (h *history) lines(seen uint64) (map[[2]string]*History, uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seq <= seen {
		return nil, seen
	}
	all := make(map[[2]string]*History)
	for _, s := range h.list {
		for _, r := range s.routes {
			key := [2]string{r.target, r.model}
			line := all[key]
			if line == nil {
				line = new(History)
				all[key] = line
			}
			line.add(s.at, &r)
		}
	}
	return all, h.seq
}

func (h *History) add(at time.Time, r *routeSample) {
	h.At = append(h.At, at.Unix())
	h.TTFTP50 = append(h.TTFTP50, ms(r.ttftP50))
	h.TTFTP95 = append(h.TTFTP95, ms(r.ttftP95))
	h.TPOTP50 = append(h.TPOTP50, ms(r.tpotP50))
	h.TPOTP95 = append(h.TPOTP95, ms(r.tpotP95))
}

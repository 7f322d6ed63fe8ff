package client_test

import (
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ontime-llm/ontime/middleware"
	"github.com/ontime-llm/ontime/router"
)

// counting counts what is sent to each target.
type counting struct {
	next http.RoundTripper
	mu   sync.Mutex
	sent map[string]int
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.sent[strings.TrimSuffix(r.URL.Host, ".test")]++
	c.mu.Unlock()
	return c.next.RoundTrip(r)
}

// checkBooks adds up what was observed, what the targets were sent and what the
// router knows.
func (s *chaos) checkBooks(t *testing.T, calls int) {
	t.Helper()
	observed := s.observed()
	if len(observed) != calls {
		t.Errorf("%d calls were observed, want %d", len(observed), calls)
	}
	attempts, outcomes := map[string]int{}, map[string]router.Attempts{}
	kinds := map[middleware.Outcome]int{}
	further := 0
	for _, c := range observed {
		kinds[c.Outcome]++
		further += rationed(c)
		for _, a := range c.Attempts {
			attempts[a.Target]++
			n := outcomes[a.Target]
			count(&n, a.Outcome)
			outcomes[a.Target] = n
		}
	}
	for _, kind := range []middleware.Outcome{middleware.Completed, middleware.Failed, middleware.TimedOut, middleware.Cancelled} {
		if kinds[kind] < calls/1000 {
			t.Errorf("%d calls are %v: that is no chaos", kinds[kind], kind)
		}
	}
	// Attempts beyond the first and its failover are rationed to a fifth of the calls.
	if most := retryBurst + 0.2*float64(calls); float64(further) > most {
		t.Errorf("%d further attempts, want at most %.0f", further, most)
	}
	for name, n := range s.sent.sent {
		if attempts[name] != n {
			t.Errorf("%s was sent %d requests, its attempts are %d", name, n, attempts[name])
		}
	}
	for _, r := range s.Snapshot().Routes {
		if !agree(r.Attempts, outcomes[r.Target]) || r.InFlight != 0 {
			t.Errorf("the router counts %+v of %s and %d under way, the calls %+v", r.Attempts, r.Target, r.InFlight, outcomes[r.Target])
		}
	}
	s.checkHedges(t, observed)
}

// agree tells whether the router has heard what the calls say of their attempts. A probe
// that loses goes on until it has found out about its route: for its call it is lost, and
// for the router what it came to.
func agree(heard, said router.Attempts) bool {
	lingered := said.Lost - heard.Lost
	return heard.Lost <= said.Lost && heard.Completed >= said.Completed && heard.Failed >= said.Failed &&
		heard.TimedOut >= said.TimedOut && heard.Cancelled >= said.Cancelled &&
		heard.Completed+heard.Failed+heard.TimedOut+heard.Cancelled ==
			said.Completed+said.Failed+said.TimedOut+said.Cancelled+lingered
}

// retryBurst is how many retries may be made at once.
const retryBurst = 20

// rationed counts the attempts of a call that are rationed.
func rationed(c middleware.Call) int {
	n := -2 // the first, and its failover
	for _, a := range c.Attempts {
		if !a.Hedge {
			n++
		}
	}
	return max(n, 0)
}

func count(n *router.Attempts, o middleware.Outcome) {
	switch o {
	case middleware.Completed:
		n.Completed++
	case middleware.Failed:
		n.Failed++
	case middleware.TimedOut:
		n.TimedOut++
	case middleware.Cancelled:
		n.Cancelled++
	case middleware.Lost:
		n.Lost++
	}
}

// checkHedges holds the hedges of every minute, and of all, against their
// allowance.
func (s *chaos) checkHedges(t *testing.T, observed []middleware.Call) {
	const burst = 20
	var calls, hedges []float64
	all, doubled := 0.0, 0.0
	for _, c := range observed {
		if c.Endpoint != "chat" {
			continue
		}
		minute := int(c.Start.Sub(s.started) / time.Minute)
		for len(calls) <= minute {
			calls, hedges = append(calls, 0), append(hedges, 0)
		}
		calls[minute]++
		all++
		if c.Hedged {
			hedges[minute]++
			doubled++
		}
	}
	for i := range calls {
		if most := burst + chaosHedges*calls[i]; hedges[i] > math.Ceil(most) {
			t.Errorf("%v hedges of %v calls in minute %d", hedges[i], calls[i], i)
		}
	}
	if doubled == 0 || doubled > burst+chaosHedges*all {
		t.Errorf("%v hedges of %v calls", doubled, all)
	}
}

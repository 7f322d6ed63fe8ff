package router

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ontime-llm/ontime/budget"
)

// Snapshot is what the router knows, for a status page. It is plain data, made
// anew for each caller.
type Snapshot struct {
	At        time.Time
	Routes    []RouteStatus    // by model, then in the order of the config's targets
	Endpoints []EndpointStatus // by name
	Pairs     []PairStatus     // by what two targets have in common, nearest first
	Shared    SharedStatus
}

// The states of a route and of its keys. Of several that apply a route has the one
// listed last.
const (
	StateOK         = "ok"
	StateNoData     = "no data"      // nothing of its own has been seen: it is judged by its relatives
	StateDegraded   = "degraded"     // more promises are missed than allowed, or it fails and is the last
	StateCooling    = "cooling down" // the provider said to wait, for all its keys
	StateHalfOpen   = "half-open"    // a probe is to find out whether it is well again
	StateOpen       = "open"         // it is not taken while there are others
	StateKeyRefused = "key refused"  // none of its keys is accepted

	// Of an [Event] without a target only: what other replicas see does not come, or is
	// not understood. When it comes again the state is StateOK.
	StateUnshared = "not shared"
)

// RouteStatus is what is known of one route. Distributions and shares are those
// that [Router.Plan] reckons with: recent evidence, leaning on relatives while
// there is little: up to 250 ms older than the counts, and where N is 0 those of
// relatives, or what is built in.
type RouteStatus struct {
	Target, Provider, Region string
	Model                    string    // "other" for the shared route
	State                    string    // one of the State constants
	Why                      string    // one line on the state; may be empty
	Until                    time.Time // when it may change by itself; zero: not known
	InFlight                 int       // attempts under way
	Attempts                 Attempts
	Keys                     []KeyStatus // by index

	// Openings are how often the breaker has opened, and Cooldowns how often the provider
	// said to wait when no such time was running: many pass between two looks.
	Openings, Cooldowns uint64

	// PromptTokens is the typical prompt: the geometric mean of the latest, or 1000
	// before there are any. TTFT and Total are those of such a prompt, Total
	// that of an answer of 200 tokens that is not streamed.
	PromptTokens      int
	TTFT, TPOT, Total Percentiles
	Failures          float64 // share of attempts that fail, 0 to 1

	// Fixed and PerToken are the part of TTFT that does not depend on the
	// prompt, and what each uncached prompt token adds.
	Fixed, PerToken time.Duration
	BytesPerToken   float64 // of prompts

	Calibration Calibration // how well predictions did

	// CacheHits is which share of the prompt tokens that should have been cached, since
	// the route had seen them within 5 minutes, was reported to be; 0 to 1, and 0.5
	// before there were any.
	CacheHits float64

	Changes []Change     // the latest, newest last, at most 8
	Changed ChangeCounts // all
}

// KeyStatus is what is known of one API key of a target, for one model.
type KeyStatus struct {
	State    string    // [StateOK], [StateCooling] or [StateKeyRefused]
	Why      string    // why it was refused
	Until    time.Time // when it may be used again
	InFlight int       // attempts under way
	Left     float64   // part of the provider's limit that is left, 0 to 1; 1 if not known
}

// Attempts are counts of ended attempts since the start, by outcome.
type Attempts struct {
	Completed, Failed, TimedOut, Cancelled, Lost uint64
}

// Percentiles are times that 50%, 95% and 99% do not exceed: [Unbounded] where the
// evidence does not get that far, because so much hangs or was given up.
type Percentiles struct {
	P50, P95, P99 time.Duration
	N             float64 // measured on the route itself, here or by other replicas, those of 15 min ago counting half
}

// Unbounded is a percentile beyond all that was seen.
const Unbounded = time.Duration(math.MaxInt64)

// EndpointStatus is how well an endpoint keeps its promise.
type EndpointStatus struct {
	Name   string
	Layers []budget.LayerStatus // as the budget lists them; "answered" last

	// Truncated is how many answers a token cap has ended (finish reason "length"),
	// Starved how many of them before they had begun: reasoning had used it up.
	Truncated, Starved uint64

	Hedge HedgeStatus

	Advice []Advice // what would save most first, as of at most 10 s ago; none without evidence
}

// Snapshot returns what the router knows now. Routes for models that the config
// does not name are listed once they have been tried.
func (r *Router) Snapshot() Snapshot {
	now := time.Now()
	s := Snapshot{At: now}
	groups := *r.groups.Load()
	for _, model := range slices.Sorted(maps.Keys(groups)) {
		g := groups[model]
		for _, rt := range g.routes {
			if rt != nil && (g.named || rt.tried()) {
				s.Routes = append(s.Routes, rt.status(g.current(now), now))
			}
		}
	}
	advice := adviser{router: r, now: now}
	for _, e := range r.byIndex {
		truncated, starved := e.ledger.Truncated()
		s.Endpoints = append(s.Endpoints, EndpointStatus{
			Name: e.name, Layers: e.ledger.Status(), Truncated: truncated, Starved: starved, Hedge: e.allowance.status(now),
			Advice: advice.of(e),
		})
	}
	s.Pairs = r.pairing.status(now)
	s.Shared = r.sharing.status()
	r.events.flush()
	return s
}

func (rt *route) status(o *outlook, now time.Time) RouteStatus {
	t := &rt.group.router.targets[rt.target]
	f := o.routes[rt.target]
	s := RouteStatus{
		Target:        t.Name,
		Provider:      t.Provider,
		Region:        t.Region,
		Model:         rt.group.model,
		PromptTokens:  int(math.Round(f.typical)),
		TTFT:          f.percentiles(ttft, f.fit.factor(f.typical)),
		TPOT:          f.percentiles(tpot, 1),
		Total:         f.percentiles(total, f.work(f.typical, refOutput)),
		Failures:      f.failures,
		Fixed:         seconds(f.fit.a),
		PerToken:      seconds(f.fit.b),
		BytesPerToken: f.bytesPerToken,
		Openings:      rt.openings.Load(),
		Cooldowns:     rt.cooldowns.Load(),
		Attempts: Attempts{
			Completed: rt.attempts[Completed].Load(),
			Failed:    rt.attempts[Failed].Load(),
			TimedOut:  rt.attempts[TimedOut].Load(),
			Cancelled: rt.attempts[Cancelled].Load(),
			Lost:      rt.attempts[Lost].Load(),
		},
	}
	rt.mu.Lock()
	s.InFlight, s.CacheHits = rt.running, rt.hits.share
	s.Changes, s.Changed = slices.Clone(rt.changes.latest), rt.changes.counts
	s.Calibration = Calibration{TTFT: rt.ttftCoverage.status(now), Total: rt.totalCoverage.status(now)}
	rt.mu.Unlock()
	rt.addHealth(&s, now)
	return s
}

func (f *forecast) percentiles(m int, factor float64) Percentiles {
	at := func(q float64) time.Duration {
		v := f.dist[m].Quantile(q) * factor
		if v > longest*1e6 {
			return Unbounded
		}
		return seconds(v)
	}
	return Percentiles{P50: at(0.5), P95: at(0.95), P99: at(0.99), N: f.seen[m]}
}

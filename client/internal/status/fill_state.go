package status

import (
	"math"
	"time"

	"github.com/ontime-llm/ontime/budget"
	"github.com/ontime-llm/ontime/router"
)

// view is what one reader has been told already.
type view struct{ calls, samples uint64 }

// state returns all that is new to the reader.
func (p *Page) state(v *view) *State {
	s := p.snapshot()
	if p.opened.Load() && p.history.due(s.At) {
		p.sample(s)
	}
	lines, seq := p.history.lines(v.samples)
	v.samples = seq
	calls := p.calls.after(v.calls)
	if len(calls) > 0 {
		v.calls = calls[0].ID
	}
	all := &State{
		Version: Version, At: s.At.UTC(), Since: time.Unix(0, p.since.Load()).UTC(), Calls: calls,
		Endpoints: make([]Endpoint, len(s.Endpoints)), Routes: make([]Route, len(s.Routes)), Pairs: make([]Pair, len(s.Pairs)),
	}
	for i := range s.Endpoints {
		all.Endpoints[i] = p.endpoint(&s.Endpoints[i], s.At)
	}
	for i := range s.Routes {
		r := &s.Routes[i]
		all.Routes[i] = routeOf(r)
		all.Routes[i].History = lines[[2]string{r.Target, r.Model}]
	}
	for i, pair := range s.Pairs {
		all.Pairs[i] = Pair{pair.Pair, share(pair.Factor), share(pair.Won), share(pair.Predicted)}
	}
	return all
}

func (p *Page) endpoint(s *router.EndpointStatus, now time.Time) Endpoint {
	e := Endpoint{
		Name: s.Name, Layers: make([]Layer, len(s.Layers)), Truncated: s.Truncated, Starved: s.Starved,
		Hedge: Hedge{
			Share: s.Hedge.Share, Tokens: share(s.Hedge.Tokens), Burst: share(s.Hedge.Burst), Price: share(s.Hedge.Price),
			Started: s.Hedge.Started, Won: s.Hedge.Won, Refused: s.Hedge.Refused,
		},
		Advice: make([]Advice, len(s.Advice)),
	}
	for i, a := range s.Advice {
		e.Advice[i] = Advice{a.Kind, a.Text, ms(a.Saves), ms(a.Low), ms(a.High), a.Calls}
	}
	b := p.books.of(s.Name)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range s.Layers {
		e.Layers[i] = layerOf(&s.Layers[i], b.of(s.Layers[i].Metric), now)
	}
	e.Calls = outcomesOf(router.Attempts{
		Completed: b.outcomes[router.Completed], Failed: b.outcomes[router.Failed],
		TimedOut: b.outcomes[router.TimedOut], Cancelled: b.outcomes[router.Cancelled], Lost: b.outcomes[router.Lost],
	})
	e.Tokens, e.Cost, e.LostCost, e.Choice = tokensOf(b.usage), b.cost, b.lost, b.choice
	return e
}

func layerOf(s *budget.LayerStatus, t *times, now time.Time) Layer {
	l := Layer{
		Name: s.Layer.String(), Metric: s.Metric.String(), Percentile: s.Percentile, Limit: msIf(s.Limit), Measured: undefined,
		Allowed: share(s.Allowed()), Calls: s.Calls, Missed: s.Missed,
		Attainment: share(s.Attainment()), Burn: share(s.Burn()), Debt: share(s.Debt),
	}
	if t == nil {
		return l
	}
	rising := t.recent(now)
	if l.Evidence = len(rising); l.Evidence > 0 {
		l.Measured = unbounded
		if d, ok := percentile(rising, s.Percentile); ok {
			l.Measured = ms(d)
		}
	}
	return l
}

func routeOf(s *router.RouteStatus) Route {
	r := Route{
		Target: s.Target, Provider: s.Provider, Region: s.Region, Model: clip(s.Model, mostName),
		State: s.State, Why: clip(s.Why, mostText), Until: timeOf(s.Until), InFlight: s.InFlight,
		Attempts: outcomesOf(s.Attempts), Failures: share(s.Failures), Keys: make([]Key, len(s.Keys)), PromptTokens: s.PromptTokens,
		TTFT: percentilesOf(s.TTFT), TPOT: percentilesOf(s.TPOT), Total: percentilesOf(s.Total),
		Fixed: ms(s.Fixed), PerToken: ms(s.PerToken), BytesPer: share(s.BytesPerToken), CacheHits: share(s.CacheHits),
		Changes: make([]Change, len(s.Changes)),
	}
	r.Calibration.TTFT, r.Calibration.Total = coverageOf(s.Calibration.TTFT), coverageOf(s.Calibration.Total)
	for i, k := range s.Keys {
		r.Keys[i] = Key{k.State, clip(k.Why, mostText), timeOf(k.Until), k.InFlight, share(k.Left)}
	}
	for i, c := range s.Changes {
		r.Changes[i] = Change{c.At.UTC(), c.Kind, clip(c.From, mostName), clip(c.To, mostName)}
	}
	return r
}

func outcomesOf(a router.Attempts) Outcomes {
	return Outcomes{a.Completed, a.Failed, a.TimedOut, a.Cancelled, a.Lost}
}

func percentilesOf(p router.Percentiles) Percentiles {
	return Percentiles{ms(p.P50), ms(p.P95), ms(p.P99), share(p.N)}
}

func coverageOf(c router.Coverage) Coverage {
	return Coverage{share(c.P50), share(c.P95), share(c.P99), share(c.N)}
}

func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// share rounds to what can be read, so that a figure which has hardly changed is the
// same text.
func share(v float64) float64 { return math.Round(v*10_000) / 10_000 }

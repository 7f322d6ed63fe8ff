package router

import (
	"slices"
	"time"
)

// Change is something that is different of a route from one time on. It is plain data.
type Change struct {
	At       time.Time
	Kind     string // one of the Change constants
	From, To string // the model as answered, or the medians, formatted
}

// The kinds of changes.
const (
	ChangeModel = "model" // the provider answers with a model that is new to the route
	ChangeTTFT  = "ttft"  // its median, of a typical prompt, is another
	ChangeTPOT  = "tpot"  // its median is another
)

// ChangeCounts are how many changes of each kind a route has had since the start.
type ChangeCounts struct {
	Model, TTFT, TPOT uint64
}

const mostChanges = 8 // that a route remembers

// changes are what was noticed of a route. Guarded by the route's mu.
type changes struct {
	served served
	ttft   shift // in seconds, as if the prompt had refPrompt tokens
	tpot   shift // in seconds
	latest []Change
	counts ChangeCounts
}

// sawModel takes note of the model that an attempt was answered with. The shared route
// answers with as many as its callers ask for, and nothing that changes there is news. The
// caller holds mu.
func (rt *route) sawModel(name string, now time.Time) {
	if name == "" || rt.group.model == otherModel {
		return
	}
	if before, is := rt.changes.served.saw(name, now); is {
		rt.changes.counts.Model++
		rt.changed(Change{At: now, Kind: ChangeModel, From: before, To: rt.changes.served.latest().name})
	}
}

// sawTTFT takes note of a TTFT, converted to refPrompt tokens; the forecast is the one
// that it was converted by. Before there is a fit the conversion is a guess, and would
// look like a change later. The caller holds mu.
func (rt *route) sawTTFT(seconds float64, x *forecast, now time.Time) {
	if !x.fitted || rt.group.model == otherModel {
		return
	}
	if from, to, is := rt.changes.ttft.saw(seconds, now); is {
		factor := x.fit.factor(x.typical)
		rt.changes.counts.TTFT++
		rt.changed(Change{At: now, Kind: ChangeTTFT, From: inWords(from * factor), To: inWords(to * factor)})
	}
}

// sawTPOT takes note of a TPOT. The caller holds mu.
func (rt *route) sawTPOT(seconds float64, now time.Time) {
	if rt.group.model == otherModel {
		return
	}
	if from, to, is := rt.changes.tpot.saw(seconds, now); is {
		rt.changes.counts.TPOT++
		rt.changed(Change{At: now, Kind: ChangeTPOT, From: inWords(from), To: inWords(to)})
	}
}

// changed remembers a change, and tells of it.
func (rt *route) changed(c Change) {
	if len(rt.changes.latest) == mostChanges {
		rt.changes.latest = slices.Delete(rt.changes.latest, 0, 1)
	}
	rt.changes.latest = append(rt.changes.latest, c)
	rt.post(Event{At: c.At, Key: -1, Change: c})
}

// inWords formats seconds to three digits, such as "412ms" or "1.23s".
func inWords(s float64) string {
	d := seconds(s)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		switch {
		case d >= 100*unit:
			return d.Round(unit).String()
		case d >= 10*unit:
			return d.Round(unit / 10).String()
		case d >= unit:
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

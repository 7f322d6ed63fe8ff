package upstream

import (
	"cmp"
	"net/http"
	"strconv"
	"time"
)

// fail makes the reply an HTTP error that comes at an age.
func (r *reply) fail(e *apiError, age time.Duration) {
	r.status = e.status
	r.whole(object(errorBody{e.object()}, age))
}

// json makes the reply a good one, at once.
func (r *reply) json(v any) {
	r.good = true
	r.whole(object(v, 0))
}

// whole makes the reply a JSON body with its headers.
func (r *reply) whole(p *parts) {
	r.header.Set("Content-Type", "application/json")
	r.body, r.headers = p, p.at
	r.first, r.last = p.at, p.length()
}

// answer makes the reply what became of an answer.
func (r *reply) answer(a *answer) {
	b := a.behaviour
	switch a.fault {
	case Refused:
		r.refused = true
		return
	case HTTPError:
		r.fail(errorFor(cmp.Or(b.Faults.Status, http.StatusServiceUnavailable)), b.Faults.After)
		return
	case HTML:
		r.whole(&parts{at: b.Faults.After, left: []Part{{0, page}}})
		r.header.Set("Content-Type", "text/html; charset=utf-8")
		return
	}
	r.server.stats.PromptTokens += a.prompt.tokens
	r.server.stats.CachedTokens += a.cached
	r.header.Set("Openai-Processing-Ms", strconv.FormatInt(a.headers.Milliseconds(), 10))
	if a.fault != Hang {
		r.tokens = a.generated
	}
	if a.streams() {
		r.header.Set("Content-Type", "text/event-stream; charset=utf-8")
		r.header.Set("Cache-Control", "no-cache")
		r.body, r.headers = newStream(a), a.headers
	} else {
		r.whole(whole(a))
		r.headers = a.headers
	}
	r.first, r.last = a.first(), a.last()
	r.good = a.fault == None
}

// first is the age of the first content, and last of all that will come.
func (a *answer) first() time.Duration {
	switch {
	case a.fault == Hang, a.fault.midway() && a.events == 0:
		return never
	case a.streams():
		return a.due(0)
	}
	return a.end()
}

func (a *answer) last() time.Duration {
	switch {
	case a.fault == Hang, a.fault == Stall:
		return never
	case !a.streams():
		return a.end()
	case a.fault == ErrorEvent, a.fault == Empty:
		return a.due(0)
	case a.fault == Cut, a.fault == Reset:
		return a.due(max(0, a.events-1))
	case a.fault == LateError:
		return a.due(min(a.events, max(0, a.count()-1)))
	}
	return a.end()
}

// raw makes the reply what a script says.
func (r *reply) raw(raw Raw) {
	for name, value := range raw.Headers {
		r.header.Set(name, value)
	}
	r.status = cmp.Or(raw.Status, http.StatusOK)
	p := &parts{at: raw.Delay, left: raw.Parts, end: raw.End}
	r.body, r.headers = p, raw.Delay
	r.first, r.last = never, p.length()
	if len(raw.Parts) > 0 {
		r.first = raw.Delay + raw.Parts[0].After
	}
	r.good = r.status < 400 && raw.End == None
	switch raw.End {
	case Refused:
		r.refused, r.last = true, 0
	case Hang:
		r.headers, r.last = never, never
	}
}

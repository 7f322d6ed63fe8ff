package router

import (
	"slices"
	"time"
)

// models returns the models that may answer the call, in order of preference: the one
// that it names, and those behind it in the endpoint's list, or all of them if it is
// not listed. It is nil where only the call's own will do.
func (p *Plan) models() []string {
	req, listed := &p.request, p.endpoint.budget.Models
	if len(listed) == 0 || req.KeepModel {
		return nil
	}
	models := append([]string{req.Model}, behind(listed, req.Model)...)
	if req.After != "" {
		models = behind(models, req.After)
	}
	return models
}

// behind returns what is listed after the model: all, if it is not listed.
func behind(models []string, model string) []string {
	return models[slices.Index(models, model)+1:]
}

// make makes the plan: of the first model that has a healthy route, or if none has, of
// the first that has any.
func (p *Plan) make(now time.Time) {
	if e := p.endpoint; !e.used.Load() {
		e.used.Store(true)
	}
	models := p.models()
	if models == nil {
		p.among(now, true)
		return
	}
	for _, resort := range []bool{false, true} {
		all := Plan{router: p.router, endpoint: p.endpoint, request: p.request}
		for _, model := range models {
			next := Plan{router: p.router, endpoint: p.endpoint, request: p.request}
			next.request.Model, next.asked = model, p.request.Model
			next.among(now, resort)
			for _, refused := range next.Refused {
				all.add(refused)
			}
			if next.healthy() || resort && len(next.Choices) > 0 {
				next.Refused, next.Until = all.Refused, all.Until
				*p = next
				return
			}
		}
		*p = all
	}
}

// Model is the model that the plan's choices are of, as the application names it: the
// request's, or where that had no healthy route a later one of the endpoint's.
func (p *Plan) Model() string { return p.request.Model }

// healthy tells whether there is a choice that is no last resort.
func (p *Plan) healthy() bool {
	return slices.ContainsFunc(p.Choices, func(c Choice) bool { return !c.LastResort() })
}

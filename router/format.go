package router

import "slices"

// formats is which targets take requests of which format: for each that a target
// names, and under "" for any other, by target. It is nil if all take any.
type formats map[string][]bool

func newFormats(targets []Target) formats {
	var all formats
	for _, t := range targets {
		for _, name := range t.Formats {
			if all == nil {
				all = formats{"": takersOf("", targets)}
			}
			all[name] = takersOf(name, targets)
		}
	}
	return all
}

func takersOf(format string, targets []Target) []bool {
	takers := make([]bool, len(targets))
	for i, t := range targets {
		takers[i] = t.Formats == nil || slices.Contains(t.Formats, format)
	}
	return takers
}

// takers returns which targets take the format, nil if all do.
func (f formats) takers(format string) []bool {
	if f == nil || format == "" {
		return nil
	}
	if takers, ok := f[format]; ok {
		return takers
	}
	return f[""]
}

// Takes tells whether the target takes requests of the format. It is false if there
// is no such target.
func (r *Router) Takes(target, format string) bool {
	i, ok := r.targetIndex(target)
	takers := r.formats.takers(format)
	return ok && (takers == nil || takers[i])
}

// onlyOtherFormats tells whether a plan is empty because of the request's format
// alone.
func (p *Plan) onlyOtherFormats() bool {
	if len(p.Choices) > 0 || len(p.Refused) > 0 || p.router.formats.takers(p.request.Format) == nil {
		return false
	}
	models := p.models()
	if models == nil {
		models = []string{p.request.Model}
	}
	q := question{endpoint: p.endpoint, req: &p.request}
	admits := func(rt *route) bool { return rt != nil && q.admits(p.router, rt.target) }
	return slices.ContainsFunc(models, func(model string) bool {
		g := p.router.group(model)
		return g != nil && slices.ContainsFunc(g.routes, admits)
	})
}

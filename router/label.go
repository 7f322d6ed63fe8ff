package router

// Label returns what the routes of a model go by in a [Snapshot]: its own name if it has
// routes of its own, else "other". Unlike [Router.Plan] it makes none, so that there are
// no more labels than routes, whatever names callers come with.
func (r *Router) Label(model string) string {
	if _, ok := (*r.groups.Load())[model]; ok {
		return model
	}
	return otherModel
}

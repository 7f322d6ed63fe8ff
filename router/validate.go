package router

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/ontime-llm/ontime/budget"
)

const maxNameLength = 63

// validate returns everything that is wrong with c: an error whose
// Unwrap() []error gives one [budget.Problem] each.
func (c Config) validate() error {
	var found problems
	found.checkTargets(c.Targets)
	for _, name := range slices.Sorted(maps.Keys(c.Budgets)) {
		found.checkEndpoint(name, c.Budgets[name], c.Targets)
	}
	return errors.Join(found...)
}

type problems []error

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, budget.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (p *problems) checkTargets(targets []Target) {
	if len(targets) == 0 {
		p.add("targets", "there are none, so no call could be sent anywhere: add at least one")
	}
	first := make(map[string]int)
	for i, t := range targets {
		field := fmt.Sprintf("targets[%d]", i)
		if p.checkName(field+".name", t.Name) {
			if at, ok := first[t.Name]; ok {
				p.add(field+".name", "%q is already the name of targets[%d]: rename one of them", t.Name, at)
			} else {
				first[t.Name] = i
			}
		}
		p.checkModels(field, t.Models)
		p.checkFormats(field, t.Formats)
		p.checkPrices(field, t)
		p.checkNumbers(field, t)
	}
}

func (p *problems) checkName(field, name string) bool {
	if !validName(name) {
		p.add(field, "%q is not a name: use 1 to %d of the characters a-z, 0-9, '.', '_' and '-'", name, maxNameLength)
		return false
	}
	return true
}

func validName(name string) bool {
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return 0 < len(name) && len(name) <= maxNameLength
}

func (p *problems) checkModels(field string, models []string) {
	if models != nil && len(models) == 0 {
		p.add(field+".models", "the list is empty, so the target would serve nothing: name a model, or leave the list out for any")
	}
	for i, m := range models {
		if m == "" {
			p.add(fmt.Sprintf("%s.models[%d]", field, i), "the name is empty: write the model as the application names it, or remove the entry")
		}
	}
}

func (p *problems) checkFormats(field string, formats []string) {
	if formats != nil && len(formats) == 0 {
		p.add(field+".formats", "the list is empty, so the target would serve nothing: name a format, or leave the list out for any")
	}
	if slices.Contains(formats, "") {
		p.add(field+".formats", "one of the names is empty: remove it")
	}
}

// checkPrices refuses prices that are none, that nobody would pay, and models that would
// look free beside those that have one.
func (p *problems) checkPrices(field string, t Target) {
	p.checkPrice(field+".price", t.Price)
	for _, model := range slices.Sorted(maps.Keys(t.Prices)) {
		at := field + ".prices." + model
		p.checkPrice(at, t.Prices[model])
		if t.Models != nil && !slices.Contains(t.Models, model) || model == "" {
			p.add(at, "the target does not serve the model: name it as in models, or remove it")
		}
	}
	if len(t.Prices) == 0 || t.Price.known() {
		return
	}
	if t.Models == nil {
		p.add(field+".prices", "models that are not listed would look free: set price for them, or list in models what the target serves")
	}
	for _, model := range t.Models {
		if _, ok := t.Prices[model]; !ok {
			p.add(field+".prices", "%q is not listed and would look free: add it, or set price for all that are not", model)
		}
	}
}

func (p *problems) checkPrice(field string, price Price) {
	for _, n := range []struct {
		name  string
		value float64
	}{
		{"input", price.Input},
		{"cached_input", price.CachedInput},
		{"output", price.Output},
	} {
		if !(n.value >= 0) || math.IsInf(n.value, 1) {
			p.add(field+"."+n.name, "%v is not a price: set USD per million tokens, 0 or more", n.value)
		}
	}
}

func (p *problems) checkNumbers(field string, t Target) {
	for _, n := range []struct {
		name  string
		value int
	}{
		{"limits.requests_per_minute", t.Limits.RequestsPerMinute},
		{"limits.tokens_per_minute", t.Limits.TokensPerMinute},
		{"limits.concurrent", t.Limits.Concurrent},
	} {
		if n.value < 0 {
			p.add(field+"."+n.name, "%d is negative: set the provider's limit, or 0 if it is not known", n.value)
		}
	}
	if t.Keys < 0 {
		p.add(field+".keys", "%d is negative: set the number of API keys, or 0 for one", t.Keys)
	}
}

func (p *problems) checkEndpoint(name string, b budget.Budget, targets []Target) {
	field := "endpoints." + name
	p.checkName(field, name)
	p.addBudget(field, b.Validate())
	known := func(name string) bool {
		return slices.ContainsFunc(targets, func(t Target) bool { return t.Name == name })
	}
	for i, t := range b.Targets {
		if t != "" && !known(t) { // the budget itself reports an empty one
			p.add(fmt.Sprintf("%s.targets[%d]", field, i), "there is no target %q: name one of the config's targets, or add it", t)
		}
	}
	p.checkServed(field, b, targets)
	if b.Weight() > 0 {
		p.checkComparable(field, b, targets)
	}
}

// checkServed refuses models that no target of the endpoint serves: they would never
// be asked.
func (p *problems) checkServed(field string, b budget.Budget, targets []Target) {
	for i, model := range b.Models {
		serves := func(t Target) bool {
			return (len(b.Targets) == 0 || slices.Contains(b.Targets, t.Name)) && (t.Models == nil || slices.Contains(t.Models, model))
		}
		if model != "" && !slices.ContainsFunc(targets, serves) { // the budget itself reports an empty one
			p.add(fmt.Sprintf("%s.models[%d]", field, i), "no target of the endpoint serves %q: name it as in a target's models, add it there, or remove it", model)
		}
	}
}

// checkComparable refuses prices on some targets only: a route without one would look
// free.
func (p *problems) checkComparable(field string, b budget.Budget, targets []Target) {
	var with, without []string
	for _, t := range targets {
		switch {
		case len(b.Targets) > 0 && !slices.Contains(b.Targets, t.Name):
		case t.priced():
			with = append(with, t.Name)
		default:
			without = append(without, t.Name)
		}
	}
	if len(with) > 0 && len(without) > 0 {
		p.add(field+".targets", "%q have a price and %q have none, so their costs cannot be compared: "+
			"price all of them or none, or make the endpoint's cost weight negative to ignore cost", with, without)
	}
}

// addBudget adds the problems of one budget, with the endpoint before each field.
func (p *problems) addBudget(field string, err error) {
	if err == nil {
		return
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		var problem budget.Problem
		if !errors.As(err, &problem) {
			problem.Message = err.Error()
		}
		if problem.Field != "" {
			problem.Field = "." + problem.Field
		}
		*p = append(*p, budget.Problem{Field: field + problem.Field, Message: problem.Message})
	}
}

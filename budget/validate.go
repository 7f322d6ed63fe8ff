package budget

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Problem is one thing that is wrong with a budget.
type Problem struct {
	Field   string // as in a configuration file: "ttft.p99", "max_tokens.limit"
	Message string // what is wrong with it and how to mend it
}

// Error returns the field and the message.
func (p Problem) Error() string { return p.Field + ": " + p.Message }

var _ error = Problem{}

// Validate returns nil if the budget can be used, and otherwise all its
// problems at once: an error whose Unwrap() []error gives one [Problem] each.
// Whether the named targets and models exist is not known here.
func (b Budget) Validate() error {
	var found problems
	sound := found.checkLayers(b.Layers())
	found.checkOrder(sound)
	found.checkTotals(sound)
	found.checkTokens(b.MaxTokens)
	found.checkTimes(b, sound)
	found.checkSpending(b)
	found.checkNames("targets", b.Targets)
	found.checkNames("models", b.Models)
	return errors.Join(found...)
}

// shortest is a time that no call can be asked to keep. What is below it was written
// without its unit: 600 is 600ns.
const shortest = 100 * time.Microsecond

const noUnit = "is shorter than any call: say the unit, such as 600ms, which in Go is 600 * time.Millisecond"

type problems []error

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// checkLayers looks at each layer by itself and returns those that are sound,
// so that a broken one is not also compared with the others.
func (p *problems) checkLayers(layers []Layer) (sound []Layer) {
	for _, l := range layers {
		inRange := l.Percentile >= 1 && l.Percentile < 100 // false for NaN
		if !inRange {
			p.add(l.field(), "percentile %v is out of range: "+
				"it is at least 1 and below 100, such as 95 (not 0.95) or 99.9", l.Percentile)
		}
		if l.Limit <= 0 {
			p.add(l.field(), "limit %v promises nothing: "+
				"set a time above 0, such as 600ms, or remove the layer", l.Limit)
		} else if l.Limit < shortest {
			p.add(l.field(), "limit %v "+noUnit, l.Limit)
		}
		if inRange && l.Limit >= shortest {
			sound = append(sound, l)
		}
	}
	return sound
}

// checkOrder finds limits that are shorter than one of a lower percentile.
func (p *problems) checkOrder(layers []Layer) {
	var longest [metricCount]Layer
	for _, l := range layers {
		before := &longest[l.Metric]
		if l.Limit < before.Limit {
			p.add(l.field(), "limit %v is shorter than the %v of %s, but a higher percentile takes longer: "+
				"raise it to %[2]v or more, or lower %[3]s", l.Limit, before.Limit, before.field())
			continue
		}
		*before = l
	}
}

// checkTotals finds answers that would have to end before they start.
func (p *problems) checkTotals(layers []Layer) {
	first := make(map[float64]Layer)
	for _, l := range layers {
		switch l.Metric {
		case TTFT:
			first[l.Percentile] = l
		case Total:
			if ttft, ok := first[l.Percentile]; ok && l.Limit < ttft.Limit {
				p.add(l.field(), "limit %v is shorter than the %v of %s, but an answer cannot end before it starts: "+
					"raise it above %[2]v, or lower %[3]s", l.Limit, ttft.Limit, ttft.field())
			}
		}
	}
}

func (p *problems) checkTokens(m MaxTokens) {
	if m.Limit < 0 {
		p.add("max_tokens.limit", "%d is negative: "+
			"set the most tokens that a call may ask for, or leave it out for no limit", m.Limit)
	}
	if m.Limit > 0 && m.Default > m.Limit {
		p.add("max_tokens.default", "%d is above max_tokens.limit, which is %d: "+
			"lower it to %[2]d or less, or raise the limit", m.Default, m.Limit)
	}
}

func (p *problems) checkTimes(b Budget, layers []Layer) {
	if b.Deadline < 0 {
		p.add("deadline", "%v is negative: "+
			"set a time above 0, or leave it out for the caller's context alone", b.Deadline)
	}
	if b.Deadline > 0 && b.Deadline < shortest {
		p.add("deadline", "%v "+noUnit, b.Deadline)
	}
	if b.Abandon > 0 && b.Abandon < shortest {
		p.add("abandon", "%v "+noUnit, b.Abandon)
	}
	if b.Abandon < 0 {
		p.add("abandon", "%v is negative: "+
			"set a time above 0, or leave it out to let the distribution of the route decide", b.Abandon)
	}
	if b.Deadline < shortest {
		return
	}
	var longer []string
	var longest time.Duration
	for _, l := range layers {
		if l.Limit > b.Deadline {
			longer = append(longer, l.String())
			longest = max(longest, l.Limit)
		}
	}
	if len(longer) > 0 {
		p.add("deadline", "%v ends a call before it could miss %s: "+
			"raise it to %v or more, or lower those limits", b.Deadline, strings.Join(longer, ", "), longest)
	}
}

func (p *problems) checkSpending(b Budget) {
	switch {
	case !finite(b.Hedge):
		p.add("hedge", "%v is not a share: "+
			"set one above 0 and up to 1, such as 0.05 for 5%%, or a negative number for none", b.Hedge)
	case b.Hedge > 1:
		p.add("hedge", "%v is more than all calls: "+
			"set a share above 0 and up to 1 (%v%% is %s), or a negative number for none",
			b.Hedge, b.Hedge, strconv.FormatFloat(b.Hedge/100, 'g', 4, 64))
	}
	if !finite(b.CostWeight) {
		p.add("cost_weight", "%v is not a weight: "+
			"set a finite number, such as 3, or a negative one to ignore cost", b.CostWeight)
	}
}

func (p *problems) checkNames(field string, names []string) {
	seen := make(map[string]int)
	for i, name := range names {
		entry := fmt.Sprintf("%s[%d]", field, i)
		if strings.TrimSpace(name) == "" {
			p.add(entry, "the name is empty: write one, or remove the entry")
			continue
		}
		if at, ok := seen[name]; ok {
			p.add(entry, "%q is already %s[%d]: remove one of them", name, field, at)
			continue
		}
		seen[name] = i
	}
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

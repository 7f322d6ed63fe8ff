package budget

import "fmt"

// The caps of a call that asks for none, on an endpoint that names none. A
// reasoning model gets more, because a cap that reasoning uses up gives an
// empty answer.
const (
	defaultTokens          = 4096
	defaultReasoningTokens = 32768
)

// MaxTokens caps the output tokens of an endpoint's calls. The zero value caps
// calls that ask for no cap themselves at 4096 tokens (32768 for reasoning
// models) and leaves the others as they are.
type MaxTokens struct {
	// Default is the cap, in tokens, of a call that asks for none, and not
	// above Limit. If zero, 4096, or 32768 for reasoning models; if negative,
	// such a call gets no cap but Limit.
	Default int

	// Limit is the most output tokens that a call may ask for. If zero, there
	// is no limit. It is not negative.
	Limit int

	// Fit lowers a call's cap further, to what the route that it takes can be
	// expected to write before a total layer or the deadline has passed, where
	// there is one: an answer that would be late ends earlier, with the finish
	// reason "length". It gives a cap to a call that has none, never lowers one
	// to less than 64 tokens, and is never an error. Package router has the
	// arithmetic.
	Fit bool

	// Strict answers a call that asks for too much with an [*OverCapError],
	// instead of lowering its cap.
	Strict bool
}

// Cap returns the most output tokens that a call may have, or 0 if it is to
// leave uncapped, as only a negative Default allows.
//
// The call asked for a cap of asked tokens (0 or less: for none). The model can
// write at most ceiling tokens (0 or less: not known), and reasoning says
// whether it spends some of them on thinking. In Strict mode a call that asks
// for more than the limit or the ceiling gets an [*OverCapError]; a default
// that is too high is always lowered.
//
// Fit is not looked at: it needs a prediction, which only the router has.
func (m MaxTokens) Cap(asked, ceiling int, reasoning bool) (limit int, err error) {
	if asked <= 0 {
		return m.unasked(ceiling, reasoning), nil
	}
	limit = lower(lower(asked, m.Limit), ceiling)
	if limit < asked && m.Strict {
		return 0, &OverCapError{Asked: asked, Cap: limit, Ceiling: limit != m.Limit}
	}
	return limit, nil
}

// unasked is the cap of a call that asks for none.
func (m MaxTokens) unasked(ceiling int, reasoning bool) int {
	switch {
	case m.Default > 0:
		return lower(lower(m.Default, m.Limit), ceiling)
	case m.Default == 0 && reasoning:
		return lower(lower(defaultReasoningTokens, m.Limit), ceiling)
	case m.Default == 0:
		return lower(lower(defaultTokens, m.Limit), ceiling)
	case m.Limit > 0:
		return lower(m.Limit, ceiling)
	}
	// The ceiling alone is no reason to cap: the provider keeps it anyway.
	return 0
}

// lower returns tokens bounded by bound, which is none unless positive.
func lower(tokens, bound int) int {
	if bound > 0 {
		return min(tokens, bound)
	}
	return tokens
}

// OverCapError is the answer to a call that asks for more output tokens than it
// may have, on an endpoint whose MaxTokens are Strict. Nothing was sent.
type OverCapError struct {
	Asked   int  // tokens that the call asked for
	Cap     int  // the most that it may ask for
	Ceiling bool // Cap is what the model can write, not the endpoint's limit
}

// Error says what was asked, what is allowed, and what can be done about it.
func (e *OverCapError) Error() string {
	if e.Ceiling {
		return fmt.Sprintf("budget: the call asks for %d output tokens and the model writes at most %d: "+
			"ask for %[2]d or less, or turn max_tokens.strict off to have it lowered", e.Asked, e.Cap)
	}
	return fmt.Sprintf("budget: the call asks for %d output tokens and max_tokens.limit is %d: "+
		"ask for %[2]d or less, raise the limit, or turn max_tokens.strict off to have it lowered", e.Asked, e.Cap)
}

var _ error = (*OverCapError)(nil)

package router

import "github.com/ontime-llm/ontime/budget"

// Price is what a target charges, in USD per million tokens. The zero value means
// that no price is known, but in [Target].Prices that there is nothing to pay; see
// [Config.Targets] for when that is allowed.
type Price struct {
	Input       float64 // prompt tokens
	CachedInput float64 // prompt tokens that the provider had cached; 0: as Input
	Output      float64 // generated tokens, reasoning included
}

func (p Price) known() bool { return p != Price{} }

// Limits are what a target allows, as agreed with its provider: they are kept
// before the provider has to say so. Zero means that no limit is known.
type Limits struct {
	RequestsPerMinute int // nine tenths of it evenly, one tenth at once
	TokensPerMinute   int // prompt and output, estimated at the start; likewise
	Concurrent        int // requests under way at once
}

// Target is one upstream that can serve a call, as far as routing needs to know it:
// who it is, what it serves and what it costs. It is a plain value.
type Target struct {
	// Name identifies the target everywhere: [a-z0-9._-], 1 to 63 characters,
	// unique.
	Name string
	// Provider and Region say whose it is and where. Targets that share them
	// learn from each other before they have evidence of their own. Free text,
	// may be empty.
	Provider, Region string
	// Models are the models that it serves, as the application names them. If
	// nil, any.
	Models []string
	// Formats are the formats of a request that it takes, by whatever names the
	// sender has for them; see [Request.Format]. If nil, any.
	Formats []string
	// Price is that of every model that Prices does not list.
	Price Price
	// Prices are those of single models, as the application names them. A zero one is no
	// price that is not known, but that of a model which costs nothing.
	Prices map[string]Price
	Limits Limits
	// Keys is how many API keys its sender has. If 0, one.
	Keys int
}

// Config is what a router is made of. It is only read, and may be reused.
type Config struct {
	// Targets are all upstreams, at least one. Of the targets that an endpoint
	// may use either all have a price or none has, unless it ignores cost.
	Targets []Target
	// Budgets are the endpoints by name ([a-z0-9._-], 1 to 63 characters) with
	// what each has promised. An endpoint "default" without layers is added if
	// there is none.
	Budgets map[string]budget.Budget
	// Seed makes the random choices repeatable: the same seed and the same
	// sequence of plans make the same choices. Zero is a seed like any other.
	Seed uint64
	// OnHealth is told of every change in the health of a route or a key, and of every
	// Change of a route, once. It is called by whichever goroutine brought the change
	// about, several at once perhaps, with no lock held, and should be quick. May be nil.
	OnHealth func(Event)
	// Shared has the replicas of a fleet learn from each other, while [Router.Share]
	// runs; see the package comment. What they have in common is the names of targets,
	// models and endpoints, and the order of a target's keys. Nil: this process learns
	// from itself alone.
	Shared Store
}

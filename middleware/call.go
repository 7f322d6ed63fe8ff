package middleware

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ontime-llm/ontime/router"
)

// Outcome says how a call or an attempt ended. A time that ended in TimedOut,
// Cancelled or Lost is right-censored: "at least this long", never a latency.
type Outcome = router.Outcome

// The outcomes.
const (
	Completed = router.Completed // the answer came whole, however short
	Failed    = router.Failed    // an error of the target, or a cut answer
	TimedOut  = router.TimedOut  // given up by us: abandoned, or the deadline passed
	Cancelled = router.Cancelled // the caller went away
	Lost      = router.Lost      // another attempt of the same call was first
)

// Usage counts the tokens of one answer, as the provider reported them.
type Usage struct {
	Input       int // prompt tokens, cached ones included
	CachedInput int // of them, read from the provider's prompt cache
	Reasoning   int // of Output, spent on reasoning
	Output      int // generated tokens, reasoning included
	// Estimated marks our own estimate, because the provider sent no usage, or we
	// cut the answer off: of Output (four bytes a token), or of an attempt that was
	// given up, whose Input is that of the answer. An estimate feeds no token metric.
	Estimated bool
}

// Call is what an application asked for, and what came of it: one request, one
// answer, one attempt or more. It is plain data; see [WithCall] for when it
// may be read.
type Call struct {
	Endpoint string // whose budget applied
	Format   string // chat, completions, responses, embeddings or messages
	Model    string // as the application named it
	// Fallback is the model, as the application names it, that was asked in the end
	// because Model had no healthy route left; empty: Model itself.
	Fallback string
	Target   string // that served the answer; the last one tried when none did
	Region   string // of that target
	// Planned is the target that the router would have chosen, in shadow mode
	// only.
	Planned string
	// Reason says in one line why the router chose as it did, for the first attempt.
	// Empty where [Config].Explain is not set or said no; a client's says yes to one
	// call of each endpoint a second, for its status page.
	Reason string

	Outcome      Outcome
	Start        time.Time // when the application's request entered
	TraceID      string    // of the span that it came in, where Config.TraceID tells; else empty
	FinishReason string    // normalised: stop, length, tool_calls, content_filter, refusal, error, other; empty if none was seen
	Usage        Usage
	Cost         float64 // USD, all attempts together; 0 without prices

	Streamed bool // the answer was asked for as a stream
	Hedged   bool // a second attempt ran beside the first
	Capped   bool // the token cap was set or lowered by the budget
	// MaxTokens is the cap that the call left with, that of the attempt whose answer
	// it has, and AskedTokens the one that the caller asked for; 0: none.
	MaxTokens, AskedTokens int
	// Starved says that reasoning used the cap up: FinishReason is length, and
	// there is no answer.
	Starved bool

	// Waited is the time spent before any attempt, and between attempts, because
	// every route was at a limit or cooling down.
	Waited time.Duration

	// Times count from Start and include every attempt that was needed. Zero
	// means undefined: see the package documentation for each definition.
	TTFT, TTFA, TPOT, Total, Stall time.Duration

	Attempts []Attempt // in the order in which they started
	// Err says why the call did not complete: an [*Error], or nil. In it
	// errors.As finds a [*ProviderError] where a provider reported something,
	// also where the application was given the provider's own HTTP response.
	Err error
}

// Attempt is one HTTP request to one route on behalf of a call.
type Attempt struct {
	Target string
	Region string
	// Provider is whose the target is, as Upstream has it; empty in a Meter.
	Provider string
	// Address is the target's host and port, also where a proxy lies between.
	Address string
	Model   string // as this target names it
	// Fallback is the model, as the application names it, that was asked in place of
	// the call's; empty: the call's own.
	Fallback string
	Hedge    bool // ran beside another attempt
	// MaxTokens is the cap that it left with; 0: none. Attempts of one call have
	// different ones where caps are fitted to the time that is left.
	MaxTokens int

	Outcome Outcome
	Status  int           // of the HTTP response; 0 if none came
	Start   time.Duration // after the call's start

	// Times count from the attempt's own start. Zero means that it did not
	// happen, or is undefined. Total is censored unless Outcome is Completed or
	// Failed.
	Headers, FirstByte, TTFT, TTFA, LastContent, TPOT, Total, Stall time.Duration

	// What lies behind these times; Phases puts it together.
	Timing Timing
	Server ServerTiming

	Events        int // events that carried generated content
	FirstTokens   int // tokens in the first of them, where the wire tells; else 0
	ITL           Gaps
	Chunks        Chunks // for other tools' conventions: see Definitions
	Backpressured bool   // the caller read too slowly: no pace from there on

	FinishReason string
	Starved      bool // as in Call
	Usage        Usage
	Warning      string  // what was odd about an answer that completed; usually empty
	ServedModel  string  // the model that the provider says it used: at most 128 of [A-Za-z0-9._:/@-], or empty
	Cost         float64 // USD; 0 without prices
	Err          error   // why it did not complete; nil otherwise
}

// TokensPerEvent is how many output tokens a content event held on average: from
// 1 to over 100, by provider, which is why a gap between events is no time per
// token. 0: not known.
func (a *Attempt) TokensPerEvent() float64 {
	if a.Events == 0 || a.Usage.Estimated {
		return 0
	}
	return float64(a.Usage.Output) / float64(a.Events)
}

// WithCall returns a context under which the next call fills the returned
// Call. The Call may be read once the call is over: a stream's Read has
// returned an error (io.EOF included), its body is closed, or the request
// itself has returned an error. The first call under the context claims it;
// later ones do not touch it.
func WithCall(ctx context.Context) (context.Context, *Call) {
	slot := new(callSlot)
	return context.WithValue(ctx, callKey{}, slot), &slot.call
}

type callKey struct{}

type callSlot struct {
	claimed atomic.Bool
	call    Call
}

// claim returns where ctx wants its call recorded: a slot of its own where it
// has none that is free.
func claim(ctx context.Context) *Call {
	if slot, ok := ctx.Value(callKey{}).(*callSlot); ok && slot.claimed.CompareAndSwap(false, true) {
		return &slot.call
	}
	return new(Call)
}

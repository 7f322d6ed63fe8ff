package status

import (
	"errors"
	"strings"

	"github.com/ontime-llm/ontime/middleware"
)

const (
	mostAttempts = 8
	mostName     = 128 // bytes; an application may name a model as it likes
	mostText     = 300
	mostReason   = 600 // it names every layer
)

// callOf returns what is kept of a call: nothing that keeps the call alive.
func callOf(c *middleware.Call) *Call {
	kept := &Call{
		At: c.Start.UTC(), Endpoint: clip(c.Endpoint, mostName), Model: clip(c.Model, mostName),
		Fallback: clip(c.Fallback, mostName), Target: c.Target, Region: c.Region, Planned: c.Planned, Reason: clip(c.Reason, mostReason), TraceID: clip(c.TraceID, mostName),
		Outcome: c.Outcome.String(), Error: words(c.Err), Finish: c.FinishReason,
		Streamed: c.Streamed, Hedged: c.Hedged, Capped: c.Capped, Starved: c.Starved,
		MaxTokens: c.MaxTokens, AskedTokens: c.AskedTokens,
		Waited: ms(c.Waited), TTFT: msIf(c.TTFT), TTFA: msIf(c.TTFA), TPOT: msIf(c.TPOT), Total: ms(c.Total), Stall: msIf(c.Stall),
		Tokens: tokensOf(c.Usage), Cost: c.Cost,
		Attempts: make([]Attempt, min(len(c.Attempts), mostAttempts)), LeftOut: max(0, len(c.Attempts)-mostAttempts),
	}
	for i := range kept.Attempts {
		kept.Attempts[i] = attemptOf(&c.Attempts[i])
	}
	return kept
}

func attemptOf(a *middleware.Attempt) Attempt {
	return Attempt{
		Target: a.Target, Region: a.Region, Model: clip(a.Model, mostName), Fallback: clip(a.Fallback, mostName),
		Served: clip(a.ServedModel, mostName), Hedge: a.Hedge, Outcome: a.Outcome.String(), Status: a.Status, Error: words(a.Err), Warning: a.Warning,
		Start: ms(a.Start), Connected: msIf(a.Timing.Conn), Headers: msIf(a.Headers), FirstByte: msIf(a.FirstByte),
		TTFT: msIf(a.TTFT), TTFA: msIf(a.TTFA), Last: msIf(a.LastContent), TPOT: msIf(a.TPOT), Total: ms(a.Total), Stall: msIf(a.Stall),
		Tokens: tokensOf(a.Usage), Cost: a.Cost,
	}
}

func tokensOf(u middleware.Usage) Tokens {
	return Tokens{Input: u.Input, CachedInput: u.CachedInput, Reasoning: u.Reasoning, Output: u.Output, Estimated: u.Estimated}
}

// words are the text of an error: the cause alone, since the attempts have their own.
// An error of the application's request body may quote it, and is not told.
func words(err error) string {
	switch e, ok := errors.AsType[*middleware.Error](err); {
	case err == nil:
		return ""
	case errors.Is(err, middleware.ErrBadRequest):
		return middleware.ErrBadRequest.Error()
	case ok && e.Err != nil:
		err = e.Err
	}
	return clip(err.Error(), mostText)
}

// clip copies the beginning of a text, so that the rest of it is not kept alive.
func clip(s string, most int) string {
	const more = "…"
	if len(s) > most {
		return strings.ToValidUTF8(s[:most-len(more)], "") + more
	}
	return strings.Clone(strings.ToValidUTF8(s, ""))
}

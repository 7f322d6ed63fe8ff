package load

import (
	"time"

	"github.com/ontime-llm/ontime/middleware"
)

// Sample is what came of one call. Times count from the instant at which it was meant to
// start; 0 is undefined, [Never] is of a call without an answer.
type Sample struct {
	Round int  `json:"round"` // from 1
	Start Span `json:"start_ms"`
	Lag   Span `json:"lag_ms"` // by which it started too late, the load generator's own fault

	Failure string `json:"failure,omitempty"` // its kind; empty: it was answered

	TTFT  Span `json:"ttft_ms"`
	TTFA  Span `json:"ttfa_ms"`
	TPOT  Span `json:"tpot_ms,omitempty"`
	ITL   Span `json:"itl_ms,omitempty"` // the mean gap between two content events
	Stall Span `json:"stall_ms,omitempty"`
	Total Span `json:"total_ms"`

	Input     int    `json:"input"`
	Cached    int    `json:"cached,omitempty"` // of Input
	Output    int    `json:"output"`
	Reasoning int    `json:"reasoning,omitempty"` // of Output
	Estimated bool   `json:"estimated,omitempty"` // no usage told Output
	Finish    string `json:"finish,omitempty"`

	Target   string  `json:"target,omitempty"` // that answered
	Region   string  `json:"region,omitempty"`
	Model    string  `json:"model,omitempty"` // as answered
	Requests int     `json:"requests"`
	Hedged   bool    `json:"hedged,omitempty"`
	Cost     float64 `json:"cost,omitempty"` // USD
}

// answered reports whether the call has an answer.
func (s *Sample) answered() bool { return s.Failure == "" }

// gap is how many gaps of up to a length an answer had.
type gap struct {
	upTo Span
	n    int
}

// observation is a sample with what a report keeps no more than the sum of.
type observation struct {
	Sample
	gaps        []gap
	definitions []middleware.Definition
}

// observe sums up a call that was meant to start at intended. direct: its first request
// is all that counts.
func observe(call *middleware.Call, intended time.Time, direct bool) observation {
	var o observation
	s := &o.Sample
	s.Failure = failure(call, direct)
	s.Requests, s.Hedged, s.Cost = len(call.Attempts), call.Hedged, call.Cost
	s.Target, s.Region, s.Finish = call.Target, call.Region, call.FinishReason
	s.Input, s.Cached, s.Output = call.Usage.Input, call.Usage.CachedInput, call.Usage.Output
	s.Reasoning, s.Estimated = call.Usage.Reasoning, call.Usage.Estimated
	var late time.Duration
	if !call.Start.IsZero() {
		late = call.Start.Sub(intended)
	}
	s.Lag = Span(late)
	if !s.answered() {
		s.Total = Never
		if call.Streamed {
			s.TTFT, s.TTFA = Never, Never
		}
		return o
	}
	s.Total = Span(call.Total).later(late)
	for _, a := range call.Attempts {
		if a.Outcome == middleware.Completed {
			s.Model = a.ServedModel
			o.definitions = definitions(&a)
			s.ITL = Span(a.ITL.Mean())
			for upTo, n := range a.ITL.Buckets() {
				o.gaps = append(o.gaps, gap{Span(upTo), n})
			}
		}
	}
	if call.Streamed {
		s.TTFT, s.TTFA = since(call.TTFT, late), since(call.TTFA, late)
		s.TPOT, s.Stall = Span(call.TPOT), Span(call.Stall)
	}
	return o
}

// since is a time after the intended start; Never if it was not met: an answer without
// any token, or with reasoning alone.
func since(d, late time.Duration) Span {
	if d == 0 {
		return Never
	}
	return Span(d).later(late)
}

// definitions are an attempt's figures as other tools define them, in the place of the
// application: what went before the attempt is part of them.
func definitions(a *middleware.Attempt) []middleware.Definition {
	all := middleware.Definitions(*a)
	for i := range all {
		for _, d := range []*time.Duration{&all[i].TTFT, &all[i].E2E} {
			if *d > 0 {
				*d += a.Start
			}
		}
	}
	return all
}

package upstream

import "time"

// The presets below are fitted to public measurements: the quantiles of the first token's time lie within 2% of the published ones.
// Chunks come in bursts, as 54 to 94% of the gaps between chunks were under 1 ms (LatencyLab). Answers are as long as in
// Azure's public trace of a chat service (lognormal 5.02, 0.86).

// GPT4oMini is OpenAI's gpt-4o-mini in 2025: p50 536, p95 844, p99 4461 ms to the first token of short prompts (apispeedtest-web);
// 39% of the answers send their headers at once.
func GPT4oMini() Behaviour {
	return Behaviour{
		TTFT:           Latency{Median: 532 * time.Millisecond, Sigma: 0.24, StragglerShare: 0.025, StragglerFactor: 8},
		Prefill:        Prefill,
		Pace:           Latency{Median: 14 * time.Millisecond, Sigma: 0.25},
		EventsPerBurst: 4,
		Output:         traceLength,
		EarlyHeaders:   0.39,
	}
}

// Gemini25Flash is Google's gemini-2.5-flash in 2025: p50 477, p95 776, p99 1309 ms (apispeedtest-web); 49% early headers; large
// chunks with cumulative usage.
func Gemini25Flash() Behaviour {
	return Behaviour{
		TTFT:           Latency{Median: 475 * time.Millisecond, Sigma: 0.28, StragglerShare: 0.01, StragglerFactor: 5},
		Prefill:        Prefill,
		Pace:           Latency{Median: 8 * time.Millisecond, Sigma: 0.2},
		TokensPerEvent: 14,
		Output:         traceLength,
		EarlyHeaders:   0.49,
		Preamble:       NoPreamble,
		Usage:          UsageCumulative,
	}
}

// ClaudeHaiku45 is Anthropic's claude-haiku-4.5 in 2025: p50 541, p95 1591, p99 4117 ms (apispeedtest-web); 16% early headers; six
// tokens to an event.
func ClaudeHaiku45() Behaviour {
	return Behaviour{
		TTFT:           Latency{Median: 529 * time.Millisecond, Sigma: 0.56, StragglerShare: 0.03, StragglerFactor: 6},
		Prefill:        Prefill,
		Pace:           Latency{Median: 10 * time.Millisecond, Sigma: 0.2},
		TokensPerEvent: 6,
		Output:         traceLength,
		EarlyHeaders:   0.16,
	}
}

var traceLength = Length{Median: 151, Sigma: 0.86}

package middleware

import "time"

// Chunks are the events of a stream as tools count that look at less than its
// content: times are after the attempt's start, zero if there was none.
type Chunks struct {
	N           int           // events with a choice, however empty
	First, Last time.Duration // of them
	Data        int           // events of any kind, the end marker left out
	FirstData   time.Duration
	LastData    time.Duration
}

// add counts one event that is not the end marker.
func (c *Chunks) add(at time.Duration, choice bool) {
	c.Data++
	if c.LastData = at; c.FirstData == 0 {
		c.FirstData = at
	}
	if !choice {
		return
	}
	c.N++
	if c.Last = at; c.First == 0 {
		c.First = at
	}
}

// Definition is one attempt's figures as another tool defines them. Zero means
// that the tool does not have the figure, or that it is undefined here.
type Definition struct {
	Tool string
	TTFT time.Duration // time to what the tool counts as the first token or chunk
	TPOT time.Duration // per output token
	ITL  time.Duration // between tokens or chunks, on average over the stream
	E2E  time.Duration // end to end
}

// Definitions returns the figures of a completed, streamed attempt under the
// conventions of other tools, in a fixed order. With N output tokens, of which
// the first content event held F:
//
//	vLLM        TTFT first chunk with a choice, even an empty one; E2E the last one;
//	            TPOT (E2E-TTFT)/(N-1); ITL mean gap between such chunks
//	SGLang      TTFT first content; E2E last event of any kind; TPOT (E2E-TTFT)/(N-1);
//	            ITL mean gap between content events
//	GenAI-Perf  TTFT first content; E2E last content; ITL (E2E-TTFT)/(N-1)
//	AIPerf      the same, but ITL (E2E-TTFT)/(N-F)
//	GuideLLM    TTFT first content; E2E last content; TPOT E2E/N; ITL (E2E-TTFT)/(N-1)
//	LLMPerf     TTFT first content that is not reasoning; E2E last chunk with a
//	            choice; ITL E2E/chunks, the time to the first one included
//	Langfuse    TTFT first event of any kind
//	OTel GenAI  TTFT time_to_first_chunk, first content; ITL mean
//	            time_per_output_chunk; E2E operation.duration
//
// Sources: each project's benchmark or exporter, as read in November 2026; the
// OpenTelemetry GenAI conventions are in development. Not one of them counts as
// this package does ([Attempt]), where a figure is nearest to AIPerf's.
func Definitions(a Attempt) []Definition {
	if a.Outcome != Completed || a.TTFT == 0 {
		return nil
	}
	n := 0
	if !a.Usage.Estimated {
		n = a.Usage.Output
	}
	c, last := a.Chunks, a.TTFT+a.ITL.sum
	vllm := Definition{Tool: "vLLM", TTFT: c.First, E2E: c.Last, TPOT: per(c.Last-c.First, n-1), ITL: per(c.Last-c.First, c.N-1)}
	sglang := Definition{Tool: "SGLang", TTFT: a.TTFT, E2E: c.LastData, TPOT: per(c.LastData-a.TTFT, n-1), ITL: a.ITL.Mean()}
	genai := Definition{Tool: "GenAI-Perf", TTFT: a.TTFT, E2E: last, ITL: per(last-a.TTFT, n-1)}
	aiperf := Definition{Tool: "AIPerf", TTFT: a.TTFT, E2E: last, ITL: per(last-a.TTFT, n-max(a.FirstTokens, 1))}
	guide := Definition{Tool: "GuideLLM", TTFT: a.TTFT, E2E: last, TPOT: per(last, n), ITL: per(last-a.TTFT, n-1)}
	llmperf := Definition{Tool: "LLMPerf", TTFT: a.TTFA, E2E: c.Last, ITL: per(c.Last, c.N)}
	langfuse := Definition{Tool: "Langfuse", TTFT: c.FirstData}
	otel := Definition{Tool: "OTel GenAI", TTFT: a.TTFT, E2E: a.Total, ITL: a.ITL.Mean()}
	return []Definition{vllm, sglang, genai, aiperf, guide, llmperf, langfuse, otel}
}

// per is d divided among n; undefined if there is nothing to divide among.
func per(d time.Duration, n int) time.Duration {
	if n <= 0 || d <= 0 {
		return 0
	}
	return d / time.Duration(n)
}

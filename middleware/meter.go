package middleware

import (
	"time"

	"github.com/ontime-llm/ontime/internal/dialect"
	"github.com/ontime-llm/ontime/internal/modelname"
)

const bytesPerToken = 4 // of text, to estimate an output that no usage tells

// meter turns the stamps of one attempt's events into its measures. It has one
// writer, the pump; others read it after the stream is final.
type meter struct {
	start   time.Time
	choices int // n of the request: TPOT is undefined above 1

	firstByte, firstContent, firstAnswer time.Duration
	lastContent, lastAnswer, end         time.Duration

	events        int
	firstTokens   int // in the first content event; 0: not told
	firstVisible  int // in the first answer event
	textBytes     int
	reasoned      bool // reasoning was streamed in any form
	reasoningText bool // the reasoning itself was streamed, not a summary of it
	stall         time.Duration
	gaps          Gaps
	chunks        Chunks
	backpressured bool

	bound             bound // past which the stream is cut off
	answered, thought int   // what came, in the bound's unit
	answer            bool  // something other than reasoning came
	cut               bool  // it was cut off by us

	finish   string
	finished int // choices that have ended
	usage    dialect.Usage
	hasUsage bool
	model    string
	warning  string
	id       string // of the object that the provider made
	timing   dialect.Timing
}

// event takes in one event that was complete at now.
func (m *meter) event(ev *dialect.Event, now time.Time) {
	at := max(now.Sub(m.start), 1) // zero would mean: did not happen
	if !ev.Terminal && !ev.Noise {
		m.chunks.add(at, ev.Content || ev.Choices > 0)
	}
	if ev.Content {
		m.content(ev, at)
	}
	m.finished += ev.Finished
	if ev.Finish != "" && m.finish == "" {
		m.finish = ev.Finish
	}
	if ev.HasUsage {
		m.usage, m.hasUsage = ev.Usage, true
	}
	if ev.Timing != (dialect.Timing{}) {
		m.timing.Merge(&ev.Timing)
	}
	if len(ev.Model) > 0 && m.model == "" {
		m.model = string(ev.Model)
	}
	if len(ev.ID) > 0 && m.id == "" {
		m.id = string(ev.ID)
	}
	if ev.Content || ev.Finish != "" || ev.Terminal {
		m.end = at
	}
}

// complete reports whether every choice that was asked for has ended.
func (m *meter) complete() bool { return m.finished >= max(m.choices, 1) }

func (m *meter) content(ev *dialect.Event, at time.Duration) {
	m.weigh(ev)
	if m.events == 0 {
		m.firstContent, m.firstTokens = at, ev.Tokens
	} else if !m.backpressured {
		gap := at - m.lastContent
		m.gaps.add(gap)
		m.stall = max(m.stall, gap)
	}
	m.events++
	m.lastContent = at
	m.textBytes += ev.TextBytes
	m.reasoningText = m.reasoningText || ev.ReasoningText
	if !ev.Answer {
		m.reasoned = true
		return
	}
	m.answer = true
	if m.firstAnswer == 0 {
		m.firstAnswer, m.firstVisible = at, ev.Tokens
	}
	m.lastAnswer = at
}

// tpot is the time per output token after the first content event:
//
//	(last content - first content) / (streamed tokens - tokens in the first event)
//
// Zero means undefined: fewer than two content events, several choices, no
// usage, a caller who read too slowly, an answer that we cut off.
func (m *meter) tpot() time.Duration {
	if !m.hasUsage || m.choices > 1 || m.backpressured || m.cut {
		return 0
	}
	first, last, inFirst := m.firstContent, m.lastContent, m.firstTokens
	streamed := m.usage.Output
	if !m.reasoningText {
		// Reasoning tokens were counted and never sent. Where a summary of them
		// was, it is no measure of their pace: only the answer is.
		streamed -= m.usage.Reasoning
		if m.reasoned && m.usage.Reasoning > 0 {
			first, last, inFirst = m.firstAnswer, m.lastAnswer, m.firstVisible
		}
	}
	tokens := streamed - max(inFirst, 1)
	if tokens <= 0 || last <= first {
		return 0
	}
	return (last - first) / time.Duration(tokens)
}

// whole takes in an answer in one piece. It has no first token and no pace.
func (m *meter) whole(ev *dialect.Event) {
	m.finish, m.model, m.textBytes = ev.Finish, string(ev.Model), ev.TextBytes
	m.usage, m.hasUsage, m.answer, m.timing = ev.Usage, ev.HasUsage, ev.Answer, ev.Timing
	m.end = max(time.Since(m.start), 1)
}

// recordWhole writes what an answer in one piece says into a.
func recordWhole(a *Attempt, ev *dialect.Event) {
	m := meter{start: time.Now()}
	m.whole(ev)
	m.record(a)
}

// record writes what was measured into a.
func (m *meter) record(a *Attempt) {
	a.FirstByte, a.TTFT, a.TTFA = m.firstByte, m.firstContent, m.firstAnswer
	a.LastContent, a.TPOT, a.Stall, a.Events = m.lastContent, m.tpot(), m.stall, m.events
	a.Server.add(&m.timing)
	a.ITL, a.Chunks, a.FirstTokens = m.gaps, m.chunks, m.firstTokens
	a.Backpressured = m.backpressured
	a.FinishReason, a.ServedModel, a.Warning = m.finish, modelname.Clean(m.model), m.warning
	a.Starved = m.finish == "length" && !m.answer
	if m.hasUsage {
		a.Usage = Usage{
			Input: m.usage.Input, CachedInput: m.usage.CachedInput,
			Reasoning: m.usage.Reasoning, Output: m.usage.Output,
		}
	}
	if m.textBytes > 0 && (!m.hasUsage || m.cut) {
		a.Usage.Output, a.Usage.Estimated = max(a.Usage.Output, m.textBytes/bytesPerToken, 1), true
	}
}

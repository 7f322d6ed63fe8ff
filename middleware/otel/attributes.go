package otel

import (
	"net"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/ontime-llm/ontime/middleware"
)

// attributes are those of a span or a metric. What is empty is left out.
type attributes []attribute.KeyValue

func (as *attributes) text(key, value string) {
	if value != "" {
		*as = append(*as, attribute.String(key, value))
	}
}

func (as *attributes) number(key string, value int) {
	if value > 0 {
		*as = append(*as, attribute.Int(key, value))
	}
}

func (as *attributes) seconds(key string, d time.Duration) {
	if d > 0 {
		*as = append(*as, attribute.Float64(key, d.Seconds()))
	}
}

// server adds where an attempt was sent to.
func (as *attributes) server(a *middleware.Attempt) {
	if a == nil {
		return
	}
	host, port, err := net.SplitHostPort(a.Address)
	if err != nil {
		return
	}
	as.text(serverAddress, host)
	if n, err := strconv.Atoi(port); err == nil {
		as.number(serverPort, n)
	}
}

// ofCall are the attributes of a call's span that are known only when it has ended.
func ofCall(c *middleware.Call, a *middleware.Attempt) attributes {
	as := attributes{
		attribute.String(outcomeName, c.Outcome.String()),
		attribute.Int(attemptCount, len(c.Attempts)),
		attribute.Bool(isHedged, c.Hedged),
		attribute.Bool(isCapped, c.Capped),
	}
	if c.Streamed {
		as = append(as, attribute.Bool(requestStream, true))
	}
	if c.Starved {
		as = append(as, attribute.Bool(isStarved, true))
	}
	if reason := finishReason(c); reason != "" {
		as = append(as, attribute.StringSlice(responseFinishReasons, []string{reason}))
	}
	if c.Cost > 0 {
		as = append(as, attribute.Float64(costUSD, c.Cost))
	}
	if u := &c.Usage; told(u) {
		as = append(as, attribute.Int(usageInputTokens, u.Input))
		if operationOf(c) != embeddings {
			as = append(as, attribute.Int(usageOutputTokens, u.Output))
		}
		as.number(usageCacheReadTokens, u.CachedInput)
		as.number(usageReasoningTokens, u.Reasoning)
	}
	if a != nil {
		as.text(responseModel, clip(a.ServedModel))
	}
	as.number(requestMaxTokens, c.MaxTokens)
	as.text(targetName, c.Target)
	as.text(targetRegion, c.Region)
	as.text(plannedTarget, c.Planned)
	as.text(fallbackModel, clip(c.Fallback))
	as.seconds(responseTimeToFirstChunk, c.TTFT)
	as.seconds(firstAnswer, c.TTFA)
	as.seconds(perToken, c.TPOT)
	as.seconds(longestStall, c.Stall)
	as.seconds(waitedTime, c.Waited)
	return as
}

// ofAttempt are the attributes of an attempt's span. It has neither operation nor usage,
// so that nobody takes it for a call of its own and counts tokens twice.
func ofAttempt(c *middleware.Call, i int) attributes {
	a := &c.Attempts[i]
	as := attributes{
		attribute.String(providerName, providerOf(c, a)),
		attribute.String(outcomeName, a.Outcome.String()),
		attribute.String(attemptKind, kindOf(a, i)),
	}
	as.text(targetName, a.Target)
	as.text(targetRegion, a.Region)
	as.text(requestModel, clip(a.Model))
	as.text(responseModel, clip(a.ServedModel))
	as.number(requestMaxTokens, a.MaxTokens)
	as.number(httpResponseStatus, a.Status)
	as.server(a)
	if a.Cost > 0 {
		as = append(as, attribute.Float64(costUSD, a.Cost))
	}
	as.seconds(responseTimeToFirstChunk, a.TTFT)
	p := a.Phases()
	as.seconds(phaseConnect, p.Connect)
	as.seconds(phaseSend, p.Send)
	as.seconds(phaseNetwork, p.Network)
	as.seconds(phaseQueue, p.Queue)
	as.seconds(phasePrefill, p.Prefill)
	as.seconds(phaseWait, p.Wait)
	as.seconds(phaseDecode, p.Decode)
	return as
}

// ofEvent are the attributes of an event, which is about an attempt.
func ofEvent(a *middleware.Attempt) attributes {
	var as attributes
	as.text(targetName, a.Target)
	as.text(targetRegion, a.Region)
	return as
}

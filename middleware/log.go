package middleware

import (
	"context"
	"log/slog"
	"sync"
)

// Log returns an Observer that writes one record per call: Info when it
// completed, Warn when it took more than one attempt or the caller gave it up,
// Error when it failed. The first answer of an endpoint that was ended by a cap
// which its caller had not asked for gets a Warn besides. There is never a prompt,
// an answer, a credential or a provider's message in it.
func Log(logger *slog.Logger) Observer {
	var warned sync.Map // endpoints
	return CallFunc(func(c Call) {
		ctx, level := context.Background(), levelOf(&c)
		if logger.Enabled(ctx, level) {
			logger.LogAttrs(ctx, level, "llm call", attrs(&c)...)
		}
		if c.surprised() {
			if _, again := warned.LoadOrStore(c.Endpoint, true); !again {
				logger.LogAttrs(ctx, slog.LevelWarn, "llm answer ended by a default token cap", capAttrs(&c)...)
			}
		}
	})
}

// surprised reports whether a cap ended the answer which the caller had not asked
// for.
func (c *Call) surprised() bool {
	return c.FinishReason == "length" && c.Outcome == Completed && c.Capped && c.AskedTokens == 0
}

func capAttrs(c *Call) []slog.Attr {
	return []slog.Attr{
		slog.String("endpoint", c.Endpoint),
		slog.String("model", c.Model),
		slog.Int("max_tokens", c.MaxTokens),
		slog.Bool("starved", c.Starved),
		slog.String("fix", "raise the endpoint's max_tokens, or ask for a cap in the call"),
	}
}

func levelOf(c *Call) slog.Level {
	switch {
	case c.Outcome == Failed, c.Outcome == TimedOut:
		return slog.LevelError
	case c.Outcome == Cancelled, len(c.Attempts) > 1, c.Fallback != "":
		return slog.LevelWarn
	default:
		return slog.LevelInfo
	}
}

func attrs(c *Call) []slog.Attr {
	as := []slog.Attr{
		slog.String("endpoint", c.Endpoint),
		slog.String("model", c.Model),
		slog.String("fallback", c.Fallback),
		slog.String("target", c.Target),
		slog.String("region", c.Region),
		slog.String("outcome", c.Outcome.String()),
		slog.Int("status", c.status()),
		slog.Duration("ttft", c.TTFT),
		slog.Duration("ttfa", c.TTFA),
		slog.Duration("tpot", c.TPOT),
		slog.Duration("total", c.Total),
		slog.Duration("stall", c.Stall),
		slog.Duration("waited", c.Waited),
		slog.Int("input_tokens", c.Usage.Input),
		slog.Int("cached_input_tokens", c.Usage.CachedInput),
		slog.Int("reasoning_tokens", c.Usage.Reasoning),
		slog.Int("output_tokens", c.Usage.Output),
		slog.Bool("estimated", c.Usage.Estimated),
		slog.String("finish_reason", c.FinishReason),
		slog.Bool("streamed", c.Streamed),
		slog.Int("attempts", len(c.Attempts)),
		slog.Bool("hedged", c.Hedged),
		slog.Bool("capped", c.Capped),
		slog.Int("max_tokens", c.MaxTokens),
		slog.Bool("starved", c.Starved),
		slog.Float64("cost_usd", c.Cost),
	}
	if c.Planned != "" {
		as = append(as, slog.String("planned_target", c.Planned))
	}
	if c.TraceID != "" {
		as = append(as, slog.String("trace_id", c.TraceID))
	}
	if c.Err != nil {
		as = append(as, slog.String("error", c.Err.Error()))
	}
	return as
}

// status is the HTTP status of the attempt that the call stands for.
func (c *Call) status() int {
	for i := len(c.Attempts) - 1; i >= 0; i-- {
		if c.Attempts[i].Target == c.Target {
			return c.Attempts[i].Status
		}
	}
	return 0
}

package client

import (
	"context"
	"log/slog"

	"github.com/ontime-llm/ontime/router"
)

// logHealth writes one record for each change in the health of a route or a
// key, or of what replicas share: Warn when it gets worse, Info when it is well again.
// What else changes of a route is worth a Warn.
func logHealth(logger *slog.Logger) func(router.Event) {
	if logger == nil {
		return nil
	}
	return func(e router.Event) {
		if c := e.Change; c.Kind != "" {
			logger.LogAttrs(context.Background(), slog.LevelWarn, "llm route change",
				slog.String("target", e.Target), slog.String("model", e.Model),
				slog.String("kind", c.Kind), slog.String("from", c.From), slog.String("to", c.To))
			return
		}
		level := slog.LevelWarn
		if e.State == router.StateOK {
			level = slog.LevelInfo
		}
		if e.Target == "" {
			logger.LogAttrs(context.Background(), level, "llm shared evidence", slog.String("state", e.State), slog.String("why", e.Why))
			return
		}
		attrs := []slog.Attr{
			slog.String("target", e.Target), slog.String("model", e.Model),
			slog.String("state", e.State), slog.String("why", e.Why),
		}
		if e.Key >= 0 {
			attrs = append(attrs, slog.Int("key", e.Key))
		}
		if !e.Until.IsZero() {
			attrs = append(attrs, slog.Time("until", e.Until))
		}
		logger.LogAttrs(context.Background(), level, "llm target health", attrs...)
	}
}

package middleware

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ontime-llm/ontime/internal/dialect"
)

const maxManners = 4096 // routes whose manners are remembered

// manners is what a route was found to take where it refused what its preset
// says: the one swap of parameters that is made without being asked.
//
//	stream_options refused            left out, where we had added it
//	max_tokens refused                max_completion_tokens, and the other way round
//
// The refused request is sent once more in the other form, at once, without
// blame; if that is taken, the route is spoken to so from then on.
type manners struct {
	noUsage bool
	capName string // of chat completions; empty: the preset's
}

// mend returns the manners to try after a refusal, if it is about a parameter
// that we write.
func (m manners) mend(status int, body []byte, in *inference, u *Upstream) (manners, bool) {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return m, false
	}
	refused, _, _ := strings.Cut(dialect.ReadError(body).Param, ".")
	switch {
	case refused == "stream_options" && in.asksUsage(u, m):
		m.noUsage = true
	case in.dialect == dialect.Chat && in.limit > 0 && refused == in.capName(u, m) && otherSpelling[refused] != "":
		m.capName = otherSpelling[refused]
	default:
		return m, false
	}
	return m, true
}

var otherSpelling = map[string]string{
	"max_tokens":            "max_completion_tokens",
	"max_completion_tokens": "max_tokens",
}

// mannersBook remembers the manners of routes. The zero value is empty.
type mannersBook struct {
	known sync.Map // mannersKey -> manners
	size  atomic.Int64
}

type mannersKey struct{ target, model string }

func (b *mannersBook) of(u *Upstream, model string) manners {
	m, _ := b.known.Load(mannersKey{u.Name, model})
	found, _ := m.(manners)
	return found
}

// forget drops what was found out about a target.
func (b *mannersBook) forget(target string) {
	b.known.Range(func(key, _ any) bool {
		if key.(mannersKey).target == target {
			b.known.Delete(key)
			b.size.Add(-1)
		}
		return true
	})
}

func (b *mannersBook) learn(u *Upstream, model string, m manners) {
	if b.size.Load() >= maxManners {
		return
	}
	if _, known := b.known.Swap(mannersKey{u.Name, model}, m); !known {
		b.size.Add(1)
	}
}

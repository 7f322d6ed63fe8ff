package middleware

import (
	"net/http"
	"slices"
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
//	our default cap is too high       left out: the model writes less anyway
//	and with the prompt too much      left out, this once
//
// The refused request is sent once more in the other form, at once, without
// blame; if that is taken, the route is spoken to so from then on. A cap that the
// caller set is the caller's to correct.
type manners struct {
	noUsage bool
	capName string // of chat completions; empty: the preset's
	tooMuch int    // defaults from here up are left out; 0: none
	once    bool   // not to be remembered
}

// mend returns the manners to try after a refusal, if it is about a parameter
// that we write.
func (m manners) mend(status int, body []byte, in *inference, u *Upstream, limit int) (manners, bool) {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return m, false
	}
	info := dialect.ReadError(body)
	refused, _, _ := strings.Cut(info.Param, ".")
	byUs := limit > 0 && in.askedCap() == 0 && !m.leavesOut(in, limit)
	switch {
	case refused == "stream_options" && in.asksUsage(u, m):
		m.noUsage = true
	case refused == in.capName(u, m) && slices.Contains(valueCodes, info.Code):
		m.tooMuch = limit
		return m, byUs
	case info.Code == "context_length_exceeded":
		m.tooMuch, m.once = limit, true
		return m, byUs
	case in.dialect == dialect.Chat && limit > 0 && refused == in.capName(u, m) && otherSpelling[refused] != "":
		m.capName = otherSpelling[refused]
	default:
		return m, false
	}
	return m, true
}

// spellingOf is the spelling of the cap that a model takes wherever it runs, as far
// as its name tells: OpenAI's reasoning models refuse max_tokens.
func spellingOf(model string) string {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	series, of := strings.CutPrefix(name, "gpt-")
	switch {
	case of && series != "" && '5' <= series[0] && series[0] <= '9',
		!of && len(name) > 1 && name[0] == 'o' && '1' <= name[1] && name[1] <= '9':
		return "max_completion_tokens"
	default:
		return "max_tokens"
	}
}

// Codes of a parameter whose name is right and whose value is not.
var valueCodes = []string{"invalid_value", "integer_above_max_value"}

// leavesOut reports whether a cap of ours is not sent. The answer is held to it
// all the same.
func (m manners) leavesOut(in *inference, limit int) bool {
	return m.tooMuch > 0 && limit >= m.tooMuch && in.askedCap() == 0
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
			if _, known := b.known.LoadAndDelete(key); known { // two reloads may forget at once
				b.size.Add(-1)
			}
		}
		return true
	})
}

func (b *mannersBook) learn(u *Upstream, model string, m manners) {
	if m.once || b.size.Load() >= maxManners {
		return
	}
	if _, known := b.known.Swap(mannersKey{u.Name, model}, m); !known {
		b.size.Add(1)
	}
}

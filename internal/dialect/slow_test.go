package dialect_test

import (
	"encoding/json"
	"strings"

	"github.com/ontime-llm/ontime/internal/dialect"
)

// A second, slow and obvious reading of events, to compare with: the event is
// decoded by encoding/json and looked at member by member.

type object = map[string]any

// seen is what a slow reader finds in an event.
type seen struct {
	Content, Answer bool
	Finish          string // as sent
	Usage           *dialect.Usage
	Terminal        bool
	Error           bool
}

type slowReader interface {
	read(name string, m object) seen
}

func list(v any) []any     { l, _ := v.([]any); return l }
func members(v any) object { m, _ := v.(object); return m }
func str(v any) string     { s, _ := v.(string); return s }
func count(m object, names ...string) (n int, ok bool) {
	for _, name := range names {
		if f, is := m[name].(float64); is && f >= 0 && f < 1<<53 {
			n, ok = max(n, int(f)), true
		}
	}
	return n, ok
}

// words returns all text in a value of text, or of typed parts.
func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		all := ""
		for _, part := range v {
			all += words(part)
		}
		return all
	case object:
		return words(v["text"]) + words(v["content"]) + words(v["thinking"]) + words(v["summary"]) + words(v["reasoning"])
	}
	return ""
}

func isError(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		for _, one := range v {
			if isError(one) {
				return true
			}
		}
		return false
	}
	return true
}

// complains reports whether an object is an error without an "error" member.
func complains(m object) bool {
	if m["type"] == "error" || m["object"] == "error" || m["detail"] != nil {
		return true
	}
	told := m["message"] != nil || m["msg"] != nil
	return told && (m["code"] != nil || m["error_code"] != nil || m["status_code"] != nil)
}

// tokenCounts holds counts by our names; what comes later counts.
type tokenCounts map[string]int

func (u tokenCounts) take(all ...any) bool {
	found := tokenCounts{}
	put := func(name string, m object, spellings ...string) {
		if n, ok := count(m, spellings...); ok {
			found[name] = max(found[name], n)
		}
	}
	for _, v := range all {
		m := members(v)
		put("in", m, "prompt_tokens", "input_tokens")
		put("out", m, "completion_tokens", "output_tokens")
		put("total", m, "total_tokens")
		put("reasoning", m, "reasoning_tokens")
		put("cached", m, "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens",
			"num_cached_tokens", "cached_input_tokens", "cached_prompt_tokens")
		put("written", m, "cache_creation_input_tokens")
		for _, side := range []string{"prompt", "input", "completion", "output"} {
			for _, details := range []string{"_tokens_details", "_token_details"} {
				d := members(m[side+details])
				put("cached", d, "cached_tokens", "cache_read_tokens", "cache_read")
				put("reasoning", d, "reasoning_tokens", "thinking_tokens", "reasoning")
			}
		}
	}
	most := 0
	for _, n := range found {
		most = max(most, n)
	}
	if most == 0 {
		return false
	}
	for name, n := range found {
		u[name] = n
	}
	return true
}

func (u tokenCounts) usage() *dialect.Usage {
	in, out, reasoning := u["in"], u["out"], u["reasoning"]
	if total, ok := u["total"]; reasoning > 0 && (ok && total == in+out+reasoning || reasoning > out) {
		out += reasoning
	}
	return &dialect.Usage{Input: in, CachedInput: min(u["cached"], in), Reasoning: reasoning, Output: out}
}

// slowly decodes an event's data and reads it; noise is what is no JSON object.
func slowly(r slowReader, name string, data []byte) (s seen, noise bool) {
	if strings.HasPrefix(strings.TrimLeft(string(data), " \t"), "[DONE]") {
		return seen{Terminal: true}, false
	}
	var m object
	if json.Unmarshal(data, &m) != nil || m == nil {
		return seen{Error: name == "error"}, true
	}
	return r.read(name, m), false
}

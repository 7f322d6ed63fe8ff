package dialect_test

import "strings"

// slowChoices reads chat completions and legacy completions.
type slowChoices struct {
	text   map[int]string // by choice, so far
	usage  tokenCounts
	before bool
}

func newSlowChoices() slowReader { return &slowChoices{map[int]string{}, tokenCounts{}, false} }

func (r *slowChoices) read(name string, m object) (s seen) {
	s.Error = name == "error" || isError(m["error"]) || isError(members(m["x_groq"])["error"])
	if base, ok := members(m["base_resp"])["status_code"]; ok && base != nil && base != 0.0 {
		s.Error = true
	}
	if _, ok := m["choices"]; !ok && complains(m) {
		s.Error = true
	}
	within := []any{}
	var deltas, messages seen
	for _, c := range list(m["choices"]) {
		choice := members(c)
		if choice == nil {
			continue
		}
		index := 0
		if f, ok := choice["index"].(float64); ok {
			index = int(f)
		}
		text, _ := choice["text"].(string)
		if d := members(choice["delta"]); d != nil {
			r.content(index, d, &deltas)
		} else if d := members(choice["message"]); d != nil {
			r.content(index, d, &messages)
		} else {
			r.content(index, object{"content": text}, &deltas)
		}
		if s.Finish == "" {
			s.Finish = str(choice["finish_reason"])
		}
		if isError(choice["error"]) || failed(str(choice["finish_reason"])) {
			s.Error = true
		}
		within = append(within, choice["usage"])
	}
	whole := m["object"] == "chat.completion" || m["object"] == "chat.completion.done"
	if !(r.before && whole && !deltas.Content) {
		deltas.add(slowPart{messages.Answer, messages.Content && !messages.Answer})
	}
	s.Content, s.Answer = deltas.Content, deltas.Answer
	within = append(within, members(m["x_groq"])["usage"])
	if r.usage.take(m["usage"]) || r.usage.take(within...) {
		s.Usage = r.usage.usage()
	}
	r.before = r.before || s.Content
	return s
}

func failed(finish string) bool {
	switch strings.ToLower(finish) {
	case "error", "insufficient_system_resource", "network_error", "abort", "aborted", "failed",
		"timeout", "malformed_function_call", "unexpected_tool_call":
		return true
	}
	return false
}

// content looks at a delta or message.
func (r *slowChoices) content(index int, d object, s *seen) {
	answer := words(d["refusal"]) != "" || len(list(d["images"])) > 0
	reasoning := ""
	for _, name := range []string{"reasoning_content", "reasoning", "reasoning_details", "reasoning_text", "thinking", "thinking_blocks"} {
		reasoning += words(d[name])
	}
	for _, call := range list(d["tool_calls"]) {
		answer = answer || isCall(members(call)["function"]) || isCall(members(call)["custom"])
	}
	answer = answer || isCall(d["function_call"])
	audio := members(d["audio"])
	answer = answer || str(audio["data"]) != "" || str(audio["transcript"]) != ""
	plain, isText := d["content"].(string)
	if !isText {
		for _, part := range parts(d["content"]) {
			answer = answer || part.answer
			if part.reasoning {
				reasoning += "x"
			}
		}
	}
	if plain != "" {
		old := r.text[index]
		r.text[index] += plain
		if v := visible(old + plain); index < 0 || index > 7 || v != visible(old) && v != "" {
			answer = true
		} else {
			reasoning += plain
		}
	}
	s.Answer = s.Answer || answer
	s.Content = s.Content || answer || reasoning != ""
}

// visible returns the part of a text that is no reasoning between tags. A text
// that may yet become a tag is none.
func visible(text string) string {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if trimmed == "" {
		return text
	}
	for _, name := range []string{"think", "thinking", "thought"} {
		open, end := "<"+name+">", "</"+name+">"
		if strings.HasPrefix(open, trimmed) {
			return ""
		}
		if inside, ok := strings.CutPrefix(trimmed, open); ok {
			_, after, closed := strings.Cut(inside, end)
			if !closed || strings.TrimLeft(after, " \t\r\n") == "" {
				after = ""
			}
			return after
		}
	}
	return text
}

func isCall(v any) bool {
	m := members(v)
	for _, name := range []string{"name", "arguments", "input"} {
		if isArgument(m[name]) {
			return true
		}
	}
	return false
}

func isArgument(v any) bool {
	switch v := v.(type) {
	case string:
		return v != ""
	case object:
		return len(v) > 0
	case []any:
		return len(v) > 0
	}
	return false
}

type slowPart struct{ answer, reasoning bool }

// parts looks at content that is made of typed parts.
func parts(v any) (all []slowPart) {
	switch v := v.(type) {
	case string:
		return []slowPart{{answer: v != ""}}
	case []any:
		for _, part := range v {
			all = append(all, parts(part)...)
		}
	case object:
		text := words(v["text"])+words(v["content"])+words(v["refusal"])+words(v["transcript"]) != ""
		p := slowPart{answer: text, reasoning: words(v["thinking"])+words(v["reasoning"])+words(v["summary"]) != ""}
		switch v["type"] {
		case "thinking", "reasoning", "reasoning_text", "summary_text", "redacted_thinking":
			p.answer, p.reasoning = false, p.reasoning || text
		}
		p.answer = p.answer || v["image_url"] != nil || v["b64_json"] != nil
		return []slowPart{p}
	}
	return all
}

package dialect_test

import "strings"

// slowResponses reads responses.
type slowResponses struct {
	begun  map[int]bool
	before bool
}

func newSlowResponses() slowReader { return &slowResponses{begun: map[int]bool{}} }

func (r *slowResponses) read(name string, m object) (s seen) {
	typ := str(m["type"])
	if typ == "" {
		typ = name
	}
	response := members(m["response"])
	s.Error = name == "error" || isError(m["error"]) || isError(response["error"]) || complains(m)
	if complains(m) || name == "error" {
		return s
	}
	status := ""
	switch typ {
	case "response.done":
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		status = strings.TrimPrefix(typ, "response.")
	default:
		r.piece(typ, m, &s)
		r.before = r.before || s.Content
		return s
	}
	s.Terminal = true
	if own, ok := response["status"].(string); ok {
		status = own
	}
	switch status {
	case "incomplete":
		s.Finish = str(members(response["incomplete_details"])["reason"])
		s.Error = s.Error || failed(s.Finish)
		if s.Finish == "" {
			s.Finish = status
		}
	case "completed", "cancelled", "failed":
		s.Finish = status
		s.Error = s.Error || failed(status)
	}
	if u := (tokenCounts{}); u.take(response["usage"]) {
		s.Usage = u.usage()
	}
	if !r.before {
		for _, item := range list(response["output"]) {
			s.add(slowItem(item))
		}
	}
	r.before = r.before || s.Content
	return s
}

func (s *seen) add(p slowPart) {
	s.Content = s.Content || p.answer || p.reasoning
	s.Answer = s.Answer || p.answer
}

func (r *slowResponses) piece(typ string, m object, s *seen) {
	index := 0
	if f, ok := m["output_index"].(float64); ok && f >= 0 {
		index = int(min(f, 63))
	}
	text := false
	_, image := m["partial_image_b64"].(string)
	image = image && m["partial_image_b64"] != ""
	switch {
	case strings.HasSuffix(typ, ".delta"):
		text = words(m["delta"]) != ""
	case image:
		s.add(slowPart{answer: true})
	case r.begun[index]:
	case strings.HasSuffix(typ, ".done"), typ == "response.output_item.added":
		s.add(slowItem(m["item"]))
		for _, name := range []string{"text", "arguments", "refusal", "input", "transcript"} {
			text = text || words(m[name]) != ""
		}
	}
	if text {
		reasons := strings.HasPrefix(typ, "response.reasoning")
		s.add(slowPart{answer: !reasons, reasoning: reasons})
	}
	r.begun[index] = r.begun[index] || s.Content
}

func slowItem(v any) (p slowPart) {
	m := members(v)
	for _, part := range parts(m["content"]) {
		p.answer, p.reasoning = p.answer || part.answer, p.reasoning || part.reasoning
	}
	switch m["type"] {
	case "reasoning":
		return slowPart{reasoning: p.reasoning || words(m["summary"]) != ""}
	case "message", "function_call", "custom_tool_call", "mcp_call", "code_interpreter_call",
		"computer_call", "local_shell_call", "shell_call", "apply_patch_call", "image_generation_call":
		for _, name := range []string{"name", "arguments", "input", "code", "action", "operation"} {
			p.answer = p.answer || isArgument(m[name])
		}
		p.answer = p.answer || str(m["result"]) != "" || str(m["b64_json"]) != ""
		return p
	}
	return slowPart{}
}

// slowMessages reads Anthropic's messages.
type slowMessages struct{ usage tokenCounts }

func newSlowMessages() slowReader { return &slowMessages{tokenCounts{}} }

func (r *slowMessages) read(name string, m object) (s seen) {
	s.Error = name == "error" || isError(m["error"]) || complains(m)
	message := members(m["message"])
	s.Error = s.Error || isError(message["error"])
	if complains(m) || name == "error" {
		return s
	}
	s.Terminal = m["type"] == "message_stop" || str(m["type"]) == "" && name == "message_stop"
	delta := members(m["delta"])
	s.add(slowPart{
		answer:    str(delta["text"]) != "" || str(delta["partial_json"]) != "",
		reasoning: str(delta["thinking"]) != "",
	})
	s.add(slowBlock(m["content_block"]))
	for _, block := range list(message["content"]) {
		s.add(slowBlock(block))
	}
	for _, finish := range []string{str(message["stop_reason"]), str(delta["stop_reason"])} {
		if s.Finish == "" {
			s.Finish = finish
		}
		s.Error = s.Error || failed(finish)
	}
	u := tokenCounts{}
	u.take(message["usage"])
	u.take(m["usage"])
	if len(u) > 0 {
		for k, v := range u {
			r.usage[k] = v
		}
		v := tokenCounts{}
		for k, n := range r.usage {
			v[k] = n
		}
		v["in"] = v["in"] + v["cached"] + v["written"]
		s.Usage = v.usage()
	}
	return s
}

func slowBlock(v any) (p slowPart) {
	m := members(v)
	p.answer, p.reasoning = str(m["text"]) != "", str(m["thinking"]) != ""
	switch m["type"] {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		p.answer = p.answer || isArgument(m["name"]) || isArgument(m["input"])
	}
	return p
}

package upstream

import "fmt"

// messages is Anthropic's POST /messages.
type messages struct{}

func (f messages) preamble(dst []byte, a *answer) []byte {
	dst = fmt.Appendf(dst, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{%s,\"content\":[],"+
		"\"stop_reason\":null,\"stop_sequence\":null,\"usage\":%s}}\n\n", f.head(a), f.usage(a, 1))
	if a.shown() == 0 {
		dst = f.open(dst, 0, `{"type":"text","text":""}`)
	}
	return append(dst, "event: ping\ndata: {\"type\":\"ping\"}\n\n"...)
}

func (f messages) content(dst []byte, a *answer, d delta) []byte {
	index, kind, member := f.block(a), "text_delta", "text"
	switch {
	case d.reasoning:
		index, kind, member = 0, "thinking_delta", "thinking"
		if d.from == 0 {
			dst = f.open(dst, 0, `{"type":"thinking","thinking":"","signature":""}`)
		}
	case d.from == 0 && a.shown() > 0:
		dst = f.open(f.close(dst, 0), index, `{"type":"text","text":""}`)
	}
	return fmt.Appendf(dst, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,"+
		"\"delta\":{\"type\":\"%s\",\"%s\":\"%s\"}}\n\n", index, kind, member, a.text(nil, d))
}

func (f messages) finish(dst []byte, a *answer) []byte {
	last := f.block(a)
	if a.output == 0 {
		last = 0 // the text block has not been opened after a reasoning
	}
	output, _ := a.tokens()
	dst = f.close(dst, last)
	return fmt.Appendf(dst, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\","+
		"\"stop_sequence\":null},\"usage\":%s}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		f.reason(a), f.usage(a, output))
}

func (messages) failure(dst []byte, _ *answer) []byte {
	return append(dst, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"...)
}

func (f messages) whole(dst []byte, a *answer) []byte {
	dst = fmt.Appendf(dst, `{%s,"content":[`, f.head(a))
	if a.shown() > 0 {
		dst = fmt.Appendf(dst, `{"type":"thinking","thinking":"%s","signature":""},`, a.thoughts())
	}
	output, _ := a.tokens()
	return fmt.Appendf(dst, `{"type":"text","text":"%s"}],"stop_reason":"%s","stop_sequence":null,"usage":%s}`,
		a.said(), f.reason(a), f.usage(a, output))
}

func (messages) head(a *answer) []byte {
	return fmt.Appendf(nil, `"id":"msg_%s","type":"message","role":"assistant","model":%s`, a.id, a.model)
}

// block is the index of the text block.
func (messages) block(a *answer) int { return min(1, a.shown()) }

func (messages) open(dst []byte, index int, block string) []byte {
	return fmt.Appendf(dst, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":%s}\n\n", index, block)
}

func (messages) close(dst []byte, index int) []byte {
	return fmt.Appendf(dst, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%d}\n\n", index)
}

func (messages) reason(a *answer) string {
	if a.finish == "length" {
		return "max_tokens"
	}
	return "end_turn"
}

func (messages) usage(a *answer, output int) []byte {
	if a.behaviour.Usage == UsageNever {
		return []byte("null")
	}
	return fmt.Appendf(nil, `{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":%d}`,
		a.prompt.tokens-a.cached, a.cached, output)
}

var _ streamFormat = messages{}

package dialect

import "encoding/json"

// Stream gives each content block one delta for each of its members that come in
// deltas.
func (messages) Stream(answer []byte) []byte {
	var ev Event
	var top object
	var blocks []object
	if Messages.Answer(answer, &ev) != nil || ev.Err.Present ||
		json.Unmarshal(answer, &top) != nil || json.Unmarshal(top["content"], &blocks) != nil {
		return nil
	}
	s := &messagesStream{}
	s.emit("message_start", object{"message": encode(with(top, object{
		"content": json.RawMessage("[]"), "stop_reason": null, "stop_sequence": null,
	}))})
	for i, block := range blocks {
		if block != nil {
			s.block(number(i), block)
		}
	}
	end := object{"delta": encode(object{
		"stop_reason": orNull(top["stop_reason"]), "stop_sequence": orNull(top["stop_sequence"]),
	})}
	if top["usage"] != nil {
		end["usage"] = top["usage"]
	}
	s.emit("message_delta", end)
	s.emit("message_stop", object{})
	return s.out
}

type messagesStream struct{ out []byte }

func (s *messagesStream) emit(typ string, o object) {
	o["type"] = quote(typ)
	s.out = appendEvent(s.out, typ, encode(o))
}

func (s *messagesStream) block(index json.RawMessage, block object) {
	begin := with(block, nil)
	var deltas []object
	delta := func(typ, member string, value json.RawMessage) {
		if value != nil && text(value) != "" {
			deltas = append(deltas, object{"type": quote(typ), member: value})
		}
	}
	switch text(block["type"]) {
	case "text":
		begin["text"] = quote("")
		delta("text_delta", "text", block["text"])
		var citations []json.RawMessage
		if json.Unmarshal(block["citations"], &citations) == nil && citations != nil {
			begin["citations"] = json.RawMessage("[]")
		}
		for _, c := range citations {
			deltas = append(deltas, object{"type": quote("citations_delta"), "citation": c})
		}
	case "thinking":
		begin["thinking"], begin["signature"] = quote(""), quote("")
		delta("thinking_delta", "thinking", block["thinking"])
		delta("signature_delta", "signature", block["signature"])
	case "tool_use", "server_tool_use", "mcp_tool_use":
		begin["input"] = json.RawMessage("{}")
		if input := string(encode(orNull(block["input"]))); input != "{}" && input != "null" {
			delta("input_json_delta", "partial_json", quote(input))
		}
	}
	s.emit("content_block_start", object{"index": index, "content_block": encode(begin)})
	for _, d := range deltas {
		s.emit("content_block_delta", object{"index": index, "delta": encode(d)})
	}
	s.emit("content_block_stop", object{"index": index})
}

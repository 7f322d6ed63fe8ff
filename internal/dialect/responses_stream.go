package dialect

import "encoding/json"

// Stream gives each part of the output one delta. An answer that is still under
// way in the background has no stream.
func (responses) Stream(answer []byte) []byte {
	var ev Event
	var top object
	var items []object
	if Responses.Answer(answer, &ev) != nil || ev.Err.Present ||
		json.Unmarshal(answer, &top) != nil || json.Unmarshal(top["output"], &items) != nil {
		return nil
	}
	last := "response.completed"
	switch text(top["status"]) {
	case "incomplete":
		last = "response.incomplete"
	case "queued", "in_progress", "cancelled":
		return nil
	}
	delete(top, "error")
	started := with(top, object{"status": quote("in_progress"), "output": json.RawMessage("[]"), "usage": null})
	s := &responsesStream{}
	s.emit("response.created", object{"response": encode(started)})
	s.emit("response.in_progress", object{"response": encode(started)})
	for i, item := range items {
		if item != nil {
			s.item(i, item)
		}
	}
	s.emit(last, object{"response": encode(top)})
	return s.out
}

// responsesStream numbers and collects events.
type responsesStream struct {
	out      []byte
	sequence int
}

func (s *responsesStream) emit(typ string, o object) {
	o["type"] = quote(typ)
	o["sequence_number"] = number(s.sequence)
	s.sequence++
	s.out = appendEvent(s.out, typ, encode(o))
}

// item emits one item: how it begins, its text if it has any, and the whole of it.
func (s *responsesStream) item(index int, item object) {
	place := object{"output_index": number(index), "item_id": orEmpty(item["id"])}
	begin := with(item, nil)
	if item["status"] != nil {
		begin["status"] = quote("in_progress")
	}
	switch text(item["type"]) {
	case "message", "reasoning":
		for _, list := range []string{"summary", "content"} {
			if item[list] != nil {
				begin[list] = json.RawMessage("[]")
			}
		}
		s.added(place, begin)
		s.parts(place, "summary_index", item["summary"])
		s.parts(place, "content_index", item["content"])
	case "function_call":
		s.call(place, begin, "response.function_call_arguments", "arguments")
	case "mcp_call":
		s.call(place, begin, "response.mcp_call_arguments", "arguments")
	case "custom_tool_call":
		s.call(place, begin, "response.custom_tool_call_input", "input")
	default:
		s.added(place, begin)
	}
	s.emit("response.output_item.done", object{"output_index": place["output_index"], "item": encode(item)})
}

// call emits how a tool call begins, and the arguments in its member.
func (s *responsesStream) call(place, begin object, channel, member string) {
	arguments := begin[member]
	begin[member] = quote("")
	s.added(place, begin)
	s.text(place, channel, member, arguments)
}

func (s *responsesStream) added(place, item object) {
	s.emit("response.output_item.added", object{"output_index": place["output_index"], "item": encode(item)})
}

// parts emits the parts of an item.
func (s *responsesStream) parts(place object, indexName string, list json.RawMessage) {
	var parts []object
	if json.Unmarshal(list, &parts) != nil {
		return
	}
	for i, part := range parts {
		at := with(place, object{indexName: number(i)})
		border, channel, member := "response.content_part", "", "text"
		switch text(part["type"]) {
		case "output_text":
			channel = "response.output_text"
		case "refusal":
			channel, member = "response.refusal", "refusal"
		case "reasoning_text":
			channel = "response.reasoning_text"
		case "summary_text":
			border, channel = "response.reasoning_summary_part", "response.reasoning_summary_text"
		}
		begin := with(part, nil)
		if channel != "" {
			begin[member] = quote("")
		}
		s.emit(border+".added", with(at, object{"part": encode(begin)}))
		if channel != "" {
			more := object{}
			if part["logprobs"] != nil {
				more["logprobs"] = part["logprobs"]
			}
			s.text(with(at, more), channel, member, part[member])
		}
		s.emit(border+".done", with(at, object{"part": encode(part)}))
	}
}

// text emits one text as one delta.
func (s *responsesStream) text(place object, prefix, member string, value json.RawMessage) {
	if t := text(value); t != "" {
		s.emit(prefix+".delta", with(place, object{"delta": value}))
	}
	s.emit(prefix+".done", with(place, object{member: orEmpty(value)}))
}

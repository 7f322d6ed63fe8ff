package upstream

import "fmt"

// responses is OpenAI's POST /responses. The answer has one message, after a reasoning item if that is shown.
type responses struct{}

func (f responses) preamble(dst []byte, a *answer) []byte {
	dst = f.event(dst, a, "response.created", `"response":%s`, f.object(a, "in_progress", ""))
	dst = f.event(dst, a, "response.in_progress", `"response":%s`, f.object(a, "in_progress", ""))
	if a.shown() == 0 {
		dst = f.open(dst, a)
	}
	return dst
}

func (f responses) content(dst []byte, a *answer, d delta) []byte {
	if d.reasoning {
		if d.from == 0 {
			dst = f.event(dst, a, "response.output_item.added", `"output_index":0,"item":%s`, f.reasoning(a, ""))
		}
		dst = f.event(dst, a, "response.reasoning_summary_text.delta", `"item_id":"rs_%s","output_index":0,"summary_index":0,"delta":"%s"`,
			a.id, a.text(nil, d))
		if d.to == a.shown() {
			dst = f.event(dst, a, "response.output_item.done", `"output_index":0,"item":%s`, f.reasoning(a, string(a.thoughts())))
		}
		return dst
	}
	if d.from == 0 && a.shown() > 0 {
		dst = f.open(dst, a)
	}
	return f.event(dst, a, "response.output_text.delta", `%s,"delta":"%s","logprobs":[]`, f.at(a), a.text(nil, d))
}

// open begins the message.
func (f responses) open(dst []byte, a *answer) []byte {
	dst = f.event(dst, a, "response.output_item.added",
		`"output_index":%d,"item":{"id":"msg_%s","type":"message","status":"in_progress","content":[],"role":"assistant"}`, f.index(a), a.id)
	return f.event(dst, a, "response.content_part.added", `%s,"part":%s`, f.at(a), f.part(""))
}

func (f responses) finish(dst []byte, a *answer) []byte {
	if a.output > 0 || a.shown() == 0 {
		text := string(a.said())
		dst = f.event(dst, a, "response.output_text.done", `%s,"text":"%s","logprobs":[]`, f.at(a), text)
		dst = f.event(dst, a, "response.content_part.done", `%s,"part":%s`, f.at(a), f.part(text))
		dst = f.event(dst, a, "response.output_item.done", `"output_index":%d,"item":%s`, f.index(a), f.message(a))
	}
	kind, status := "response.completed", "completed"
	if a.finish == "length" {
		kind, status = "response.incomplete", "incomplete"
	}
	return f.event(dst, a, kind, `"response":%s`, f.object(a, status, ""))
}

func (f responses) failure(dst []byte, a *answer) []byte {
	return f.event(dst, a, "response.failed", `"response":%s`,
		f.object(a, "failed", `{"code":"server_error","message":"Simulated: the model stopped."}`))
}

func (f responses) whole(dst []byte, a *answer) []byte {
	status := "completed"
	if a.finish == "length" {
		status = "incomplete"
	}
	return append(dst, f.object(a, status, "")...)
}

// event appends an event with the next sequence number.
func (responses) event(dst []byte, a *answer, kind, members string, values ...any) []byte {
	dst = fmt.Appendf(dst, "event: %s\ndata: {\"type\":\"%s\",\"sequence_number\":%d,", kind, kind, a.sequence)
	a.sequence++
	dst = fmt.Appendf(dst, members, values...)
	return append(dst, "}\n\n"...)
}

// object is the response in a status. A failure is JSON; empty: none.
func (f responses) object(a *answer, status, failure string) []byte {
	if failure == "" {
		failure = "null"
	}
	incomplete, output, usage := "null", []byte(nil), []byte("null")
	switch status {
	case "incomplete":
		incomplete = `{"reason":"max_output_tokens"}`
		fallthrough
	case "completed":
		if a.shown() > 0 {
			output = append(f.reasoning(a, string(a.thoughts())), ',')
		}
		output = append(output, f.message(a)...)
		usage = f.usage(a)
	}
	return fmt.Appendf(nil, `{"id":"resp_%s","object":"response","created_at":%d,"status":"%s","error":%s,"incomplete_details":%s,`+
		`"model":%s,"output":[%s],"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":%s,"metadata":{}}`,
		a.id, a.created, status, failure, incomplete, a.model, output, usage)
}

func (responses) reasoning(a *answer, text string) []byte {
	summary := ""
	if text != "" {
		summary = `{"type":"summary_text","text":"` + text + `"}`
	}
	return fmt.Appendf(nil, `{"id":"rs_%s","type":"reasoning","summary":[%s]}`, a.id, summary)
}

func (f responses) message(a *answer) []byte {
	return fmt.Appendf(nil, `{"id":"msg_%s","type":"message","status":"completed","role":"assistant","content":[%s]}`,
		a.id, f.part(string(a.said())))
}

func (responses) part(text string) string {
	return `{"type":"output_text","annotations":[],"logprobs":[],"text":"` + text + `"}`
}

// index is the message's place in the output, and at where its text is.
func (responses) index(a *answer) int { return min(1, a.shown()) }

func (f responses) at(a *answer) string {
	return fmt.Sprintf(`"item_id":"msg_%s","output_index":%d,"content_index":0`, a.id, f.index(a))
}

func (responses) usage(a *answer) []byte {
	if a.behaviour.Usage == UsageNever {
		return []byte("null")
	}
	output, reasoning := a.tokens()
	return fmt.Appendf(nil, `{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,`+
		`"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`,
		a.prompt.tokens, a.cached, output, reasoning, a.prompt.tokens+output)
}

var _ streamFormat = responses{}

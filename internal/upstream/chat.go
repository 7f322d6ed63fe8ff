package upstream

import "fmt"

// chat is POST /chat/completions.
type chat struct{}

func (f chat) preamble(dst []byte, a *answer) []byte {
	switch a.behaviour.Preamble {
	case NoPreamble:
		return dst
	case AzurePreamble:
		dst = append(dst, `data: {"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,`+
			`"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}`+"\n\n"...)
	}
	for i := range a.choices {
		dst = f.chunk(dst, a, i, []byte(`"role":"assistant","content":""`), "null", 0)
	}
	return dst
}

func (f chat) content(dst []byte, a *answer, d delta) []byte {
	member := "content"
	if d.reasoning {
		member = "reasoning_content"
	}
	role := ""
	if d.from == 0 && a.behaviour.Preamble == NoPreamble {
		role = `"role":"assistant",`
	}
	text := a.text(nil, d)
	so := d.to + a.reasoning
	if d.reasoning {
		so = d.to
	}
	for i := range a.choices {
		dst = f.chunk(dst, a, i, fmt.Appendf(nil, `%s"%s":"%s"`, role, member, text), "null", so)
	}
	return dst
}

func (f chat) finish(dst []byte, a *answer) []byte {
	for i := range a.choices {
		dst = f.chunk(dst, a, i, nil, `"`+a.finish+`"`, a.reasoning+a.output)
	}
	return finishChunks(dst, a, "chat.completion.chunk")
}

// chunk is one choice's chunk when so many tokens have been generated. Finish is JSON.
func (f chat) chunk(dst []byte, a *answer, choice int, delta []byte, finish string, so int) []byte {
	dst = appendHead(append(dst, "data: "...), a, "chat.completion.chunk")
	dst = fmt.Appendf(dst, `,"choices":[{"index":%d,"delta":{%s},"logprobs":null,"finish_reason":%s}]`, choice, delta, finish)
	return endChunk(dst, a, finish != "null" && choice == a.choices-1, so)
}

func (chat) failure(dst []byte, a *answer) []byte { return failureChunk(dst) }

func (chat) whole(dst []byte, a *answer) []byte {
	dst = appendHead(dst, a, "chat.completion")
	dst = append(dst, `,"choices":[`...)
	for i := range a.choices {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `{"index":%d,"message":{"role":"assistant","content":"%s",`, i, a.said())
		if a.shown() > 0 {
			dst = fmt.Appendf(dst, `"reasoning_content":"%s",`, a.thoughts())
		}
		dst = fmt.Appendf(dst, `"refusal":null},"logprobs":null,"finish_reason":"%s"}`, a.finish)
	}
	return endWhole(append(dst, ']'), a)
}

var _ streamFormat = chat{}

package upstream

import "fmt"

// completions is POST /completions, the legacy form. It has no place for a reasoning: its tokens are text like others.
type completions struct{}

func (completions) preamble(dst []byte, _ *answer) []byte { return dst }

func (f completions) content(dst []byte, a *answer, d delta) []byte {
	text := a.text(nil, d)
	so := d.to + a.reasoning
	if d.reasoning {
		so = d.to
	}
	for i := range a.choices {
		dst = f.chunk(dst, a, i, text, "null", so)
	}
	return dst
}

func (f completions) finish(dst []byte, a *answer) []byte {
	for i := range a.choices {
		dst = f.chunk(dst, a, i, nil, `"`+a.finish+`"`, a.reasoning+a.output)
	}
	return finishChunks(dst, a, "text_completion")
}

func (completions) chunk(dst []byte, a *answer, choice int, text []byte, finish string, so int) []byte {
	dst = appendHead(append(dst, "data: "...), a, "text_completion")
	dst = fmt.Appendf(dst, `,"choices":[{"text":"%s","index":%d,"logprobs":null,"finish_reason":%s}]`, text, choice, finish)
	return endChunk(dst, a, finish != "null" && choice == a.choices-1, so)
}

func (completions) failure(dst []byte, a *answer) []byte { return failureChunk(dst) }

func (completions) whole(dst []byte, a *answer) []byte {
	dst = appendHead(dst, a, "text_completion")
	dst = append(dst, `,"choices":[`...)
	for i := range a.choices {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Appendf(dst, `{"text":"%s%s","index":%d,"logprobs":null,"finish_reason":"%s"}`, a.thoughts(), a.said(), i, a.finish)
	}
	return endWhole(append(dst, ']'), a)
}

var _ streamFormat = completions{}

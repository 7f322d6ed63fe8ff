package upstream

import "fmt"

// This file holds what the chunks of chat completions and of legacy completions have in common.

// appendHead opens an answer's or chunk's object.
func appendHead(dst []byte, a *answer, object string) []byte {
	prefix := "chatcmpl-"
	if object == "text_completion" {
		prefix = "cmpl-"
	}
	return fmt.Appendf(dst, `{"id":"%s%s","object":"%s","created":%d,"model":%s,"system_fingerprint":"fp_%s"`,
		prefix, a.id, object, a.created, a.model, a.name)
}

// endChunk closes a chunk's object, with the usage that belongs there when so many tokens of a choice have been generated.
func endChunk(dst []byte, a *answer, last bool, so int) []byte {
	switch style := a.behaviour.Usage; {
	case style == UsageCumulative, style == UsageFinish && last:
		dst = appendUsage(append(dst, `,"usage":`...), a, so)
	case style == UsageGroq && last:
		dst = appendUsage(fmt.Appendf(dst, `,"x_groq":{"id":"req_%s","usage":`, a.id), a, so)
		dst = append(dst, '}')
	case style == UsageAsked && a.includeUsage:
		dst = append(dst, `,"usage":null`...)
	}
	return append(dst, "}\n\n"...)
}

// finishChunks appends what comes after the finish reason.
func finishChunks(dst []byte, a *answer, object string) []byte {
	if style := a.behaviour.Usage; style == UsageAlways || style == UsageAsked && a.includeUsage {
		dst = appendHead(append(dst, "data: "...), a, object)
		dst = appendUsage(append(dst, `,"choices":[],"usage":`...), a, a.reasoning+a.output)
		dst = append(dst, "}\n\n"...)
	}
	if !a.behaviour.NoDone {
		dst = append(dst, "data: [DONE]\n\n"...)
	}
	return dst
}

// appendUsage tells the usage after so many tokens of each choice.
func appendUsage(dst []byte, a *answer, so int) []byte {
	output := so * a.choices
	return fmt.Appendf(dst, `{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d},`+
		`"completion_tokens_details":{"reasoning_tokens":%d}}`,
		a.prompt.tokens, output, a.prompt.tokens+output, a.cached, min(so, a.reasoning)*a.choices)
}

// endWhole closes an answer's object.
func endWhole(dst []byte, a *answer) []byte {
	if a.behaviour.Usage != UsageNever {
		dst = appendUsage(append(dst, `,"usage":`...), a, a.reasoning+a.output)
	}
	return append(dst, '}')
}

func failureChunk(dst []byte) []byte {
	return append(dst, `data: {"error":{"message":"Simulated: the model stopped.","type":"server_error","param":null,"code":"server_error"}}`+"\n\n"...)
}
